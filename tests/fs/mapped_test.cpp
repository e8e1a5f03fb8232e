// Stores into shared mappings have no request of their own; a checkpoint must still know on which
// side they fall.
#include <sys/mman.h>

#include <cstring>

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

}  // namespace
}  // namespace unwrite::tests
