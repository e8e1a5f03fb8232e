#include "journal/state_dir.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/base/scratch.h"

namespace unwrite::journal {
namespace {

using tests::Scratch;

mode_t mode_of(const Scratch& scratch, const std::string& name) {
    const auto st = sys::stat_at(scratch.fd(), name);
    EXPECT_TRUE(st.ok()) << name;
    return st ? st->st_mode & 07777U : 0U;
}

TEST(StateDir, IsMadeWithAllItsPartsS167) {
    const Scratch scratch;
    EXPECT_KIND(ErrorKind::kNotFound, StateDir::open(scratch.fd(), false));
    ASSERT_ASSIGN(const StateDir state, StateDir::open(scratch.fd(), true));
    EXPECT_EQ(scratch.read(".unwrite/.gitignore"), "*\n");
    EXPECT_EQ(scratch.read(".unwrite/VERSION"), "unwrite state 1\n");
    EXPECT_EQ(mode_of(scratch, ".unwrite"), 0700U);
    EXPECT_EQ(mode_of(scratch, ".unwrite/attic"), 0700U);
    EXPECT_EQ(mode_of(scratch, ".unwrite/deltas"), 0700U);
    EXPECT_EQ(mode_of(scratch, ".unwrite/VERSION"), 0600U);
    ASSERT_OK(state.open_attic());
    ASSERT_OK(StateDir::open(scratch.fd(), false));
}

TEST(StateDir, AMakingThatAPowerCutEndedIsBegunAnewS167) {
    const Scratch scratch;
    ASSERT_OK(sys::make_directory(scratch.fd(), ".unwrite", 0700));
    scratch.write(".unwrite/.gitignore", "");
    scratch.write(".unwrite/VERSION", "");
    EXPECT_KIND(ErrorKind::kNotFound, StateDir::open(scratch.fd(), false));
    ASSERT_OK(StateDir::open(scratch.fd(), true));
    EXPECT_EQ(scratch.read(".unwrite/VERSION"), "unwrite state 1\n");
    EXPECT_EQ(scratch.read(".unwrite/.gitignore"), "*\n");
    scratch.write(".unwrite/journal.db", "anything");
    scratch.write(".unwrite/VERSION", "");
    EXPECT_KIND(ErrorKind::kCorrupt, StateDir::open(scratch.fd(), true));
}

TEST(StateDir, ItsModeIsRepairedS167) {
    const Scratch scratch;
    ASSERT_OK(StateDir::open(scratch.fd(), true));
    ASSERT_EQ(::chmod((scratch.path() / ".unwrite").c_str(), 0777), 0);
    ASSERT_OK(StateDir::open(scratch.fd(), false));
    EXPECT_EQ(mode_of(scratch, ".unwrite"), 0700U);
}

TEST(StateDir, ASymlinkOrAFileIsRefused) {
    const Scratch scratch;
    const Scratch elsewhere;
    ASSERT_OK(sys::make_symlink(scratch.fd(), ".unwrite", elsewhere.path()));
    EXPECT_KIND(ErrorKind::kRefused, StateDir::open(scratch.fd(), true));
    EXPECT_TRUE(std::filesystem::is_empty(elsewhere.path()));
    ASSERT_OK(sys::unlink(scratch.fd(), ".unwrite"));
    scratch.write(".unwrite", "");
    EXPECT_KIND(ErrorKind::kRefused, StateDir::open(scratch.fd(), true));
}

TEST(StateDir, SomeoneElsesIsRefused) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    const Scratch scratch;
    ASSERT_OK(StateDir::open(scratch.fd(), true));
    ASSERT_EQ(::chown((scratch.path() / ".unwrite").c_str(), 1234, 1234), 0);
    EXPECT_KIND(ErrorKind::kRefused, StateDir::open(scratch.fd(), false));
}

TEST(StateDir, OneOnAnotherFilesystemIsRefused) {
    const Scratch scratch;
    ASSERT_OK(sys::make_directory(scratch.fd(), ".unwrite", 0700));
    const std::string path = scratch.path() / ".unwrite";
    if (::mount("none", path.c_str(), "tmpfs", 0, nullptr) != 0) {
        GTEST_SKIP() << "mounting is not allowed here";
    }
    EXPECT_KIND(ErrorKind::kRefused, StateDir::open(scratch.fd(), true));
    ::umount2(path.c_str(), MNT_DETACH);
}

TEST(StateDir, VersionsAreChecked) {
    const Scratch scratch;
    ASSERT_OK(StateDir::open(scratch.fd(), true));
    scratch.write(".unwrite/VERSION", "unwrite state 2\n");
    const auto newer = StateDir::open(scratch.fd(), true);
    EXPECT_KIND(ErrorKind::kRecovery, newer);
    EXPECT_NE(newer.error().text().find("version 2"), std::string::npos);
    for (const char* text : {"\n", "unwrite state 0\n", "unwrite state 1", "unwrite state 1x\n",
                             "other", "unwrite state 99999999999999999999\n"}) {
        scratch.write(".unwrite/VERSION", text);
        EXPECT_KIND(ErrorKind::kCorrupt, StateDir::open(scratch.fd(), true)) << text;
    }
    std::filesystem::remove(scratch.path() / ".unwrite/VERSION");
    EXPECT_KIND(ErrorKind::kNotFound, StateDir::open(scratch.fd(), false));
    scratch.write(".unwrite/journal.db", "");
    EXPECT_KIND(ErrorKind::kCorrupt, StateDir::open(scratch.fd(), true));
}

TEST(StateDir, OneWriterHasTheLock) {
    const Scratch scratch;
    ASSERT_ASSIGN(StateDir other, StateDir::open(scratch.fd(), true));
    {
        ASSERT_ASSIGN(StateDir state, StateDir::open(scratch.fd(), true));
        ASSERT_OK(state.lock());
        ASSERT_OK(state.lock()) << "having it already is no failure";
        const auto refused = other.lock();
        EXPECT_KIND(ErrorKind::kConflict, refused);
        EXPECT_NE(refused.error().text().find(std::to_string(::getpid())), std::string::npos);
    }
    ASSERT_OK(other.lock());
}

TEST(StateDir, TheLockIsWaitedForWhileItsHolderEndsS24) {
    const Scratch scratch;
    ASSERT_ASSIGN(StateDir other, StateDir::open(scratch.fd(), true));
    ASSERT_ASSIGN(StateDir state, StateDir::open(scratch.fd(), true));
    ASSERT_OK(state.lock());
    std::thread end([holder = std::move(state)]() mutable {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        const StateDir gone = std::move(holder);
    });
    const auto taken = other.lock();
    end.join();
    ASSERT_OK(taken);
}

}  // namespace
}  // namespace unwrite::journal
