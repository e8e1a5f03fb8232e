// What clients see right after a restore: nothing that the kernel remembered.
#include <array>

#include "tests/fs/served.h"

namespace unwrite::tests {
namespace {

/// The working directory, until the end of the test.
class WorkingDirectory {
 public:
    explicit WorkingDirectory(const std::filesystem::path& path) {
        std::filesystem::current_path(path);
    }
    ~WorkingDirectory() { std::filesystem::current_path(before_); }
    WorkingDirectory(const WorkingDirectory&) = delete;
    WorkingDirectory& operator=(const WorkingDirectory&) = delete;

 private:
    const std::filesystem::path before_ = std::filesystem::current_path();
};

TEST(Restored, OpenFilesReadTheOldBytes) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    served.write("f", "the old bytes");
    ASSERT_EQ(served.order("checkpoint"), "ok");
    const auto fd = sys::open_at(AT_FDCWD, served.path("f"), O_RDWR | O_CLOEXEC);
    ASSERT_OK(fd);
    ASSERT_OK(sys::write_all_at(fd->get(), bytes_of("THE NEW BYTES AND MORE"), 0));
    EXPECT_EQ(served.read("f"), "THE NEW BYTES AND MORE");
    ASSERT_EQ(served.order("rollback"), "ok");
    std::array<std::byte, 64> buffer = {};
    ASSERT_ASSIGN(const std::size_t got, sys::read_at(fd->get(), buffer, 0));
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(buffer.data()), got), "the old bytes");
    ASSERT_ASSIGN(const struct stat st, sys::stat_fd(fd->get()));
    EXPECT_EQ(st.st_size, 13);
}

TEST(Restored, NamesAreForgottenAtOnce) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    served.write("kept", "1");
    served.write("gone", "2");
    ASSERT_EQ(served.order("checkpoint"), "ok");
    std::filesystem::remove(served.path("gone"));
    served.write("extra", "3");
    EXPECT_FALSE(std::filesystem::exists(served.path("gone")));  // remembered as absent
    EXPECT_TRUE(std::filesystem::exists(served.path("extra")));  // remembered as present
    for (const auto& entry : std::filesystem::directory_iterator(served.path())) {
        EXPECT_NE(entry.path().filename(), "gone");
    }
    ASSERT_EQ(served.order("rollback"), "ok");
    EXPECT_FALSE(std::filesystem::exists(served.path("extra")));
    EXPECT_EQ(served.read("gone"), "2");
    std::size_t listed = 0;
    for (const auto& entry : std::filesystem::directory_iterator(served.path())) {
        EXPECT_NE(entry.path().filename(), "extra");
        ++listed;
    }
    EXPECT_EQ(listed, 2U);
}

// What is open below it keeps the kernel's idea of the directory, which is that it is removed.
TEST(Restored, S49_ADirectoryComesBackWhileAFileOfItIsOpen) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    for (const bool replaced : {false, true}) {
        std::filesystem::create_directories(served.path("d/below"));
        served.write("d/f", "f");
        served.write("d/below/g", "g");
        std::filesystem::create_directory(served.path("e"));
        ASSERT_EQ(served.order("checkpoint"), "ok");
        const auto one = sys::open_at(AT_FDCWD, served.path("d/f"), O_RDONLY | O_CLOEXEC);
        const auto two = sys::open_at(AT_FDCWD, served.path("d/below"), O_PATH | O_CLOEXEC);
        ASSERT_TRUE(one.ok() && two.ok());
        for (const auto& entry : std::filesystem::directory_iterator(served.path("d")))
            std::filesystem::remove_all(entry.path());
        if (replaced) {
            std::filesystem::rename(served.path("e"), served.path("d"));
        } else {
            std::filesystem::remove(served.path("d"));
        }
        ASSERT_EQ(served.order("rollback"), "ok");
        EXPECT_EQ(served.read("d/f"), "f");
        EXPECT_EQ(served.read("d/below/g"), "g");
        served.write("d/new", "new");
        std::size_t listed = 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(served.path("d")))
            listed += entry.path().empty() ? 0U : 1U;
        EXPECT_EQ(listed, 4U);
        std::filesystem::remove_all(served.path("d"));
        ASSERT_EQ(served.order("rollback"), "ok");
        EXPECT_EQ(served.read("d/f"), "f");
        EXPECT_EQ(served.order("checkpoint"), "ok");
    }
}

TEST(Restored, TheWorkingDirectoryStaysReachable) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    std::filesystem::create_directories(served.path("a/b"));
    served.write("a/b/f", "1");
    ASSERT_EQ(served.order("checkpoint"), "ok");
    const WorkingDirectory inside(served.path("a/b"));
    served.write("a/b/f", "2");
    served.write("a/b/g", "2");
    EXPECT_EQ(served.order("rollback"), "ok");
    EXPECT_TRUE(std::filesystem::exists("f"));
    EXPECT_FALSE(std::filesystem::exists("g"));
    EXPECT_TRUE(std::filesystem::exists(served.path("a/b/f")));
    std::error_code error;
    EXPECT_EQ(std::filesystem::current_path(error), served.path("a/b")) << error.message();
}

// What was removed stays known to the kernel beside what came back, as long as somebody has it
// open.
TEST(Restored, TheWorkingDirectoryStaysReachableWhenTheRemovedOneIsClosed) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    std::filesystem::create_directories(served.path("a/b"));
    served.write("a/b/f", "1");
    ASSERT_EQ(served.order("checkpoint"), "ok");
    auto removed = sys::open_at(AT_FDCWD, served.path("a/b"), O_PATH | O_CLOEXEC);
    ASSERT_OK(removed);
    std::filesystem::remove_all(served.path("a/b"));
    ASSERT_EQ(served.order("rollback"), "ok");
    const WorkingDirectory inside(served.path("a/b"));
    *removed = UniqueFd();
    for (int i = 0; i < 10; ++i) {
        served.write("a/new", "names are looked up again after a restore of names");
        ASSERT_EQ(served.order("rollback"), "ok");
        EXPECT_EQ(served.read("a/b/f"), "1");
        std::error_code error;
        EXPECT_EQ(std::filesystem::current_path(error), served.path("a/b")) << error.message();
    }
}

}  // namespace
}  // namespace unwrite::tests
