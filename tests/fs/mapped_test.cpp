// Stores into shared mappings have no request of their own; a checkpoint must still know on which
// side they fall.
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "fs/tuning.h"
#include "tests/fs/served.h"

namespace unwrite::tests {
namespace {

constexpr std::size_t kPage = 4096;

class Mapping {
 public:
    Mapping(const Served& served, const std::string& name, std::size_t size) : size_(size) {
        auto fd = sys::open_at(AT_FDCWD, served.path(name), O_RDWR | O_CLOEXEC);
        if (!fd) return;
        void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd->get(), 0);
        if (at != MAP_FAILED) bytes_ = static_cast<char*>(at);
    }
    ~Mapping() {
        if (bytes_ != nullptr) ::munmap(bytes_, size_);
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    char* bytes() { return bytes_; }
    /// Into every other page, and into `text`, which is as long: each page is a request.
    void store_apart(char letter, std::string& text) {
        for (std::size_t at = 0; at < size_; at += 2 * kPage)
            bytes_[at] = text[at] = letter;
    }

 private:
    char* bytes_ = nullptr;
    std::size_t size_;
};

TEST(Mapped, WriteBackReachesTheRealFileBeforeItReturns) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    constexpr std::size_t kSize = 16U << 20U;
    served.write("f", std::string(kSize, 'a'));
    Mapping mapping(served, "f", kSize);
    ASSERT_NE(mapping.bytes(), nullptr);
    for (const char letter : {'b', 'c'}) {
        std::memset(mapping.bytes(), letter, kSize);
        ASSERT_EQ(served.order("write_back"), "ok");
        EXPECT_EQ(served.read_raw("f"), std::string(kSize, letter));
    }
}

TEST(Mapped, StoresFallOnTheRightSideOfACheckpoint) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    served.write("f", std::string(8192, 'a'));
    Mapping mapping(served, "f", 8192);
    ASSERT_NE(mapping.bytes(), nullptr);
    std::memcpy(mapping.bytes(), "before", 6);
    ASSERT_EQ(served.order("checkpoint"), "ok");
    std::memcpy(mapping.bytes() + 4096, "after", 5);
    ASSERT_EQ(served.order("rollback"), "ok");
    const std::string wanted = "before" + std::string(8192 - 6, 'a');
    EXPECT_EQ(served.read_raw("f"), wanted);
    EXPECT_EQ(served.read("f"), wanted);
    EXPECT_EQ(std::string(mapping.bytes(), 8192), wanted);
}

/// A checkpoint goes on without what a slow disk does not take; the end of the mount does not.
/// There are more requests than the kernel sends at a time.
TEST(Mapped, TheEndWaitsForASlowDisk) {
    constexpr std::size_t kPages = 2048;
    fs::MountOptions impatient;
    impatient.patience = std::chrono::milliseconds(50);
    Served served(0, {}, impatient);
    SKIP_WITHOUT_MOUNT(served);
    std::string text(kPages * kPage, 'a');
    served.write("f", text);
    Mapping mapping(served, "f", text.size());
    ASSERT_NE(mapping.bytes(), nullptr);
    mapping.store_apart('b', text);
    ASSERT_EQ(served.order("hold writes"), "ok");
    ASSERT_EQ(served.order("checkpoint"), "ok");
    ::kill(served.daemon(), SIGTERM);
    std::this_thread::sleep_for(std::chrono::seconds(1));
    served.order("release");  // on the path passthrough it may have ended by itself
    EXPECT_EQ(served.wait_for_exit(), 0);
    EXPECT_TRUE(served.read_raw("f") == text);
}

enum class Hidden { kCovered, kDetached };

class MappedBehind : public testing::TestWithParam<Hidden> {};

