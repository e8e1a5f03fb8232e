// The attacks of attacks_test.cpp that are aimed at what the daemon itself writes: captures and
// restores, which have more rights than who caused them.
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <csignal>
#include <thread>

#include "tests/fs/policed.h"

namespace unwrite::tests {
namespace {

constexpr Subject kUser = kSubjects[0];
constexpr uid_t kNobody = 65534;

class AttacksOnRestores : public PolicedMount {};

// A program of somebody else's, which root made its own: taken back it is the other's again, and
// never root's with the other's bytes.
TEST_F(AttacksOnRestores, A28_ARestoreGivesSetuidToWhomItWas) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    EXPECT_EQ(as(kUser,
                 [] {
                     return with_open("program", O_WRONLY | O_CREAT,
                                      [](int fd) { return ended(::write(fd, "evil", 4)); }) +
                            ended(::chown("program", kNobody, kNobody)) +
                            ended(::chmod("program", 04711));
                 }),
              0);
    ASSERT_EQ(served_.order("checkpoint"), "ok");
    EXPECT_EQ(as(kUser,
                 [] {
                     return ended(::chown("program", 0, 0)) +
                            with_open("program", O_WRONLY | O_TRUNC,
                                      [](int fd) { return ended(::write(fd, "good", 4)); }) +
                            ended(::chmod("program", 06755));
                 }),
              0);
    ASSERT_EQ(served_.order("rollback"), "ok");
    struct stat st = {};
    ASSERT_EQ(::stat(raw("program").c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 07777U, 04711U);
    EXPECT_EQ(st.st_uid, kNobody);
    EXPECT_EQ(served_.read_raw("program"), "evil");
}

/// Writes one byte into dir/below, without following any link; its errno.
int write_below() {
    open_how how = {};
    how.flags = O_WRONLY | O_CLOEXEC;
    how.resolve = RESOLVE_NO_SYMLINKS;
    const UniqueFd fd(
        static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, "dir/below", &how, sizeof(how))));
    if (fd.get() < 0) return errno;
    return ended(::pwrite(fd.get(), "x", 1, 0)) + ended(::fchmod(fd.get(), 0600));
}

// A directory becomes a symbolic link out of the workspace and a directory again, while what is in
// it is captured and taken back: nothing outside is read from or written to.
TEST_F(AttacksOnRestores, A43_ADirectoryThatIsSwappedForASymlinkWhileItIsCaptured) {
    const Scratch outside;
    outside.write("below", "outside\n");
    ASSERT_EQ(::chmod((outside.path() / "below").c_str(), 0640), 0);
    std::ofstream(raw("dir/below")) << "inside\n";
    ASSERT_EQ(::chmod(raw("dir/below").c_str(), 0644), 0);
    ASSERT_EQ(served_.order("checkpoint"), "ok");
    const pid_t swapper = ::fork();
    if (swapper == 0) {
        if (::chdir(served_.path().c_str()) != 0) ::_exit(1);
        for (;;) {
            std::ignore = ::rename("dir", "elsewhere");
            std::ignore = ::symlink(outside.path().c_str(), "dir");
            std::ignore = ::unlink("dir");
            std::ignore = ::rename("elsewhere", "dir");
        }
    }
    const auto write_some = [] {
        int written = 0;
        for (int i = 0; written < 50 && i < 20'000'000; ++i)
            written += write_below() == 0 ? 1 : 0;
        return written == 50 ? 0 : 1;
    };
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(as(kUser, write_some), 0);
        EXPECT_EQ(served_.order("rollback"), "ok");
    }
    ::kill(swapper, SIGKILL);
    ::waitpid(swapper, nullptr, 0);
    EXPECT_EQ(served_.order("rollback"), "ok");
    EXPECT_EQ(served_.read_raw("dir/below"), "inside\n");
    EXPECT_EQ(outside.read("below"), "outside\n");
    struct stat st = {};
    ASSERT_EQ(::stat((outside.path() / "below").c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 07777U, 0640U);
    EXPECT_EQ(st.st_nlink, 1U) << "nothing of it is in the attic";
}

}  // namespace
}  // namespace unwrite::tests
