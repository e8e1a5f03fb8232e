// Content and attributes through the mount.
#include <sys/file.h>
#include <sys/xattr.h>

#include <array>

#include "tests/fs/served.h"

namespace unwrite::tests {
namespace {

UniqueFd open_file(const Served& served, const std::string& name, int flags) {
    auto fd = sys::open_at(AT_FDCWD, served.path(name), flags | O_CLOEXEC, 0644);
    EXPECT_EQ(failure_of(fd), "");
    return fd ? std::move(*fd) : UniqueFd();
}

TEST(Files, AWriteIsInTheRealFileWhenItReturns) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    const UniqueFd fd = open_file(served, "f", O_RDWR | O_CREAT);
    ASSERT_OK(sys::write_all_at(fd.get(), bytes_of("0123456789"), 0));
    EXPECT_EQ(served.read_raw("f"), "0123456789");
    ASSERT_OK(sys::write_all_at(fd.get(), bytes_of("xyz"), 4));
    EXPECT_EQ(served.read_raw("f"), "0123xyz789");
    const UniqueFd appender = open_file(served, "f", O_WRONLY | O_APPEND);
    ASSERT_EQ(::write(appender.get(), "!", 1), 1);
    EXPECT_EQ(served.read_raw("f"), "0123xyz789!");
    ASSERT_OK(sys::truncate(fd.get(), 4));
    EXPECT_EQ(served.read_raw("f"), "0123");
    const UniqueFd truncated = open_file(served, "f", O_WRONLY | O_TRUNC);
    EXPECT_EQ(served.read_raw("f"), "");
}

TEST(Files, LargeTransfersComeInPieces) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    std::string data(5U << 20U, '\0');
    for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = static_cast<char>(i * 31 >> 8U);
    served.write("big", data);
    EXPECT_EQ(served.read_raw("big"), data);
    EXPECT_EQ(served.read("big"), data);
}

TEST(Files, HolesRangesAndCopies) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    const UniqueFd fd = open_file(served, "f", O_RDWR | O_CREAT);
    ASSERT_OK(sys::truncate(fd.get(), 1U << 20U));
    ASSERT_OK(sys::write_all_at(fd.get(), bytes_of("middle"), 512U << 10U));
    ASSERT_ASSIGN(const std::uint64_t data, sys::seek(fd.get(), 0, SEEK_DATA));
    EXPECT_EQ(data, 512U << 10U);
    ASSERT_OK(sys::fallocate(fd.get(), 0, 1U << 20U, 4096));
    EXPECT_EQ(std::filesystem::file_size(served.path("f")), (1U << 20U) + 4096U);
    const UniqueFd copy = open_file(served, "copy", O_RDWR | O_CREAT);
    ASSERT_ASSIGN(const std::size_t copied,
                  sys::copy_range(fd.get(), 512U << 10U, copy.get(), 0, 6));
    EXPECT_EQ(copied, 6U);
    EXPECT_EQ(served.read_raw("copy"), "middle");
}

TEST(Files, AnUnlinkedFileStaysReadable) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    served.write("f", "still here");
    const UniqueFd fd = open_file(served, "f", O_RDWR);
    std::filesystem::remove(served.path("f"));
    ASSERT_OK(sys::write_all_at(fd.get(), bytes_of("S"), 0));
    std::array<std::byte, 10> read = {};
    ASSERT_OK(sys::read_exactly_at(fd.get(), read, 0));
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(read.data()), read.size()), "Still here");
}

TEST(Files, UnnamedFilesGetANameLater) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    const auto fd = sys::open_at(AT_FDCWD, served.path(), O_TMPFILE | O_RDWR, 0600);
    if (number_of(fd) == EOPNOTSUPP) GTEST_SKIP() << "libfuse before 3.15";
    ASSERT_OK(fd);
    ASSERT_OK(sys::write_all_at(fd->get(), bytes_of("born late"), 0));
    ASSERT_OK(sys::link_fd(fd->get(), AT_FDCWD, served.path("named")));
    EXPECT_EQ(served.read_raw("named"), "born late");
}

TEST(Files, ExtendedAttributes) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    const UniqueFd fd = open_file(served, "f", O_RDWR | O_CREAT);
    ASSERT_OK(sys::set_xattr(fd.get(), "user.colour", std::string("r\0d", 3), 0));
    ASSERT_ASSIGN(const std::string value, sys::get_xattr(fd.get(), "user.colour"));
    EXPECT_EQ(value, std::string("r\0d", 3));
    EXPECT_NUMBER(ENODATA, sys::get_xattr(fd.get(), "user.none"));
    char tiny = 0;
    EXPECT_EQ(::fgetxattr(fd.get(), "user.colour", &tiny, 1), -1);
    EXPECT_NUMBER(ERANGE, Result<>(sys::last_error()));
    ASSERT_ASSIGN(const auto names, sys::list_xattrs(fd.get()));
    EXPECT_EQ(names, std::vector<std::string>{"user.colour"});
    ASSERT_OK(sys::remove_xattr(fd.get(), "user.colour"));
    ASSERT_ASSIGN(const auto none, sys::list_xattrs(fd.get()));
    EXPECT_TRUE(none.empty());
}

TEST(Files, TimesAreSetToTheNanosecond) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    served.write("f", "x");
    const struct timespec times[2] = {{1, 2}, {1'000'000'000, 123'456'789}};
    ASSERT_EQ(::utimensat(AT_FDCWD, served.path("f").c_str(), times, 0), 0);
    ASSERT_ASSIGN(const struct stat st, sys::stat_at(served.raw(), "f"));
    EXPECT_EQ(st.st_mtim.tv_sec, 1'000'000'000);
    EXPECT_EQ(st.st_mtim.tv_nsec, 123'456'789);
    ASSERT_ASSIGN(const struct stat seen, sys::stat_at(AT_FDCWD, served.path("f")));
    EXPECT_EQ(seen.st_mtim.tv_nsec, 123'456'789);
    EXPECT_EQ(seen.st_ino, st.st_ino);
    EXPECT_EQ(seen.st_nlink, 1U);
}

TEST(Files, LocksAreTheKernels) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    const UniqueFd one = open_file(served, "f", O_RDWR | O_CREAT);
    const UniqueFd two = open_file(served, "f", O_RDWR);
    EXPECT_EQ(::flock(one.get(), LOCK_EX | LOCK_NB), 0);
    EXPECT_EQ(::flock(two.get(), LOCK_EX | LOCK_NB), -1);
    struct flock range = {};
    range.l_type = F_WRLCK;
    EXPECT_EQ(::fcntl(one.get(), F_SETLK, &range), 0);
}

TEST(Files, DirectInputAndOutput) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    const UniqueFd fd = open_file(served, "f", O_RDWR | O_CREAT | O_DIRECT);
    alignas(4096) static std::array<std::byte, 4096> page;
    page.fill(std::byte{'d'});
    ASSERT_OK(sys::write_all_at(fd.get(), page, 0));
    EXPECT_EQ(served.read_raw("f"), std::string(4096, 'd'));
    alignas(4096) static std::array<std::byte, 4096> back;
    ASSERT_OK(sys::read_exactly_at(fd.get(), back, 0));
    EXPECT_EQ(back, page);
}

TEST(Files, TheFilesystemHasASize) {
    Served served;
    SKIP_WITHOUT_MOUNT(served);
    const auto space = std::filesystem::space(served.path());
    EXPECT_GT(space.capacity, 0U);
    EXPECT_GT(space.free, 0U);
}

}  // namespace
}  // namespace unwrite::tests
