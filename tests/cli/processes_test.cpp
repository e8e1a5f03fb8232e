#include "cli/processes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>

#include "base/syscalls.h"
#include "tests/cli/scratch.h"

namespace unwrite::cli {
namespace {

/// A process that does `prepare` and then waits to be ended.
class Sleeper {
 public:
    template <class Prepare>
    explicit Sleeper(const Prepare& prepare) {
        int ready[2];
        EXPECT_EQ(::pipe(ready), 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            prepare();
            if (::write(ready[1], "x", 1) != 1) ::_exit(1);
            for (;;)
                ::pause();
        }
        char byte = 0;
        EXPECT_EQ(::read(ready[0], &byte, 1), 1);
        const UniqueFd one(ready[0]);
        const UniqueFd other(ready[1]);
    }
    ~Sleeper() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;
    pid_t pid() const { return pid_; }

 private:
    pid_t pid_ = 0;
};

const User* find(const std::vector<User>& users, pid_t pid) {
    const auto found = std::find_if(users.begin(), users.end(),
                                    [pid](const User& user) { return user.pid == pid; });
    return found == users.end() ? nullptr : &*found;
}

TEST(Processes, ThoseThatStandInADirectoryAreFound) {
    const Scratch scratch;
    std::filesystem::create_directories(scratch / "d/e");
    const Sleeper inside([&] { ASSERT_EQ(::chdir((scratch / "d/e").c_str()), 0); });
    const Sleeper outside([&] { ASSERT_EQ(::chdir("/"), 0); });
    const std::vector<User> users = users_below(scratch / "d", View::kAny, 0);
    ASSERT_NE(find(users, inside.pid()), nullptr);
    EXPECT_TRUE(find(users, inside.pid())->directory);
    EXPECT_FALSE(find(users, inside.pid())->files);
    EXPECT_EQ(find(users, outside.pid()), nullptr);
    EXPECT_NE(user_words(users).find(std::to_string(inside.pid())), std::string::npos);
}

TEST(Processes, ThoseThatHoldFilesAreFoundByMount) {
    const Scratch scratch;
    scratch.write("file", "x");
    const Sleeper holder([&] {
        ASSERT_EQ(::chdir("/"), 0);
        Result<UniqueFd> fd = sys::open_at(AT_FDCWD, scratch / "file", O_RDONLY);
        ASSERT_TRUE(fd);
        fd->release();
    });
    const Result<UniqueFd> fd = sys::open_at(AT_FDCWD, scratch / "file", O_RDONLY);
    const std::uint64_t mount = mount_number(fd->get());
    EXPECT_NE(mount, 0u);
    const User* user = nullptr;
    std::vector<User> users = users_below(scratch.path(), View::kMount, mount);
    ASSERT_NE(user = find(users, holder.pid()), nullptr);
    EXPECT_TRUE(user->files);
    EXPECT_FALSE(user->directory);
    users = users_below(scratch.path(), View::kRaw, mount);
    EXPECT_EQ(find(users, holder.pid()), nullptr);
    users = users_below(scratch.path(), View::kRaw, mount + 100000);
    EXPECT_NE(find(users, holder.pid()), nullptr);
}

}  // namespace
}  // namespace unwrite::cli
