#include "journal/spare_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "journal/delta_log.h"
#include "tests/base/scratch.h"

namespace unwrite::journal {
namespace {

using tests::Scratch;

std::size_t entries_of(const Scratch& scratch) {
    const auto fd = sys::open_at(scratch.fd(), ".", O_RDONLY | O_DIRECTORY);
    if (!fd) return SIZE_MAX;
    const auto entries = sys::read_directory(fd->get());
    return entries ? entries->size() : SIZE_MAX;
}

TEST(SpareFiles, HaveNoNameUntilTheyAreUsed) {
    const Scratch scratch;
    SpareFiles spares(scratch.fd());
    spares.refill();
    EXPECT_TRUE(spares.is_full());
    EXPECT_EQ(entries_of(scratch), 0U);
    ASSERT_ASSIGN(const UniqueFd file, spares.open("1.log"));
    EXPECT_EQ(entries_of(scratch), 1U);
    ASSERT_ASSIGN(const struct stat st, sys::stat_fd(file.get()));
    EXPECT_EQ(st.st_mode, S_IFREG | 0600U);
    EXPECT_EQ(st.st_size, 0);
    EXPECT_EQ(st.st_nlink, 1U);
    ASSERT_ASSIGN(const struct stat named, sys::stat_at(scratch.fd(), "1.log"));
    EXPECT_EQ(named.st_ino, st.st_ino);
}

TEST(SpareFiles, WhatIsThereStays) {
    const Scratch scratch;
    scratch.write("1.log", "was here");
    SpareFiles spares(scratch.fd());
    spares.refill();
    ASSERT_ASSIGN(const UniqueFd file, spares.open("1.log"));
    ASSERT_ASSIGN(const struct stat st, sys::stat_fd(file.get()));
    EXPECT_EQ(st.st_size, 8);
    EXPECT_EQ(scratch.read("1.log"), "was here");
}

TEST(SpareFiles, WhereThereIsNoneOneIsMade) {
    const Scratch scratch;
    SpareFiles spares(scratch.fd());
    for (const char* name : {"1.log", "1.dat"}) {
        ASSERT_ASSIGN(const UniqueFd file, spares.open(name));
        EXPECT_TRUE(sys::stat_at(scratch.fd(), name).ok());
    }
}

TEST(SpareFiles, SeveralDeltasAreWrittenToThem) {
    const Scratch scratch;
    SpareFiles spares(scratch.fd());
    spares.refill();
    scratch.write("source", "before");
    ASSERT_ASSIGN(const UniqueFd source, sys::open_at(scratch.fd(), "source", O_RDONLY));
    const ObjectKey key{7, 8};
    for (DeltaNumber number = 1; number <= 4; ++number) {
        DeltaWriter writer(scratch.fd(), number, &spares);
        EXPECT_TRUE(writer.empty());
        ASSERT_OK(writer.size(key, number, 0));
        ASSERT_OK(writer.content(key, source.get(), 0, 6));
        ASSERT_OK(writer.sync());
    }
    for (DeltaNumber number = 1; number <= 4; ++number) {
        ASSERT_ASSIGN(const Delta delta, read_delta(scratch.fd(), number));
        EXPECT_EQ(delta.objects.at(key).size, number);
        EXPECT_EQ(delta.objects.at(key).content.size(), 1U);
        EXPECT_EQ(scratch.read(std::to_string(number) + ".dat"), "before");
    }
}

}  // namespace
}  // namespace unwrite::journal