/// By its path the mount cannot be asked for anything.
TEST_P(MappedBehind, StoresAreWrittenWhereTheMountIsNotAtItsPlace) {
    constexpr std::size_t kPages = 300;
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    if (::geteuid() != 0) GTEST_SKIP() << "only root mounts and detaches";
    std::string text(kPages * kPage, 'a');
    served.write("f", text);
    Mapping mapping(served, "f", text.size());
    ASSERT_NE(mapping.bytes(), nullptr);
    const std::string place = served.path().parent_path();
    if (GetParam() == Hidden::kCovered) {
        ASSERT_EQ(::mount("none", place.c_str(), "tmpfs", 0, nullptr), 0);
    } else {
        ASSERT_EQ(::umount2(place.c_str(), MNT_DETACH), 0);
    }
    mapping.store_apart('b', text);
    EXPECT_EQ(served.order("checkpoint"), "ok");
    EXPECT_TRUE(served.read_raw("f") == text) << "after the checkpoint";
    mapping.store_apart('c', text);
    ::kill(served.daemon(), SIGTERM);
    EXPECT_EQ(served.wait_for_exit(), 0);
    EXPECT_TRUE(served.read_raw("f") == text) << "at the end";
    if (GetParam() == Hidden::kCovered) {
        EXPECT_EQ(::umount2(place.c_str(), MNT_DETACH), 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Each, MappedBehind, testing::Values(Hidden::kCovered, Hidden::kDetached),
                         [](const auto& of) {
                             return of.param == Hidden::kCovered ? "covered" : "detached";
                         });

/// What is not written in time is still waited for, but not by those who have pages dropped.
TEST(Mapped, ARestoreIsSeenWhileTheMountIsCoveredAndTheDiskTakesNoWrite) {
    fs::MountOptions impatient;
    impatient.patience = std::chrono::milliseconds(100);
    Served served(0, {}, impatient);
    SKIP_WITHOUT_MOUNT(served);
    if (::geteuid() != 0) GTEST_SKIP() << "only root mounts";
    served.write("f", std::string(kPage, 'a'));
    served.write("g", std::string(kPage, 'a'));
    Mapping stored(served, "f", kPage);
    Mapping seen(served, "g", kPage);
    ASSERT_NE(stored.bytes(), nullptr);
    ASSERT_NE(seen.bytes(), nullptr);
    const auto file = sys::open_at(AT_FDCWD, served.path("g"), O_RDWR | O_CLOEXEC);
    ASSERT_OK(file);
    ASSERT_EQ(seen.bytes()[0], 'a');
    ASSERT_EQ(served.order("checkpoint"), "ok");
    ASSERT_OK(sys::write_all_at(file->get(), std::as_bytes(std::span("z", 1)), 0));
    ASSERT_EQ(seen.bytes()[0], 'z');
    const std::string place = served.path().parent_path();
    ASSERT_EQ(::mount("none", place.c_str(), "tmpfs", 0, nullptr), 0);
    ASSERT_EQ(served.order("hold writes"), "ok");
    stored.bytes()[0] = 'b';
    EXPECT_EQ(served.order("rollback"), "ok");
    EXPECT_EQ(seen.bytes()[0], 'a');
    EXPECT_EQ(served.order("release"), "ok");
    EXPECT_EQ(::umount2(place.c_str(), MNT_DETACH), 0);
}

/// The daemon is told to end while requests are held, and goes on with them when it would be over.
void end_with_requests_held(Served& served) {
    ::kill(served.daemon(), SIGTERM);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    served.order("release");
    EXPECT_EQ(served.wait_for_exit(), 0);
}

/// Where so many requests run that nobody waits for, like reads ahead, the kernel starts no write
/// of mapped pages, or holds it back.
TEST(Mapped, TheEndWaitsForAStoreThatComesAfterManyReads) {
    const char* const path = std::getenv("UNWRITE_DATA_PATH");
    if (path != nullptr && std::string(path) == "passthrough") GTEST_SKIP() << "reads no request";
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    constexpr int kReads = fs::tuning::kCongested;
    const std::string text(1U << 16U, 'a');
    served.write("f", text);
    Mapping mapping(served, "f", text.size());
    ASSERT_NE(mapping.bytes(), nullptr);
    ASSERT_EQ(mapping.bytes()[0], 'a');
    std::vector<std::thread> readers;
    ASSERT_EQ(served.order("hold reads"), "ok");
    for (int i = 0; i < kReads; ++i) {
        const std::string name = "r" + std::to_string(i);
        const auto cold = sys::open_at(served.raw(), name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        ASSERT_OK(cold);
        ASSERT_OK(sys::write_all_at(cold->get(), std::as_bytes(std::span(text)), 0));
        readers.emplace_back([&served, name] { served.read(name); });
    }
    served.wait_until_held(kReads);
    mapping.bytes()[0] = 'b';
    end_with_requests_held(served);
    for (std::thread& reader : readers)
        reader.join();
    EXPECT_EQ(served.read_raw("f")[0], 'b');
}

/// The kernel writes no page of a file that is getting another size.
TEST(Mapped, TheEndWaitsForAStoreThatWaitsForATruncation) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    served.write("f", std::string(8192, 'a'));
    Mapping mapping(served, "f", 8192);
    ASSERT_NE(mapping.bytes(), nullptr);
    ASSERT_EQ(mapping.bytes()[0], 'a');
    ASSERT_EQ(served.order("hold sizes"), "ok");
    std::thread cutter([&] { EXPECT_EQ(::truncate(served.path("f").c_str(), 6000), 0); });
    served.wait_until_held(1);
    mapping.bytes()[0] = 'b';
    end_with_requests_held(served);
    cutter.join();
    EXPECT_EQ(served.read_raw("f"), 'b' + std::string(5999, 'a'));
}

/// Stores into each page of the file, one number after the other, and says which it is done with.
pid_t start_storing(const Served& served, const std::string& name, std::size_t size,
                    std::atomic<std::uint64_t>& done) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    Mapping mapping(served, name, size);
    for (std::uint64_t number = 1; mapping.bytes() != nullptr; ++number) {
        for (std::size_t at = 0; at < size; at += 4096)
            std::memcpy(mapping.bytes() + at, &number, sizeof number);
        done = number;
    }
    ::_exit(1);
}

TEST(Mapped, WhatWasStoredBeforeTheEndIsWrittenWhileSomebodyStoresOn) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    constexpr std::size_t kSize = 64 * 4096;
    served.write("f", std::string(kSize, '\0'));
    void* const shared =
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(shared, MAP_FAILED);
    auto& done = *new (shared) std::atomic<std::uint64_t>(0);
    const pid_t child = start_storing(served, "f", kSize, done);
    while (done < 100 && ::waitpid(child, nullptr, WNOHANG) == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::uint64_t before = done;
    EXPECT_GE(before, 100U);
    EXPECT_EQ(served.stop(), 0);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::munmap(shared, 4096);
    const std::string text = served.read_raw("f");
    ASSERT_EQ(text.size(), kSize);
    for (std::size_t at = 0; at < kSize; at += 4096) {
        std::uint64_t number = 0;
        std::memcpy(&number, text.data() + at, sizeof number);
        EXPECT_GE(number, before) << at;
    }
}

}  // namespace
}  // namespace unwrite::tests
