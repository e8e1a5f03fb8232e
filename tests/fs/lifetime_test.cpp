// Mounting, unmounting, and daemons that die.
#include <sys/mount.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "tests/fs/served.h"

namespace unwrite::tests {
namespace {

std::string mount_line(const Served& served) {
    std::ifstream table("/proc/self/mountinfo");
    for (std::string line; std::getline(table, line);) {
        if (line.find(" " + served.path("x").parent_path().string() + " ") != std::string::npos) {
            return line;
        }
    }
    return {};
}

TEST(Lifetime, TheMountShowsWhatItIs) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    const std::string line = mount_line(served);
    EXPECT_NE(line.find(" fuse.unwrite unwrite:test,with\\134signs "), std::string::npos) << line;
    EXPECT_NE(line.find("nosuid,nodev"), std::string::npos) << line;
    EXPECT_NE(line.find("default_permissions"), std::string::npos) << line;
    EXPECT_EQ(served.stop(), 0);
    EXPECT_EQ(mount_line(served), "");
}

TEST(Lifetime, AnUnmountFromOutsideEndsTheDaemon) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    served.write("f", "x");
    const std::string helper = "fusermount3 -u " + served.path().string();
    ASSERT_EQ(::geteuid() == 0 ? ::umount2(served.path().c_str(), 0) : std::system(helper.c_str()),
              0);
    EXPECT_EQ(served.wait_for_exit(), 0);
    EXPECT_EQ(served.read_raw("f"), "x");
}

TEST(Lifetime, ABusyMountIsDetached) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    served.write("f", "x");
    const auto open = sys::open_at(AT_FDCWD, served.path("f"), O_RDWR | O_CLOEXEC);
    ASSERT_OK(open);
    EXPECT_EQ(served.stop(), 0);
    EXPECT_EQ(mount_line(served), "");
    EXPECT_NUMBER(ENOTCONN, sys::stat_fd(open->get()));
    EXPECT_EQ(served.read("f"), "x");  // the raw directory is back
}

/// `umount -f` gives up the connection, and the mount stays while it is in use.
TEST(Lifetime, ABusyMountWhoseConnectionWasGivenUpIsDetached) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    if (::geteuid() != 0) GTEST_SKIP() << "only root forces";
    served.write("f", "x");
    const auto open = sys::open_at(AT_FDCWD, served.path("f"), O_RDWR | O_CLOEXEC);
    ASSERT_OK(open);
    ASSERT_EQ(::umount2(served.path().c_str(), MNT_FORCE), -1);
    EXPECT_EQ(served.wait_for_exit(), 0);
    EXPECT_EQ(mount_line(served), "");
    EXPECT_EQ(served.read("f"), "x");  // the raw directory is back
}

TEST(Lifetime, AKilledDaemonLeavesAMountThatIsTakenAway) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    served.write("f", "acknowledged");
    served.kill_daemon();
    EXPECT_EQ(served.wait_for_exit(), 128 + SIGKILL);
    EXPECT_NUMBER(ENOTCONN, sys::open_at(AT_FDCWD, served.path("f"), O_RDONLY));
    EXPECT_NE(mount_line(served), "");
    ASSERT_OK(fs::unmount_stale(served.path()));
    EXPECT_EQ(served.read("f"), "acknowledged");
    EXPECT_KIND(ErrorKind::kNothing, fs::unmount_stale(served.path()));
}

/// A client that never rests, so that the kill meets requests of every kind.
pid_t start_client(const Served& served) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    for (unsigned i = 0;; ++i) {
        std::error_code ignored;
        const std::string name = served.path("f" + std::to_string(i % 300));
        std::ofstream(name) << i;
        if (i % 3 == 0) std::filesystem::remove(name, ignored);
    }
}

TEST(Lifetime, AKillDuringRestoresAndAnnouncementsHangsNobody) {
    for (const int milliseconds : {3, 10, 25, 60}) {
        Served served;
        SKIP_WITHOUT_MOUNT(served);
        ASSERT_EQ(served.order("checkpoint"), "ok");
        const pid_t client = start_client(served);
        std::thread killer([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(200 + milliseconds));
            served.kill_daemon();
        });
        while (!served.order("rollback").empty())
            served.order("write_back");
        killer.join();
        EXPECT_EQ(served.wait_for_exit(), 128 + SIGKILL);
        ::kill(client, SIGKILL);
        EXPECT_EQ(::waitpid(client, nullptr, 0), client);
        EXPECT_NUMBER(ENOTCONN, sys::open_at(AT_FDCWD, served.path("f"), O_RDONLY));
        ASSERT_OK(fs::unmount_stale(served.path()));
    }
}

/// What the daemon itself asks for through the mount waits behind a request that takes long.
TEST(Lifetime, TheEndWaitsForWhatTheDaemonAsksForItself) {
    fs::MountOptions options;
    options.workers = 1;
    options.patience = std::chrono::milliseconds(50);
    Served served(0, {}, options);
    SKIP_WITHOUT_MOUNT(served);
    served.write("f", "x");
    ASSERT_EQ(served.order("hold"), "ok");
    std::thread client([&] { EXPECT_TRUE(std::filesystem::remove(served.path("f"))); });
    served.wait_until_held(1);
    std::thread other([&] { EXPECT_NE(::access(served.path("g").c_str(), F_OK), 0); });
    ASSERT_EQ(served.order("write_back"), "ok");
    ::kill(served.daemon(), SIGTERM);
    std::this_thread::sleep_for(std::chrono::seconds(1));
    EXPECT_EQ(served.order("release"), "ok");
    EXPECT_EQ(served.wait_for_exit(20), 0);
    client.join();
    other.join();
    EXPECT_EQ(mount_line(served), "");
}

TEST(Lifetime, TwoMountsAtOnce) {
    Served one;
    SKIP_WITHOUT_MOUNT(one);
    Served two;
    SKIP_WITHOUT_MOUNT(two);
    one.write("f", "1");
    two.write("f", "2");
    ASSERT_EQ(one.order("checkpoint"), "ok");
    one.write("f", "changed");
    ASSERT_EQ(one.order("rollback"), "ok");
    EXPECT_EQ(one.read("f"), "1");
    EXPECT_EQ(two.read("f"), "2");
    EXPECT_EQ(one.stop(), 0);
    EXPECT_EQ(two.read("f"), "2");
}

TEST(Lifetime, AUserMountsThroughTheHelper) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
    constexpr uid_t kNobody = 65534;
    SKIP_UNLESS_MAY_MOUNT(kNobody);
    Served served(kNobody);
    ASSERT_EQ(served.failure(), "");
    EXPECT_NE(mount_line(served).find(" fuse.unwrite "), std::string::npos);
    EXPECT_EQ(served.stop(), 0);
    EXPECT_EQ(mount_line(served), "");
}

}  // namespace
}  // namespace unwrite::tests
