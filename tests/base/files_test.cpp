// Descriptors, names, directories and file contents.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "tests/base/scratch.h"

namespace unwrite {
namespace {

using tests::bytes_of;
using tests::Scratch;

TEST(Files, OpenNeverFollowsAFinalSymlink) {
    const Scratch scratch;
    scratch.write("target", "x");
    ASSERT_OK(sys::make_symlink(scratch.fd(), "link", "target"));
    EXPECT_NUMBER(ELOOP, sys::open_at(scratch.fd(), "link", O_RDONLY));
    ASSERT_ASSIGN(const UniqueFd fd, sys::open_at(scratch.fd(), "link", O_PATH));
    ASSERT_ASSIGN(const struct stat st, sys::stat_fd(fd.get()));
    EXPECT_TRUE(S_ISLNK(st.st_mode));
    ASSERT_ASSIGN(const std::string target, sys::read_link(fd.get(), ""));
    EXPECT_EQ(target, "target");
}

TEST(Files, DescriptorsAreNotInherited) {
    const Scratch scratch;
    scratch.write("f", "x");
    ASSERT_ASSIGN(const UniqueFd fd, sys::open_at(scratch.fd(), "f", O_PATH));
    ASSERT_ASSIGN(const UniqueFd again, sys::reopen(fd.get(), O_RDONLY));
    ASSERT_ASSIGN(const UniqueFd twin, sys::duplicate(fd.get()));
    for (const int number : {fd.get(), again.get(), twin.get()}) {
        EXPECT_EQ(::fcntl(number, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    }
}

TEST(Files, ReadLinkReadsLongTargets) {
    const Scratch scratch;
    const std::string target(4000, 't');
    ASSERT_OK(sys::make_symlink(scratch.fd(), "link", target));
    ASSERT_ASSIGN(const std::string found, sys::read_link(scratch.fd(), "link"));
    EXPECT_EQ(found, target);
}

TEST(Files, StatxAgreesWithStat) {
    const Scratch scratch;
    scratch.write("f", "12345");
    ASSERT_ASSIGN(const struct stat st, sys::stat_at(scratch.fd(), "f"));
    ASSERT_ASSIGN(const sys::StatX sx, sys::statx_at(scratch.fd(), "f"));
    EXPECT_EQ(sx.st.st_dev, st.st_dev);
    EXPECT_EQ(sx.st.st_ino, st.st_ino);
    EXPECT_EQ(sx.st.st_mode, st.st_mode);
    EXPECT_EQ(sx.st.st_size, 5);
    EXPECT_EQ(sx.st.st_blocks, st.st_blocks);
    EXPECT_EQ(sx.st.st_mtim.tv_sec, st.st_mtim.tv_sec);
    EXPECT_EQ(sx.st.st_mtim.tv_nsec, st.st_mtim.tv_nsec);
    EXPECT_EQ(sx.st.st_ctim.tv_nsec, st.st_ctim.tv_nsec);
    EXPECT_NE(sx.birth, 0U) << "the tests want a filesystem with birth times";
    const UniqueFd fd = scratch.open("f", O_PATH);
    ASSERT_ASSIGN(const sys::StatX same, sys::statx_at(fd.get(), ""));
    EXPECT_EQ(same.st.st_ino, st.st_ino);
    EXPECT_EQ(same.birth, sx.birth);
}

TEST(Files, ReadsAndWritesAtOffsets) {
    const Scratch scratch;
    const UniqueFd fd = scratch.open("f", O_RDWR | O_CREAT);
    ASSERT_OK(sys::write_all_at(fd.get(), bytes_of("world"), 6));
    ASSERT_OK(sys::write_all_at(fd.get(), bytes_of("hello "), 0));
    EXPECT_EQ(scratch.read("f"), "hello world");
    std::byte buffer[8];
    ASSERT_ASSIGN(const std::size_t got, sys::read_at(fd.get(), buffer, 6));
    EXPECT_EQ(got, 5U);
    EXPECT_NUMBER(EIO, sys::read_exactly_at(fd.get(), buffer, 6));
    ASSERT_OK(sys::truncate(fd.get(), 5));
    EXPECT_EQ(scratch.read("f"), "hello");
}

TEST(Files, ReplacesAFileAtomically) {
    const Scratch scratch;
    scratch.write("f", "old");
    ASSERT_OK(sys::replace_file_at(scratch.fd(), "f", "new", 0640));
    ASSERT_ASSIGN(const std::string text, sys::read_file_at(scratch.fd(), "f"));
    EXPECT_EQ(text, "new");
    ASSERT_OK(sys::make_directory(scratch.fd(), "d", 0700));
    EXPECT_NUMBER(EISDIR, sys::replace_file_at(scratch.fd(), "d", "new", 0640));
    ASSERT_ASSIGN(const auto entries, sys::read_directory(scratch.fd()));
    EXPECT_EQ(entries.size(), 2U) << "no temporary file is left";
}

TEST(Files, ReadsALargeFileWhole) {
    const Scratch scratch;
    std::string text;
    for (int i = 0; i < 30000; ++i)
        text += std::to_string(i);
    scratch.write("f", text);
    ASSERT_ASSIGN(const std::string found, sys::read_file_at(scratch.fd(), "f"));
    EXPECT_EQ(found, text);
    scratch.write("f", std::string(8192, 'x'));  // ends where a portion ends
    ASSERT_ASSIGN(const std::string exact, sys::read_file_at(scratch.fd(), "f"));
    EXPECT_EQ(exact.size(), 8192U);
}

TEST(Files, LinksTheObjectBehindADescriptor) {
    const Scratch scratch;
    scratch.write("f", "x");
    ASSERT_OK(sys::make_symlink(scratch.fd(), "s", "nowhere"));
    const UniqueFd file = scratch.open("f", O_PATH);
    const UniqueFd symlink = scratch.open("s", O_PATH);
    const UniqueFd unnamed = scratch.open(".", O_TMPFILE | O_RDWR);
    ASSERT_OK(sys::link_fd(file.get(), scratch.fd(), "f2"));
    ASSERT_OK(sys::link_fd(symlink.get(), scratch.fd(), "s2"));
    ASSERT_OK(sys::link_fd(unnamed.get(), scratch.fd(), "u"));
    ASSERT_ASSIGN(const struct stat f2, sys::stat_at(scratch.fd(), "f2"));
    EXPECT_EQ(f2.st_nlink, 2U);
    ASSERT_ASSIGN(const std::string target, sys::read_link(scratch.fd(), "s2"));
    EXPECT_EQ(target, "nowhere");
    EXPECT_NUMBER(EEXIST, sys::link_fd(file.get(), scratch.fd(), "f2"));
}

TEST(Files, LinkDoesNotFollow) {
    const Scratch scratch;
    scratch.write("f", "x");
    ASSERT_OK(sys::make_symlink(scratch.fd(), "s", "f"));
    ASSERT_OK(sys::link(scratch.fd(), "s", scratch.fd(), "s2"));
    ASSERT_ASSIGN(const struct stat st, sys::stat_at(scratch.fd(), "s2"));
    EXPECT_TRUE(S_ISLNK(st.st_mode));
}

std::set<std::string> names_of(const std::vector<sys::DirectoryEntry>& entries) {
    std::set<std::string> names;
    for (const auto& entry : entries)
        names.insert(entry.name);
    return names;
}

TEST(Directories, AreReadWholeAndInPortions) {
    const Scratch scratch;
    std::set<std::string> expected{"new\nline", "\xff\xfe", std::string(255, 'l')};
    for (int i = 0; i < 3000; ++i)
        expected.insert("f" + std::to_string(i));
    for (const std::string& name : expected)
        scratch.open(name, O_CREAT | O_RDWR);
    ASSERT_ASSIGN(const auto whole, sys::read_directory(scratch.fd()));
    EXPECT_EQ(names_of(whole), expected);
    EXPECT_EQ(whole.size(), expected.size());

    std::vector<sys::DirectoryEntry> all;
    for (std::int64_t offset = 0;;) {
        ASSERT_ASSIGN(const auto portion, sys::read_directory(scratch.fd(), offset, 100));
        if (portion.empty()) break;
        offset = portion.back().offset;
        all.insert(all.end(), portion.begin(), portion.end());
    }
    EXPECT_EQ(all.size(), expected.size());
    EXPECT_EQ(names_of(all), expected);
}

TEST(Directories, KnowWhenTheyAreEmpty) {
    const Scratch scratch;
    ASSERT_ASSIGN(const bool empty, sys::is_empty_directory(scratch.fd()));
    EXPECT_TRUE(empty);
    scratch.write(std::string(255, 'n'), "");
    ASSERT_ASSIGN(const bool full, sys::is_empty_directory(scratch.fd()));
    EXPECT_FALSE(full);
}

TEST(Locks, ExcludeAnotherOpenFile) {
    const Scratch scratch;
    UniqueFd one = scratch.open("lock", O_RDWR | O_CREAT);
    const UniqueFd two = scratch.open("lock", O_RDWR);
    ASSERT_ASSIGN(const bool first, sys::try_lock_file(one.get()));
    ASSERT_ASSIGN(const bool second, sys::try_lock_file(two.get()));
    EXPECT_TRUE(first);
    EXPECT_FALSE(second);
    ASSERT_OK(sys::close(std::move(one)));
    ASSERT_ASSIGN(const bool third, sys::try_lock_file(two.get()));
    EXPECT_TRUE(third);
}

}  // namespace
}  // namespace unwrite
