// Who may do what: the kernel checks, the daemon (as root) makes new objects the caller's.
#include <sys/wait.h>

#include <functional>

#include "tests/fs/served.h"

namespace unwrite::tests {
namespace {

constexpr uid_t kNobody = 65534;

/// Runs `body` in a child of another user; its result is the exit status.
int run_as(uid_t uid, const std::function<int()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        if (::setgid(uid) != 0 || ::setuid(uid) != 0) ::_exit(99);
        ::_exit(body());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define SKIP_UNLESS_ROOT() \
    if (::geteuid() != 0) GTEST_SKIP() << "needs root"

TEST(Permissions, AreCheckedAndNewFilesBelongToTheCaller) {
    SKIP_UNLESS_ROOT();
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    std::filesystem::permissions(served.path(), std::filesystem::perms(0777));
    served.write("secret", "x");
    std::filesystem::permissions(served.path("secret"), std::filesystem::perms(0600));
    const int result = run_as(kNobody, [&] {
        if (number_of(sys::open_at(AT_FDCWD, served.path("secret"), O_RDONLY)) != EACCES) return 1;
        ::umask(027);
        return number_of(
            sys::open_at(AT_FDCWD, served.path("mine"), O_WRONLY | O_CREAT | O_EXCL, 0666));
    });
    EXPECT_EQ(result, 0);
    ASSERT_ASSIGN(const struct stat st, sys::stat_at(served.raw(), "mine"));
    EXPECT_EQ(st.st_uid, kNobody);
    EXPECT_EQ(st.st_gid, kNobody);
    EXPECT_EQ(st.st_mode & 07777U, 0640U);
}

TEST(Permissions, AWriteByAUserClearsSetuid) {
    SKIP_UNLESS_ROOT();
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    std::filesystem::permissions(served.path(), std::filesystem::perms(0777));
    for (const bool truncate : {false, true}) {
        served.write("program", "code");
        std::filesystem::permissions(served.path("program"), std::filesystem::perms(06777));
        EXPECT_EQ(
            run_as(kNobody,
                   [&] {
                       const auto fd = sys::open_at(AT_FDCWD, served.path("program"), O_WRONLY);
                       if (!fd) return 1;
                       return number_of(truncate ? sys::truncate(fd->get(), 1)
                                                 : sys::write_all_at(fd->get(), bytes_of("x"), 0));
                   }),
            0);
        ASSERT_ASSIGN(const struct stat st, sys::stat_at(served.raw(), "program"));
        EXPECT_EQ(st.st_mode & 06000U, 0U) << (truncate ? "truncate" : "write");
    }
}

TEST(Permissions, RootsWriteKeepsSetuid) {
    SKIP_UNLESS_ROOT();
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    served.write("program", "code");
    std::filesystem::permissions(served.path("program"), std::filesystem::perms(04755));
    const auto fd = sys::open_at(AT_FDCWD, served.path("program"), O_WRONLY);
    ASSERT_OK(fd);
    ASSERT_OK(sys::write_all_at(fd->get(), bytes_of("x"), 0));
    ASSERT_ASSIGN(const struct stat st, sys::stat_at(served.raw(), "program"));
    EXPECT_EQ(st.st_mode & 07777U, 04755U);
}

}  // namespace
}  // namespace unwrite::tests
