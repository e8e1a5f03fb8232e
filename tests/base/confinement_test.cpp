#include "base/confinement.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>

#include "base/syscalls.h"

namespace unwrite::sys {
namespace {

constexpr int kNotHere = 77;

/// What a process of its own answers, so that the walls end with it.
int in_a_child(const std::function<int()>& act) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(act());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int error_of(const Result<UniqueFd>& opened) {
    return opened ? 0 : opened.error().number();
}

TEST(Confinement, NothingIsWrittenButBeneathWhatIsAllowed) {
    const std::string top = ::testing::TempDir() + "wall-" + std::to_string(::getpid());
    ASSERT_TRUE(make_directory(AT_FDCWD, top, 0700));
    ASSERT_TRUE(make_directory(AT_FDCWD, top + "/in", 0700));
    const int code = in_a_child([&] {
        const Result<WriteWall> wall = WriteWall::create();
        if (!wall) return kNotHere;
        if (!wall->allow(top + "/in") || !forbid_new_privileges() || !wall->enforce()) return 1;
        if (error_of(open_at(AT_FDCWD, top + "/in/f", O_WRONLY | O_CREAT, 0600)) != 0) return 2;
        if (error_of(open_at(AT_FDCWD, top + "/f", O_WRONLY | O_CREAT, 0600)) != EACCES) return 3;
        if (rename(AT_FDCWD, top + "/in/f", AT_FDCWD, top + "/f")) return 4;
        return error_of(open_at(AT_FDCWD, top, O_RDONLY | O_DIRECTORY)) == 0 ? 0 : 5;
    });
    ignore(unlink(AT_FDCWD, top + "/in/f"), "it is there only if the wall could be made");
    EXPECT_TRUE(remove_directory(AT_FDCWD, top + "/in"));
    EXPECT_TRUE(remove_directory(AT_FDCWD, top));
    if (code == kNotHere) GTEST_SKIP() << "this kernel has no Landlock";
    EXPECT_EQ(code, 0);
}

TEST(Confinement, AbstractSocketsAreOutOfReachWhereTheWallSaysSoS167) {
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    const std::string name = "unwrite-wall-" + std::to_string(::getpid());
    name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
    const socklen_t length =
        static_cast<socklen_t>(offsetof(struct sockaddr_un, sun_path) + 1 + name.size());
    const auto* const named = reinterpret_cast<const struct sockaddr*>(&address);
    const UniqueFd listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(listening.get(), named, length), 0);
    ASSERT_EQ(::listen(listening.get(), 1), 0);
    const int code = in_a_child([&] {
        const Result<WriteWall> wall = WriteWall::create();
        if (!wall) return kNotHere;
        if (!forbid_new_privileges() || !wall->enforce()) return 1;
        const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const bool reached = ::connect(socket.get(), named, length) == 0;
        return reached == wall->covers_abstract_sockets() ? 2 : 0;
    });
    if (code == kNotHere) GTEST_SKIP() << "this kernel has no Landlock";
    EXPECT_EQ(code, 0);
}

TEST(Confinement, APlaceThatIsNotThereCannotBeAllowed) {
    const Result<WriteWall> wall = WriteWall::create();
    if (!wall) GTEST_SKIP() << "this kernel has no Landlock";
    const Result<> allowed = wall->allow("/no/such/place");
    ASSERT_FALSE(allowed);
    EXPECT_EQ(allowed.error().number(), ENOENT);
}

TEST(Confinement, NobodyTypesForTheUser) {
    EXPECT_EQ(in_a_child([] {
                  if (!forbid_new_privileges() || !forbid_typing()) return 1;
                  // Not a terminal: without the filter this fails with ENOTTY.
                  const Result<UniqueFd> null = open_at(AT_FDCWD, "/dev/null", O_RDWR);
                  if (!null || ::ioctl(null->get(), TIOCSTI, "x") != -1) return 2;
                  if (last_error().number() != EPERM) return 3;
                  int size = 0;
                  if (::ioctl(null->get(), FIONREAD, &size) != -1) return 0;
                  return last_error().number() == EPERM ? 4 : 0;
              }),
              0);
}

#ifdef __x86_64__
/// ioctl() as a program for the 386 calls it; below 0: the negated errno.
int ioctl_of_i386(int fd, unsigned request) {
    int answer = 54;
    asm volatile("int $0x80" : "+a"(answer) : "b"(fd), "c"(request), "d"(0) : "memory");
    return answer;
}

TEST(Confinement, NobodyTypesByTheCallsOfAnotherArchitectureS167) {
    const pid_t child = ::fork();
    if (child == 0) {
        const Result<UniqueFd> null = open_at(AT_FDCWD, "/dev/null", O_RDWR);
        if (!null || !forbid_new_privileges() || !forbid_typing()) ::_exit(1);
        ::_exit(ioctl_of_i386(null->get(), TIOCSTI) == -ENOTTY ? 2 : 3);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV)
        GTEST_SKIP() << "this kernel runs no programs for the 386";
    EXPECT_TRUE(WIFSIGNALED(status)) << "it ended with " << WEXITSTATUS(status);
    EXPECT_EQ(WTERMSIG(status), SIGSYS);
}

TEST(Confinement, CallsByTheNumbersOfX32AreRefusedS167) {
    EXPECT_EQ(in_a_child([] {
                  constexpr long kX32 = 0x40000000;
                  if (!forbid_new_privileges() || !forbid_typing()) return 1;
                  const Result<UniqueFd> null = open_at(AT_FDCWD, "/dev/null", O_RDWR);
                  // 514: ioctl for x32.
                  for (const long number : {kX32 + 514L, kX32 + SYS_ioctl, kX32 + SYS_getpid}) {
                      if (::syscall(number, null->get(), TIOCSTI, nullptr) != -1) return 2;
                      if (last_error().number() != ENOSYS) return 3;
                  }
                  return 0;
              }),
              0);
}
#endif

TEST(Confinement, TheKeysOfTheUserAreOutOfReachS167) {
    const int code = in_a_child([] {
        // The user's session keyring, with a key in it.
        if (::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) < 0) return kNotHere;
        const long key =
            ::syscall(SYS_add_key, "user", "unwrite-test", "secret", 6, KEY_SPEC_SESSION_KEYRING);
        const long ring = ::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0);
        if (key < 0 || ring < 0) return kNotHere;
        const int inside = in_a_child([&] {
            char room[16];
            if (!forbid_new_privileges() || !forbid_typing() || !leave_keyrings()) return 1;
            if (::syscall(SYS_keyctl, KEYCTL_READ, key, room, sizeof room) >= 0) return 2;
            if (::syscall(SYS_keyctl, KEYCTL_CLEAR, ring) >= 0) return 3;
            if (::syscall(SYS_keyctl, KEYCTL_CLEAR, KEY_SPEC_USER_KEYRING) >= 0) return 4;
            if (::syscall(SYS_request_key, "user", "unwrite-test", nullptr, 0) >= 0) return 5;
            return 0;
        });
        char room[16];
        if (::syscall(SYS_keyctl, KEYCTL_READ, key, room, sizeof room) != 6) return 6;
        return inside;
    });
    if (code == kNotHere) GTEST_SKIP() << "this machine has no keyrings";
    EXPECT_EQ(code, 0);
}

