// What the breaker counts, and what happens when it is too much.
#include "overlay/breaker.h"

#include <gtest/gtest.h>
#include <linux/falloc.h>

#include "tests/overlay/asking.h"

namespace unwrite::tests {
namespace {

using overlay::Breaker;
using overlay::BreakerLimits;
using overlay::Loss;
using overlay::Subjects;

std::vector<std::string> keys(const std::vector<Breaker::Excess>& beyond) {
    std::vector<std::string> keys;
    for (const auto& excess : beyond)
        keys.push_back(excess.key);
    return keys;
}

TEST(BreakerCounts, InTotalAndForEachSession) {
    Breaker breaker({.deletions = 2, .overwritten = 100, .directories = 1});
    EXPECT_EQ(keys(breaker.weigh(1, {.deleted = "a", .bytes = 60})), Lines());
    EXPECT_EQ(keys(breaker.weigh(1, {.deleted = "b", .directories = {{1, 1}}})), Lines());
    EXPECT_EQ(keys(breaker.weigh(1, {.deleted = "c"})), Lines({"policy.breaker.deletions = 2"}));
    EXPECT_EQ(keys(breaker.weigh(1, {.bytes = 41})), Lines({"policy.breaker.overwritten = 100"}));
    EXPECT_EQ(keys(breaker.weigh(1, {.bytes = 40})), Lines()) << "what was refused is not counted";
    EXPECT_EQ(keys(breaker.weigh(1, {.directories = {{1, 1}}})), Lines()) << "the same again";
    EXPECT_EQ(keys(breaker.weigh(1, {.directories = {{2, 1}}})),
              Lines({"policy.breaker.directories = 1"}));
    EXPECT_EQ(keys(breaker.weigh(2, {.deleted = "d", .bytes = 90})), Lines());
    breaker.count(2, {.deleted = "e", .bytes = 90});
    EXPECT_EQ(keys(breaker.weigh(2, {.deleted = "f", .bytes = 1})).size(), 2U);
    breaker.begin();
    EXPECT_EQ(keys(breaker.weigh(2, {.deleted = "f", .bytes = 1})), Lines());
}

TEST(BreakerCounts, WithinASecond) {
    Breaker::Clock::time_point now{std::chrono::hours(1)};
    Breaker breaker(
        {.deletions_per_second = 1, .overwritten_per_second = 10, .directories_per_second = 1},
        [&] { return now; });
    EXPECT_EQ(keys(breaker.weigh(1, {"a", 10, {{1, 1}}})), Lines());
    now += std::chrono::milliseconds(999);
    EXPECT_EQ(keys(breaker.weigh(1, {"b", 1, {{2, 1}}})),
              Lines({"policy.breaker.deletions_per_second = 1",
                     "policy.breaker.overwritten_per_second = 10",
                     "policy.breaker.directories_per_second = 1"}));
    now += std::chrono::milliseconds(1);
    EXPECT_EQ(keys(breaker.weigh(1, {"b", 1, {{2, 1}}})), Lines());
}

class Broken : public Asking {
 protected:
    static constexpr int kFiles = 100;
    static std::string file(int i) {
        return "d" + std::to_string(i % 4) + "/f" + std::to_string(i);
    }
    void SetUp() override {
        for (int i = 0; i < kFiles; ++i)
            before(file(i), std::string(1000, 'b'));
    }
    void begin_with(const BreakerLimits& limits) {
        overlay::SessionOptions options;
        ASSERT_ASSIGN(const auto policy, overlay::Policy::compile({}));
        options.policy = policy;
        options.breaker = limits;
        begin_asking(options);
    }
    overlay::Question answer(bool approve) {
        const auto answered = world_->session().oversight().answer({}, question(), approve, false);
        EXPECT_TRUE(answered.ok()) << answered.error().message();
        return answered ? *answered : overlay::Question();
    }
    /// How many are deleted before the first one is refused.
    int delete_from(int first) {
        for (int i = first; i < kFiles; ++i)
            if (actor().unlink(file(i)) != 0) return i - first;
        return kFiles - first;
    }
};

TEST_F(Broken, AnAgentDeletesHalfAndThenAsks) {
    begin_with({.deleted_share = 50});
    EXPECT_EQ(delete_from(0), kFiles / 2);
    const Snapshot half = world_->look();
    EXPECT_EQ(actor().unlink(file(99)), EACCES);
    EXPECT_EQ(difference(half, world_->look()), "");
    EXPECT_EQ(actor().write(file(99), 0, "x"), 0) << "only what goes beyond the limit asks";
    const auto asked = answer(true);
    EXPECT_EQ(asked.operation, "unlink");
    EXPECT_NE(asked.reason.find("policy.breaker.deleted_share = 50%"), std::string::npos);
    EXPECT_NE(asked.reason.find("51 deleted files of 100"), std::string::npos) << asked.reason;
    EXPECT_EQ(delete_from(kFiles / 2), kFiles / 2) << "the answer is for all that follows";
}

TEST_F(Broken, ADenialHoldsForTheOthersToo) {
    begin_with({.deleted_share = 50});
    EXPECT_EQ(delete_from(0), kFiles / 2);
    answer(false);
    EXPECT_EQ(delete_from(kFiles / 2), 0);
    EXPECT_EQ(delete_from(kFiles - 5), 0);
    EXPECT_EQ(question(), 0U);
    user();
    EXPECT_EQ(delete_from(kFiles / 2), kFiles / 2) << "the user does as the user likes";
}

TEST_F(Broken, WhatIsTheTasksOwnOrStandsAgainIsNotGone) {
    begin_with({.deleted_share = 50});
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < kFiles; ++i) {
            ASSERT_EQ(actor().unlink(file(i)), 0) << "as `git checkout` does";
            ASSERT_EQ(actor().create(file(i), 0644), 0);
        }
    }
    for (int i = 0; i < kFiles; ++i)
        ASSERT_EQ(actor().rename(file(i), file(i) + ".moved", 0), 0);
    EXPECT_EQ(question(), 0U);
}

