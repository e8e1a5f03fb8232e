// Mode, owner, times and extended attributes through O_PATH descriptors.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/base/scratch.h"

namespace unwrite {
namespace {

using tests::Scratch;

class Attributes : public ::testing::Test {
 protected:
    void SetUp() override {
        scratch_.write("file", "x");
        ASSERT_OK(sys::make_directory(scratch_.fd(), "dir", 0755));
        ASSERT_OK(sys::make_symlink(scratch_.fd(), "link", "file"));
        ASSERT_OK(sys::make_symlink(scratch_.fd(), "dangling", "nowhere"));
    }
    UniqueFd path(const std::string& name) const { return scratch_.open(name, O_PATH); }
    struct stat stat(const std::string& name) const {
        const auto st = sys::stat_at(scratch_.fd(), name);
        EXPECT_TRUE(st.ok());
        return *st;
    }
    Scratch scratch_;
};

TEST_F(Attributes, ChangeModeWorksOnAnythingButSymlinks) {
    ASSERT_OK(sys::change_mode(path("file").get(), 04751));
    ASSERT_OK(sys::change_mode(path("dir").get(), 01700));
    EXPECT_EQ(stat("file").st_mode & 07777U, 04751U);
    EXPECT_EQ(stat("dir").st_mode & 07777U, 01700U);
    EXPECT_NUMBER(EOPNOTSUPP, sys::change_mode(path("link").get(), 0600));
    EXPECT_EQ(stat("file").st_mode & 07777U, 04751U) << "the target is left alone";
    ASSERT_OK(sys::change_mode(scratch_.open("file", O_RDONLY).get(), 0600));
    EXPECT_EQ(stat("file").st_mode & 07777U, 0600U);
}

TEST_F(Attributes, TimesAreTheObjectsOwn) {
    const struct timespec times[2] = {{11, 22}, {1234567890, 123456789}};
    for (const char* name : {"file", "dir", "link", "dangling"}) {
        ASSERT_OK(sys::set_times(path(name).get(), times)) << name;
        EXPECT_EQ(stat(name).st_mtim.tv_sec, 1234567890) << name;
        EXPECT_EQ(stat(name).st_mtim.tv_nsec, 123456789) << name;
        EXPECT_EQ(stat(name).st_atim.tv_sec, 11) << name;
    }
    const struct timespec later[2] = {{0, UTIME_OMIT}, {77, 0}};
    ASSERT_OK(sys::set_times(path("link").get(), later));
    EXPECT_EQ(stat("link").st_mtim.tv_sec, 77);
    EXPECT_EQ(stat("file").st_mtim.tv_sec, 1234567890) << "the target is left alone";
}

TEST_F(Attributes, OwnerIsTheObjectsOwn) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    ASSERT_OK(sys::change_owner(path("link").get(), 12, 34));
    EXPECT_EQ(stat("link").st_uid, 12U);
    EXPECT_EQ(stat("link").st_gid, 34U);
    EXPECT_EQ(stat("file").st_uid, 0U);
    ASSERT_OK(sys::change_owner(path("file").get(), 56, static_cast<gid_t>(-1)));
    EXPECT_EQ(stat("file").st_uid, 56U);
    EXPECT_EQ(stat("file").st_gid, ::getegid());
}

TEST_F(Attributes, XattrsAreWrittenReadListedAndRemoved) {
    for (const char* name : {"file", "dir"}) {
        const UniqueFd fd = path(name);
        const std::string large(3000, '\0');
        ASSERT_OK(sys::set_xattr(fd.get(), "user.zero", large, 0));
        ASSERT_OK(sys::set_xattr(fd.get(), "user.a", "", XATTR_CREATE));
        EXPECT_NUMBER(EEXIST, sys::set_xattr(fd.get(), "user.a", "b", XATTR_CREATE));
        ASSERT_ASSIGN(const sys::Xattrs all, sys::read_xattrs(fd.get()));
        EXPECT_EQ(all, (sys::Xattrs{{"user.a", ""}, {"user.zero", large}})) << name;
        ASSERT_OK(sys::remove_xattr(fd.get(), "user.a"));
        EXPECT_NUMBER(ENODATA, sys::get_xattr(fd.get(), "user.a"));
        EXPECT_NUMBER(ENODATA, sys::remove_xattr(fd.get(), "user.a"));
    }
    const UniqueFd opened = scratch_.open("file", O_RDONLY);
    ASSERT_ASSIGN(const sys::Xattrs same, sys::read_xattrs(opened.get()));
    EXPECT_EQ(same.size(), 1U) << "an ordinary descriptor does as well";
}

TEST_F(Attributes, XattrsOfASymlinkAreNotItsTargets) {
    ASSERT_OK(sys::set_xattr(path("file").get(), "user.a", "1", 0));
    for (const char* name : {"link", "dangling"}) {
        ASSERT_ASSIGN(const sys::Xattrs all, sys::read_xattrs(path(name).get()));
        EXPECT_TRUE(all.empty()) << name;
        EXPECT_NUMBER(ENODATA, sys::get_xattr(path(name).get(), "user.a"));
        EXPECT_FALSE(sys::set_xattr(path(name).get(), "user.b", "1", 0).ok());
    }
    ASSERT_ASSIGN(const sys::Xattrs all, sys::read_xattrs(path("file").get()));
    EXPECT_EQ(all.size(), 1U);
    if (::geteuid() != 0) GTEST_SKIP() << "the rest needs root";
    ASSERT_OK(sys::set_xattr(path("dangling").get(), "trusted.own", "s", 0));
    ASSERT_ASSIGN(const sys::Xattrs own, sys::read_xattrs(path("dangling").get()));
    EXPECT_EQ(own, (sys::Xattrs{{"trusted.own", "s"}}));
}

TEST_F(Attributes, FilesystemsWithoutXattrsHaveNone) {
    auto proc = sys::open_at(AT_FDCWD, "/proc/version", O_RDONLY);
    if (!proc) GTEST_SKIP() << "no /proc";
    ASSERT_ASSIGN(const sys::Xattrs all, sys::read_xattrs(proc->get()));
    EXPECT_TRUE(all.empty());
}

}  // namespace
}  // namespace unwrite
