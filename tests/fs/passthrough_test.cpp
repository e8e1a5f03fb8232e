// The kernel reads and writes by itself, and nothing escapes all the same. (Every other test of
// this folder runs on this path as well, see CMakeLists.txt.)
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <vector>

#include "base/writers.h"
#include "tests/fs/served.h"

namespace unwrite::tests {
namespace {

class Passthrough : public ::testing::Test {
 protected:
    static constexpr std::size_t kLarge = 1'000'000;

    void SetUp() override {
        ::setenv("UNWRITE_DATA_PATH", "passthrough", 1);
        served_.emplace();
        SKIP_WITHOUT_MOUNT(*served_);
        const auto can = fs::can_pass_through(served_->raw());
        if (!can) GTEST_SKIP() << can.error().message();
        served_->write("large", std::string(kLarge, 'o'));
        served_->write("small", "small");
        ASSERT_EQ(served_->order("checkpoint"), "ok");
    }
    void TearDown() override {
        served_.reset();
        ::unsetenv("UNWRITE_DATA_PATH");
    }
    UniqueFd open(const std::string& name, int flags) const {
        auto fd = sys::open_at(AT_FDCWD, served_->path(name), flags | O_CLOEXEC, 0644);
        EXPECT_TRUE(fd.ok()) << name << ": " << (fd ? "" : fd.error().message());
        return fd ? *std::move(fd) : UniqueFd();
    }
    static void write(const UniqueFd& fd, std::string_view text, std::uint64_t offset) {
        ASSERT_OK(sys::write_all_at(fd.get(), std::as_bytes(std::span(text)), offset));
    }
    static std::string read(const UniqueFd& fd, std::size_t size, std::uint64_t offset) {
        std::string text(size, '\0');
        auto got = sys::read_at(fd.get(), std::as_writable_bytes(std::span(text)), offset);
        EXPECT_TRUE(got.ok());
        text.resize(got ? *got : 0);
        return text;
    }
    static char* map(const UniqueFd& fd, std::size_t size) {
        void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
        EXPECT_NE(at, MAP_FAILED);
        return static_cast<char*>(at);
    }
    void expect_taken_back() {
        EXPECT_EQ(served_->order("rollback"), "ok");
        EXPECT_TRUE(served_->read_raw("large") == std::string(kLarge, 'o'));
        EXPECT_TRUE(served_->read("large") == std::string(kLarge, 'o'));
        EXPECT_EQ(served_->read_raw("small"), "small");
        EXPECT_EQ(served_->read("small"), "small");
    }

