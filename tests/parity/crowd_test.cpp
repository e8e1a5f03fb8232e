// A directory of a hundred thousand names, and one that changes while it is listed.
#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "tests/parity/runner.h"
#include "tests/support/thorough.h"

namespace unwrite::tests::parity {
namespace {

/// A million names in the long form.
const std::size_t kFiles = is_long() ? 100 : 10;
constexpr int kNamesOfEach = 10'000;

/// Ten files with ten thousand names each: quick to make, and listed like any others.
void make_crowd(const std::string& directory) {
    std::filesystem::create_directory(directory);
    const auto fd = sys::open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
    ASSERT_OK(fd);
    for (std::size_t file = 0; file < kFiles; ++file) {
        const std::string name = "f" + std::to_string(file) + "-0";
        ASSERT_OK(sys::open_at(fd->get(), name, O_WRONLY | O_CREAT | O_EXCL, 0644));
        for (int i = 1; i < kNamesOfEach; ++i) {
            const std::string next = "f" + std::to_string(file) + "-" + std::to_string(i);
            ASSERT_OK(sys::link(fd->get(), name, fd->get(), next));
        }
    }
}

/// Sorted; "." and ".." included.
std::vector<std::string> list(const std::string& directory) {
    std::vector<std::string> names;
    DIR* stream = ::opendir(directory.c_str());
    while (stream != nullptr) {
        const dirent* entry = ::readdir(stream);
        if (entry == nullptr) break;
        names.emplace_back(entry->d_name);
    }
    if (stream != nullptr) ::closedir(stream);
    std::sort(names.begin(), names.end());
    return names;
}

class Crowd : public ::testing::Test {
 protected:
    void SetUp() override {
        if (const std::string why = why_not_here(); !why.empty()) GTEST_SKIP() << why;
        for (const char* name : {"work", "home"})
            std::filesystem::create_directory(scratch_.path() / name);
        make_crowd(crowd());
        names_ = list(crowd());
        mounted_ = std::make_unique<Mounted>((scratch_.path() / "work").string(),
                                             (scratch_.path() / "home").string());
        ASSERT_EQ(mounted_->failure(), "");
    }
    std::string crowd() const { return (scratch_.path() / "work" / "crowd").string(); }

    Scratch scratch_;
    std::vector<std::string> names_;  ///< as listed without a mount
    std::unique_ptr<Mounted> mounted_;
};

TEST_F(Crowd, S45_a_hundred_thousand_names_are_listed_once_each) {
    ASSERT_EQ(names_.size(), std::size_t{kFiles} * kNamesOfEach + 2);
    EXPECT_TRUE(list(crowd()) == names_);
    EXPECT_TRUE(list(crowd()) == names_) << "the second time, from the kernel's caches";
}

/// Makes and removes names until it is killed.
[[noreturn]] void disturb(const std::string& directory) {
    for (unsigned i = 0;; ++i) {
        const std::string path = directory + "/new" + std::to_string(i % 50);
        ::close(::open(path.c_str(), O_WRONLY | O_CREAT, 0600));
        ::rename(path.c_str(), (directory + "/moved").c_str());
        ::unlink((directory + "/new" + std::to_string((i + 25) % 50)).c_str());
    }
}

TEST_F(Crowd, S60_names_that_stay_are_listed_once_while_others_come_and_go) {
    const pid_t child = ::fork();
    if (child == 0) disturb(crowd());
    for (int turn = 0; turn < 3; ++turn) {
        std::vector<std::string> seen = list(crowd());
        std::erase_if(seen, [](const std::string& name) {
            return name.starts_with("new") || name == "moved";
        });
        EXPECT_TRUE(seen == names_) << seen.size() << " instead of " << names_.size();
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(mounted_->command({"discard", "--yes"}), "");
    EXPECT_TRUE(list(crowd()) == names_);
}

}  // namespace
}  // namespace unwrite::tests::parity
