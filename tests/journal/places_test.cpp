#include "journal/places.h"

#include <gtest/gtest.h>

#include "tests/base/scratch.h"

namespace unwrite::journal {
namespace {

using tests::Scratch;

constexpr ObjectKey kDirectory{5, 6};
constexpr ObjectKey kParent{2, 3};

TEST(Places, KeepTheNewestAndTheOneBefore) {
    const Scratch scratch;
    {
        ASSERT_ASSIGN(const auto places, Places::open(scratch.fd()));
        EXPECT_FALSE(places->find(kDirectory));
        for (const char* name : {"a", "b", "b", "c\n"}) {
            ASSERT_OK(places->set(kDirectory, {kParent, name}));
        }
    }
    ASSERT_ASSIGN(const auto places, Places::open(scratch.fd()));
    const auto place = places->find(kDirectory);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->newest, (NameKey{kParent, "c\n"}));
    EXPECT_EQ(place->before, (NameKey{kParent, "b"}));
    EXPECT_TRUE(places->contains(kDirectory));
    EXPECT_FALSE(places->contains(kParent));
}

TEST(Places, SayingTheSameAgainWritesNothing) {
    const Scratch scratch;
    ASSERT_ASSIGN(const auto places, Places::open(scratch.fd()));
    ASSERT_OK(places->set(kDirectory, {kParent, "a"}));
    const std::size_t size = scratch.read("places.log").size();
    ASSERT_OK(places->set(kDirectory, {kParent, "a"}));
    EXPECT_EQ(scratch.read("places.log").size(), size);
}

TEST(Places, WhatIsHeldIsKnownAtOnceAndWrittenTogether) {
    const Scratch scratch;
    ASSERT_ASSIGN(const auto places, Places::open(scratch.fd()));
    ASSERT_OK(places->set({1, 1}, {kParent, "first"}));
    const std::size_t size = scratch.read("places.log").size();
    places->hold();
    for (std::uint64_t i = 2; i < 100; ++i)
        ASSERT_OK(places->set({i, 1}, {kParent, "name" + std::to_string(i)}));
    EXPECT_EQ(places->find({99, 1})->newest.name, "name99");
    EXPECT_EQ(scratch.read("places.log").size(), size);
    ASSERT_OK(places->flush());
    ASSERT_ASSIGN(const auto again, Places::open(scratch.fd()));
    for (std::uint64_t i = 2; i < 100; ++i)
        EXPECT_EQ(again->find({i, 1})->newest.name, "name" + std::to_string(i));
    ASSERT_OK(places->set({100, 1}, {kParent, "last"}));
    ASSERT_ASSIGN(const auto last, Places::open(scratch.fd()));
    EXPECT_TRUE(last->contains({100, 1}));
}

TEST(Places, WhatIsForgottenIsWrittenAtOnceAfterWhatWasHeld) {
    const Scratch scratch;
    ASSERT_ASSIGN(const auto places, Places::open(scratch.fd()));
    places->hold();
    ASSERT_OK(places->set({1, 1}, {kParent, "a"}));
    ASSERT_OK(places->set({2, 1}, {kParent, "b"}));
    ASSERT_OK(places->forget({1, 1}));
    ASSERT_OK(places->set({3, 1}, {kParent, "c"}));
    ASSERT_ASSIGN(const auto again, Places::open(scratch.fd()));
    EXPECT_FALSE(again->contains({1, 1}));
    EXPECT_TRUE(again->contains({2, 1}));
    EXPECT_FALSE(again->contains({3, 1}));
}

TEST(Places, WhatWasHeldIsInAFileThatIsWrittenAnew) {
    const Scratch scratch;
    {
        ASSERT_ASSIGN(const auto places, Places::open(scratch.fd()));
        places->hold();
        for (int i = 0; i < 20'000; ++i) {
            ASSERT_OK(places->set({static_cast<std::uint64_t>(i % 10), 1},
                                  {kParent, "name" + std::to_string(i)}));
        }
        ASSERT_OK(places->flush());
    }
    EXPECT_LT(scratch.read("places.log").size(), 100'000U);
    ASSERT_ASSIGN(const auto places, Places::open(scratch.fd()));
    EXPECT_EQ(places->find({9, 1})->newest.name, "name19999");
    EXPECT_EQ(places->find({0, 1})->newest.name, "name19990");
}

TEST(Places, TheFileDoesNotGrowForEver) {
    const Scratch scratch;
    {
        ASSERT_ASSIGN(const auto places, Places::open(scratch.fd()));
        for (int i = 0; i < 20'000; ++i) {
            ASSERT_OK(places->set({static_cast<std::uint64_t>(i % 10), 1},
                                  {kParent, "name" + std::to_string(i)}));
        }
    }
    EXPECT_LT(scratch.read("places.log").size(), 100'000U);
    ASSERT_ASSIGN(const auto places, Places::open(scratch.fd()));
    EXPECT_EQ(places->find({9, 1})->newest.name, "name19999");
    EXPECT_EQ(places->find({9, 1})->before->name, "name19989");
}

TEST(Places, AReaderChangesNothing) {
    const Scratch scratch;
    {
        ASSERT_ASSIGN(const auto places, Places::open(scratch.fd()));
        ASSERT_OK(places->set(kDirectory, {kParent, "a"}));
        ASSERT_OK(places->set(kDirectory, {kParent, "b"}));
    }
    std::string torn = scratch.read("places.log");
    torn.resize(torn.size() - 1);
    scratch.write("places.log", torn);
    {
        ASSERT_ASSIGN(const auto places, Places::open(scratch.fd()));
        EXPECT_EQ(places->find(kDirectory)->newest.name, "a");
    }
    EXPECT_EQ(scratch.read("places.log"), torn);
    ASSERT_ASSIGN(const auto places, Places::open(scratch.fd()));
    ASSERT_OK(places->set(kDirectory, {kParent, "c"}));
    ASSERT_ASSIGN(const auto again, Places::open(scratch.fd()));
    EXPECT_EQ(again->find(kDirectory)->newest.name, "c");
    EXPECT_EQ(again->find(kDirectory)->before->name, "a");
}

TEST(Places, ClearForgetsAll) {
    const Scratch scratch;
    ASSERT_ASSIGN(const auto places, Places::open(scratch.fd()));
    ASSERT_OK(places->clear());
    ASSERT_OK(places->set(kDirectory, {kParent, "a"}));
    ASSERT_OK(places->clear());
    EXPECT_FALSE(places->contains(kDirectory));
    ASSERT_OK(places->set(kDirectory, {kParent, "b"}));
    ASSERT_OK(places->sync());
    ASSERT_ASSIGN(const auto again, Places::open(scratch.fd()));
    EXPECT_FALSE(again->find(kDirectory)->before);
}

TEST(Places, ANameMustBeOne) {
    const Scratch scratch;
    ASSERT_ASSIGN(const auto places, Places::open(scratch.fd()));
    EXPECT_NUMBER(EINVAL, places->set(kDirectory, {kParent, ".."}));
    EXPECT_NUMBER(EINVAL, places->set(kDirectory, {kParent, "a/b"}));
}

}  // namespace
}  // namespace unwrite::journal