TEST(Confinement, CapabilitiesThatAreNotKeptDoNotComeBack) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root has any";
    EXPECT_EQ(in_a_child([] {
                  if (!keep_capabilities(1u << CAP_CHOWN)) return 1;
                  if (::prctl(PR_CAPBSET_READ, CAP_CHOWN) != 1) return 2;
                  if (::prctl(PR_CAPBSET_READ, CAP_DAC_OVERRIDE) != 0) return 3;
                  ::execl("/bin/sh", "sh", "-c",
                          "grep -q '^CapEff:.*0000000000000001$' /proc/self/status", nullptr);
                  return 4;
              }),
              0);
}

TEST(Confinement, EverybodyIsWhoTheyWereInANewNamespace) {
    int go[2];
    ASSERT_EQ(::pipe2(go, O_CLOEXEC), 0);
    const UniqueFd out(go[0]);
    UniqueFd in(go[1]);
    const uid_t uid = ::geteuid();
    const gid_t gid = ::getegid();
    const Result<pid_t> child = fork_into(CLONE_NEWUSER | CLONE_NEWPID);
    if (!child) GTEST_SKIP() << "this machine allows no namespaces: " << child.error().message();
    if (*child == 0) {
        char ready = 0;
        if (::read(out.get(), &ready, 1) != 1) ::_exit(2);
        ::_exit(::geteuid() == uid && ::getegid() == gid && ::getpid() == 1 ? 0 : 1);
    }
    const Result<> mapped = map_users(*child);
    EXPECT_TRUE(mapped) << mapped.error().message();
    EXPECT_EQ(::write(in.get(), "g", 1), 1);
    int status = 0;
    ::waitpid(*child, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST(Confinement, DescriptorsFromANumberOnAreClosed) {
    EXPECT_EQ(in_a_child([] {
                  const Result<UniqueFd> null = open_at(AT_FDCWD, "/dev/null", O_RDONLY);
                  if (!null || !close_from(null->get())) return 1;
                  return ::fcntl(null->get(), F_GETFD) == -1 && ::fcntl(2, F_GETFD) != -1 ? 0 : 2;
              }),
              0);
}

}  // namespace
}  // namespace unwrite::sys
