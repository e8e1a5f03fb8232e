// Who may do what: the kernel checks, the daemon (as root) makes new objects the caller's.
#include <sys/wait.h>

#include <cstdio>
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

// The kernel remembers for a moment that there was nothing, and asks to make what somebody made
// behind the mount meanwhile.
TEST(Permissions, HoldForWhatAppearedBehindTheMountS85) {
    SKIP_UNLESS_ROOT();
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    std::filesystem::permissions(served.path(), std::filesystem::perms(0777));
    const auto open_as_nobody = [&](const char* name) {
        return run_as(kNobody, [&] {
            return number_of(
                sys::open_at(AT_FDCWD, served.path(name), O_WRONLY | O_CREAT | O_TRUNC, 0666));
        });
    };
    for (const char* name : {"secret", "directory", "link"})
        EXPECT_FALSE(std::filesystem::exists(served.path(name)));
    {
        ASSERT_ASSIGN(const UniqueFd secret,
                      sys::open_at(served.raw(), "secret", O_WRONLY | O_CREAT | O_EXCL, 0600));
        ASSERT_OK(sys::write_all_at(secret.get(), bytes_of("root's"), 0));
    }
    EXPECT_EQ(open_as_nobody("secret"), EACCES);
    EXPECT_EQ(served.read_raw("secret"), "root's");
    ASSERT_OK(sys::make_directory(served.raw(), "directory", 0777));
    EXPECT_EQ(open_as_nobody("directory"), EISDIR);
    ASSERT_OK(sys::make_symlink(served.raw(), "link", "secret"));
    EXPECT_EQ(open_as_nobody("link"), ELOOP);  // our own open follows none
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
        // Who asks for the mode alone gets what the kernel remembers.
        struct statx seen = {};
        ASSERT_EQ(::statx(AT_FDCWD, served.path("program").c_str(), 0, STATX_MODE, &seen), 0);
        EXPECT_EQ(seen.stx_mode & 06000U, 0U) << (truncate ? "truncate" : "write");
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

/// 0, or the number of the first failure, each with its line in the child's output.
#define MUST(expression)                                                                   \
    do {                                                                                   \
        const auto done = (expression);                                                    \
        if (!done.ok()) {                                                                  \
            std::fprintf(stderr, "%s: %s\n", #expression, done.error().message().c_str()); \
            return 1;                                                                      \
        }                                                                                  \
    } while (false)

UniqueFd opened(const std::filesystem::path& path, int flags) {
    auto fd = sys::open_at(AT_FDCWD, path, flags);
    return fd ? *std::move(fd) : UniqueFd();
}

int make_what_modes_close(const Served& served) {
    for (const char* name : {"bare", "closed", "listed", "over", "above", "above/below"})
        MUST(sys::make_directory(AT_FDCWD, served.path(name), 0755));
    for (const char* name : {"noted", "written", "held"}) {
        served.write(name, "before");
        MUST(sys::set_xattr(opened(served.path(name), O_RDONLY).get(), "user.a", "v", 0));
    }
    MUST(sys::change_mode(opened(served.path("noted"), O_PATH).get(), 0));
    MUST(sys::change_mode(opened(served.path("written"), O_PATH).get(), 0200));
    return number_of(sys::change_mode(opened(served.path("closed"), O_PATH).get(), 0111));
}

int use_what_modes_close(const Served& served) {
    const auto change = [&](const char* name, mode_t mode) {
        return sys::change_mode(opened(served.path(name), O_PATH).get(), mode);
    };
    MUST(change("noted", 0644));  // whose attributes had to be read first
    MUST(sys::write_all_at(opened(served.path("written"), O_WRONLY).get(), bytes_of("after"), 0));
    const UniqueFd held = opened(served.path("held"), O_RDWR);
    MUST(change("held", 0));
    MUST(sys::write_all_at(held.get(), bytes_of("after"), 0));
    MUST(sys::sync(held.get()));
    MUST(sys::remove_directory(AT_FDCWD, served.path("closed")));
    MUST(sys::make_directory(AT_FDCWD, served.path("new"), 0755));
    MUST(change("over", 0));
    MUST(sys::rename(AT_FDCWD, served.path("new"), AT_FDCWD, served.path("over")));
    const UniqueFd bare = opened(served.path("bare"), O_RDONLY | O_DIRECTORY);
    MUST(change("bare", 0));
    MUST(sys::read_directory(bare.get()));
    MUST(sys::sync(bare.get()));
    MUST(change("listed", 0400));
    MUST(sys::read_directory(opened(served.path("listed"), O_RDONLY | O_DIRECTORY).get()));
    const UniqueFd below = opened(served.path("above/below"), O_RDONLY | O_DIRECTORY);
    MUST(change("above", 0));
    MUST(sys::open_at(below.get(), "made", O_WRONLY | O_CREAT | O_EXCL, 0));
    return 0;
}

TEST(Permissions, AModeIsNoObstacleWhereTheKernelAllowsIt) {
    SKIP_UNLESS_ROOT();
    SKIP_UNLESS_MAY_MOUNT(kNobody);
    Served served(kNobody);
    SKIP_WITHOUT_MOUNT(served);
    ASSERT_EQ(run_as(kNobody, [&] { return make_what_modes_close(served); }), 0);
    ASSERT_EQ(served.order("checkpoint"), "ok");
    EXPECT_EQ(run_as(kNobody, [&] { return use_what_modes_close(served); }), 0);
    ASSERT_ASSIGN(const struct stat bare, sys::stat_at(served.raw(), "bare"));
    EXPECT_EQ(bare.st_mode & 07777U, 0U);
    ASSERT_ASSIGN(const struct stat listed, sys::stat_at(served.raw(), "listed"));
    EXPECT_EQ(listed.st_mode & 07777U, 0400U);
    EXPECT_EQ(served.read_raw("held"), "aftere");

    ASSERT_EQ(served.order("rollback"), "ok");
    ASSERT_ASSIGN(const struct stat closed, sys::stat_at(served.raw(), "closed"));
    EXPECT_EQ(closed.st_mode & 07777U, 0111U);
    EXPECT_EQ(served.read_raw("held"), "before");
    EXPECT_EQ(served.read_raw("written"), "before");
    EXPECT_EQ(number_of(sys::stat_at(served.raw(), "above/below/made")), ENOENT);
}

}  // namespace
}  // namespace unwrite::tests
