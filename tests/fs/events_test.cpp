// Watchers of the mount learn of a restore, which happens below it.
#include <poll.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>

#include <array>
#include <chrono>
#include <cstring>
#include <map>
#include <thread>

#include "tests/fs/served.h"

namespace unwrite::tests {
namespace {

class Watcher {
 public:
    explicit Watcher(const std::filesystem::path& directory)
        : fd_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
        ::inotify_add_watch(fd_.get(), directory.c_str(),
                            IN_CREATE | IN_DELETE | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB);
    }

    /// All events so far, by name.
    std::map<std::string, std::uint32_t> take() {
        std::map<std::string, std::uint32_t> events;
        alignas(inotify_event) std::array<char, 65536> buffer = {};
        for (;;) {
            const ssize_t got = ::read(fd_.get(), buffer.data(), buffer.size());
            if (got <= 0) return events;
            for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
                inotify_event event = {};
                std::memcpy(&event, buffer.data() + at, sizeof event);
                const char* name = buffer.data() + at + sizeof event;
                events[event.len > 0 ? name : ""] |= event.mask;
                at += sizeof event + event.len;
            }
        }
    }

 private:
    UniqueFd fd_;
};

TEST(Events, AfterARollback) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    std::filesystem::create_directory(served.path("d"));
    served.write("d/changed", "old content");
    served.write("d/removed", "x");
    std::filesystem::create_directory(served.path("d/removed_directory"));
    std::filesystem::create_symlink("nowhere", served.path("d/removed_link"));
    ASSERT_EQ(served.order("checkpoint"), "ok");
    served.write("d/changed", "new");
    served.write("d/made", "y");
    std::filesystem::create_directory(served.path("d/made_directory"));
    std::filesystem::remove(served.path("d/removed"));
    std::filesystem::remove(served.path("d/removed_directory"));
    std::filesystem::remove(served.path("d/removed_link"));

    Watcher watcher(served.path("d"));
    ASSERT_EQ(served.order("rollback"), "ok");
    ASSERT_EQ(served.order("settle"), "ok");
    auto events = watcher.take();
    EXPECT_TRUE(events["removed"] & IN_CREATE);
    EXPECT_TRUE(events["removed_directory"] & IN_CREATE);
    EXPECT_TRUE(events["removed_directory"] & IN_ISDIR);
    EXPECT_TRUE(events["removed_link"] & IN_CREATE);
    EXPECT_TRUE(events["made"] & IN_DELETE);
    EXPECT_TRUE(events["made_directory"] & IN_DELETE);
    EXPECT_TRUE(events["changed"] & IN_MODIFY);
    EXPECT_TRUE(events["changed"] & IN_CLOSE_WRITE);
    // Nothing was really made or removed to tell it.
    EXPECT_EQ(served.read("d/changed"), "old content");
    EXPECT_EQ(served.read_raw("d/removed"), "x");
    EXPECT_FALSE(std::filesystem::exists(served.path("d/made")));
    EXPECT_FALSE(std::filesystem::exists(served.path("d/made_directory")));
    EXPECT_EQ(std::filesystem::read_symlink(served.path("d/removed_link")), "nowhere");
}

TEST(Events, ChangesThroughTheMountAreTheKernels) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    Watcher watcher(served.path());
    served.write("f", "x");
    std::filesystem::remove(served.path("f"));
    auto events = watcher.take();
    EXPECT_TRUE(events["f"] & IN_CREATE);
    EXPECT_TRUE(events["f"] & IN_MODIFY);
    EXPECT_TRUE(events["f"] & IN_DELETE);
}

/// All that fanotify has told of a mount so far; every event comes with a descriptor.
std::uint64_t take_fanotify(int fd) {
    std::uint64_t all = 0;
    alignas(fanotify_event_metadata) std::array<char, 65536> buffer = {};
    for (;;) {
        const ssize_t got = ::read(fd, buffer.data(), buffer.size());
        if (got <= 0) return all;
        for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
            fanotify_event_metadata event = {};
            std::memcpy(&event, buffer.data() + at, sizeof event);
            const UniqueFd file(event.fd);
            all |= event.mask;
            at += event.event_len;
        }
    }
}

TEST(Events, FanotifySeesOthersAndARestore) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    served.write("f", "old");
    ASSERT_EQ(served.order("checkpoint"), "ok");
    const UniqueFd all(::fanotify_init(FAN_CLASS_NOTIF | FAN_NONBLOCK | FAN_CLOEXEC, O_RDONLY));
    if (!all) GTEST_SKIP() << "no fanotify here: " << std::strerror(errno);
    ASSERT_EQ(::fanotify_mark(all.get(), FAN_MARK_ADD | FAN_MARK_MOUNT,
                              FAN_MODIFY | FAN_CLOSE_WRITE, AT_FDCWD, served.path().c_str()),
              0);
    served.write("f", "new");
    EXPECT_EQ(take_fanotify(all.get()), std::uint64_t{FAN_MODIFY | FAN_CLOSE_WRITE});
    ASSERT_EQ(served.order("rollback"), "ok");
    ASSERT_EQ(served.order("settle"), "ok");
    EXPECT_TRUE(take_fanotify(all.get()) & FAN_CLOSE_WRITE);
    EXPECT_EQ(served.read("f"), "old");
}

TEST(Events, WhatChangesBehindTheMountIsSeenS85) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    served.write("f", "old");
    served.write("gone", "x");
    EXPECT_EQ(served.read("f"), "old");
    EXPECT_FALSE(std::filesystem::exists(served.path("made")));
    {
        ASSERT_ASSIGN(const UniqueFd f, sys::open_at(served.raw(), "f", O_WRONLY));
        ASSERT_OK(sys::write_all_at(f.get(), bytes_of("newer"), 0));
    }
    ASSERT_OK(sys::open_at(served.raw(), "made", O_WRONLY | O_CREAT | O_EXCL, 0644));
    ASSERT_OK(sys::unlink(served.raw(), "gone"));
    const auto is_seen = [&] {
        return served.read("f") == "newer" && std::filesystem::exists(served.path("made")) &&
               !std::filesystem::exists(served.path("gone"));
    };
    // The kernel asks again after a second; a loaded machine takes its time.
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!is_seen() && std::chrono::steady_clock::now() < patience)
        std::this_thread::yield();
    EXPECT_TRUE(is_seen());
}

TEST(Events, AnnouncingManyNamesDoesNotHoldTheRestoreUp) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    ASSERT_EQ(served.order("checkpoint"), "ok");
    for (int i = 0; i < 1500; ++i)
        served.write("f" + std::to_string(i), "x");
    Watcher watcher(served.path());
    ASSERT_EQ(served.order("rollback"), "ok");
    ASSERT_EQ(served.order("settle"), "ok");
    EXPECT_GE(watcher.take().size(), 1000U);
    EXPECT_TRUE(std::filesystem::is_empty(served.path()));
}

}  // namespace
}  // namespace unwrite::tests