    std::optional<Served> served_;
};

// In any order, so that each of the ways to open meets a file that is open in each of the others.
TEST_F(Passthrough, S48_S73_every_open_beside_every_other) {
    constexpr int kWays[] = {O_RDONLY, O_WRONLY, O_RDWR, O_WRONLY | O_APPEND};
    for (const char* name : {"large", "small"}) {
        for (const int first : kWays) {
            for (const int second : kWays) {
                const UniqueFd one = open(name, first);
                const UniqueFd two = open(name, second);
                for (const UniqueFd* fd : {&one, &two}) {
                    const int flags = fd == &one ? first : second;
                    const std::string mark = std::to_string(first) + "," + std::to_string(second);
                    if ((flags & O_APPEND) == 0 && (flags & O_ACCMODE) != O_RDONLY) {
                        write(*fd, mark, 1);
                        EXPECT_EQ(served_->read(name).substr(1, mark.size()), mark);
                    }
                    if ((flags & O_ACCMODE) != O_WRONLY) {
                        EXPECT_EQ(read(*fd, 2, 1), served_->read_raw(name).substr(1, 2));
                    }
                }
                expect_taken_back();
            }
        }
    }
}

TEST_F(Passthrough, S48_a_store_through_a_mapping_beside_a_reader) {
    for (const char* name : {"large", "small"}) {
        const UniqueFd reader = open(name, O_RDONLY);
        UniqueFd writer = open(name, O_RDWR);
        char* const bytes = map(writer, 5);
        writer.reset();
        bytes[1] = 'X';
        EXPECT_EQ(read(reader, 1, 1), "X");
        expect_taken_back();
        EXPECT_NE(bytes[1], 'X');
        bytes[1] = 'Y';
        EXPECT_EQ(read(reader, 1, 1), "Y");
        expect_taken_back();
        ::munmap(bytes, 5);
    }
}

// Pages that were read while it was cached must not be shown when it is cached again.
TEST_F(Passthrough, S73_no_page_of_before_is_shown) {
    {
        const UniqueFd cached = open("large", O_RDWR);
        EXPECT_EQ(read(cached, 3, 5000), "ooo");
    }
    {
        const UniqueFd reader = open("large", O_RDONLY);
        const UniqueFd writer = open("large", O_RDWR);
        char* const bytes = map(writer, kLarge);
        bytes[5001] = 'X';
        ::munmap(bytes, kLarge);
    }
    ASSERT_EQ(served_->order("checkpoint"), "ok");
    const UniqueFd again = open("large", O_RDWR);
    EXPECT_EQ(read(again, 3, 5000), "oXo");
}

TEST_F(Passthrough, S67_who_writes_on_after_a_kill_changes_nothing_that_was_kept) {
    const UniqueFd writer = open("small", O_WRONLY);
    write(writer, "one", 0);
    ASSERT_EQ(served_->order("checkpoint"), "ok");
    served_->kill_daemon();
    served_->wait_for_exit();
    write(writer, "two", 0);
    EXPECT_EQ(served_->read_raw("small"), "twoll");
    ASSERT_ASSIGN(UniqueFd workspace, sys::duplicate(served_->raw()));
    ASSERT_ASSIGN(const auto session, overlay::Session::open(std::move(workspace), {}));
    const overlay::Asker asker{0, ::getpid(), ""};
    ASSERT_OK(session->operations().rollback(asker, "", false, overlay::Consent::kAll));
    EXPECT_EQ(served_->read_raw("small"), "onell");
    ASSERT_OK(session->operations().discard(asker, false, overlay::Consent::kAll));
}

// What the kernel was given to open the file by must not count as somebody who writes to it.
TEST_F(Passthrough, S67_S160_who_has_closed_writes_no_more) {
    const auto is_written = [&] {
        const auto path = sys::open_at(served_->raw(), "small", O_PATH | O_CLOEXEC);
        EXPECT_TRUE(path.ok());
        bool yes = true;
        for (int tries = 0; yes && tries < 2000; ++tries) {
            if (tries != 0) ::usleep(10'000);  // a close is told a moment later
            const auto answer = sys::is_open_for_writing(path->get());
            EXPECT_TRUE(answer.ok());
            yes = !answer || *answer;
        }
        return yes;
    };
    UniqueFd writer = open("small", O_RDWR);
    const UniqueFd reader = open("small", O_RDONLY);
    write(writer, "one", 0);
    writer.reset();
    EXPECT_FALSE(is_written()) << "beside a reader";
    writer = open("small", O_RDWR);
    served_->kill_daemon();
    served_->wait_for_exit();
    writer.reset();
    EXPECT_FALSE(is_written()) << "of a daemon that is gone";
}

TEST_F(Passthrough, S80_many_at_once_with_checkpoints) {
    std::vector<pid_t> writers;
    for (int i = 0; i < 8; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            for (int n = 0; n < 100; ++n) {
                const std::string name = n % 3 == 0 ? "large" : "small";
                const auto fd = sys::open_at(AT_FDCWD, served_->path(name),
                                             (n + i) % 2 == 0 ? O_RDWR : O_WRONLY);
                if (!fd) ::_exit(fd.error().number());
                const auto wrote = sys::write_all_at(fd->get(), std::as_bytes(std::span("abc", 3)),
                                                     static_cast<std::uint64_t>(n));
                if (!wrote) ::_exit(wrote.error().number() + 100);
            }
            ::_exit(0);
        }
        writers.push_back(child);
    }
    for (int n = 0; n < 5; ++n)
        EXPECT_EQ(served_->order("checkpoint"), "ok");
    for (const pid_t writer : writers) {
        int status = 0;
        ::waitpid(writer, &status, 0);
        EXPECT_EQ(WEXITSTATUS(status), 0) << "errno; of the write when above 100";
    }
    EXPECT_EQ(served_->order("rollback"), "ok");
    EXPECT_TRUE(served_->read("large") == served_->read_raw("large"));
    EXPECT_EQ(served_->order("discard"), "ok");
    EXPECT_NE(::faccessat(served_->raw(), "large", F_OK, 0), 0);
}

}  // namespace
}  // namespace unwrite::tests
