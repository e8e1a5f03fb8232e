// Stores into shared mappings have no request of their own; a checkpoint must still know on which
// side they fall.
#include <sys/mman.h>
#include <sys/mount.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "tests/fs/served.h"

namespace unwrite::tests {
namespace {

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
/// Every other page is a request, and there are more of them than the kernel sends at a time.
TEST(Mapped, TheEndWaitsForASlowDisk) {
    constexpr std::size_t kPage = 4096;
    constexpr std::size_t kPages = 2048;
    fs::MountOptions impatient;
    impatient.patience = std::chrono::milliseconds(50);
    Served served(0, {}, impatient);
    SKIP_WITHOUT_MOUNT(served);
    std::string text(kPages * kPage, 'a');
    served.write("f", text);
    Mapping mapping(served, "f", text.size());
    ASSERT_NE(mapping.bytes(), nullptr);
    for (std::size_t page = 0; page < kPages; page += 2)
        mapping.bytes()[page * kPage] = text[page * kPage] = 'b';
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
    constexpr std::size_t kPage = 4096;
    constexpr std::size_t kPages = 300;
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    if (::geteuid() != 0) GTEST_SKIP() << "only root mounts and detaches";
    std::string text(kPages * kPage, 'a');
    served.write("f", text);
    Mapping mapping(served, "f", text.size());
    ASSERT_NE(mapping.bytes(), nullptr);
    const auto store = [&](char letter) {
        for (std::size_t page = 0; page < kPages; page += 2)
            mapping.bytes()[page * kPage] = text[page * kPage] = letter;
    };
    const std::string place = served.path().parent_path();
    if (GetParam() == Hidden::kCovered) {
        ASSERT_EQ(::mount("none", place.c_str(), "tmpfs", 0, nullptr), 0);
    } else {
        ASSERT_EQ(::umount2(place.c_str(), MNT_DETACH), 0);
    }
    store('b');
    EXPECT_EQ(served.order("checkpoint"), "ok");
    EXPECT_TRUE(served.read_raw("f") == text) << "after the checkpoint";
    store('c');
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

}  // namespace
}  // namespace unwrite::tests