TEST_F(Broken, FewFilesAreNoShare) {
    begin_with({.deleted_share = 3});
    EXPECT_EQ(delete_from(0), static_cast<int>(Breaker::kFewest) - 1);
}

TEST_F(Broken, WhatARestoreBroughtBackIsNotGone) {
    begin_with({.deleted_share = 50});
    ASSERT_EQ(delete_from(0), kFiles / 2);
    ASSERT_TRUE(operations().discard(World::asker(), false, overlay::Consent::kAll).ok());
    // The files are counted anew once a second at most.
    int number = EACCES;
    for (int i = 0; number == EACCES && i < 3000; ++i) {
        number = actor().unlink(file(0));
        ::usleep(number == EACCES ? 1000 : 0);
    }
    EXPECT_EQ(number, 0);
    EXPECT_EQ(delete_from(1), kFiles / 2 - 1);
}

TEST_F(Broken, EachLimitAsksBeforeAnythingHappens) {
    const auto expect_asked = [&](const BreakerLimits& limits, const char* key,
                                  const std::function<int(int)>& change, int allowed) {
        world_.reset();
        begin_with(limits);
        const auto back = operations().discard(World::asker(), false, overlay::Consent::kAll);
        ASSERT_TRUE(back.ok() || back.error().kind() == ErrorKind::kNothing);
        for (int i = 0; i < allowed; ++i)
            ASSERT_EQ(change(i), 0) << key << ' ' << i;
        const Snapshot was = world_->look();
        EXPECT_EQ(change(allowed), EACCES) << key;
        EXPECT_EQ(difference(was, world_->look()), "") << key;
        const auto asked = answer(true);
        EXPECT_EQ(asked.reason.find(key), 0U) << asked.reason;
        EXPECT_EQ(change(allowed), 0) << key;
    };
    const auto write = [&](int i) { return actor().write(file(i), 500, std::string(600, 'x')); };
    const auto cut = [&](int i) { return actor().truncate(file(i), 500); };
    const auto punch = [&](int i) {
        return actor().fallocate(file(i), FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 0, 500);
    };
    const auto replace = [&](int i) { return actor().rename(file(i), file(i + 8), 0); };
    const char* const bytes = "policy.breaker.overwritten = 2000;";
    expect_asked({.overwritten = 2000}, bytes, write, 4);
    expect_asked({.overwritten = 2000}, bytes, punch, 4);
    expect_asked({.overwritten = 2000}, bytes, cut, 4);
    expect_asked({.directories = 2}, "policy.breaker.directories = 2;", write, 2);
    expect_asked(
        {.directories = 2}, "policy.breaker.directories = 2;",
        [&](int i) { return actor().chmod(file(i), 0600); }, 2);
    expect_asked(
        {.directories = 2}, "policy.breaker.directories = 2;",
        [&](int i) { return actor().mkdir(file(i) + ".d", 0755); }, 2);
    expect_asked(
        {.deletions = 3}, "policy.breaker.deletions = 3;",
        [&](int i) { return actor().unlink(file(i)); }, 3);
    expect_asked({.overwritten = 3500}, "policy.breaker.overwritten = 3500;", replace, 3);
}

TEST_F(Broken, WithNobodyThereItIsRefusedAndNamed) {
    begin_with({.subjects = Subjects::kEveryone, .deletions = 1});
    world_->session().waiting().close();
    user();
    EXPECT_EQ(actor().unlink(file(0)), 0);
    EXPECT_EQ(actor().unlink(file(1)), EACCES);
    ASSERT_ASSIGN(const auto trail, world_->session().oversight().audit(10));
    ASSERT_EQ(trail.entries.size(), 1U);
    EXPECT_EQ(trail.entries[0].path, file(1));
    EXPECT_EQ(trail.entries[0].detail.find("policy.breaker.deletions = 1"), 0U);
}

}  // namespace
}  // namespace unwrite::tests
