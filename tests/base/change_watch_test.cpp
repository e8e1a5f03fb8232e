#include "base/change_watch.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "base/syscalls.h"
#include "tests/base/scratch.h"

namespace unwrite {
namespace {

using tests::Scratch;

constexpr ObjectKey kKey{7, 11};

class ChangeWatch : public ::testing::Test {
 protected:
    void SetUp() override {
        scratch_.write("f", "before");
        auto watch = sys::ChangeWatch::start(scratch_.fd());
        if (!watch) GTEST_SKIP() << "not here: " << watch.error().message();
        watch_ = *std::move(watch);
    }
    /// Another process does it.
    static void elsewhere(const std::function<bool()>& change) {
        const pid_t child = ::fork();
        if (child == 0) ::_exit(change() ? 0 : 1);
        int status = 1;
        ::waitpid(child, &status, 0);
        ASSERT_EQ(status, 0);
    }
    bool make(const std::string& name) const {
        return sys::make_node(scratch_.fd(), name, S_IFREG | 0600, 0).ok();
    }
    bool write() const { return ::pwrite(scratch_.open("f", O_WRONLY).get(), "after", 5, 0) == 5; }

    Scratch scratch_;
    std::unique_ptr<sys::ChangeWatch> watch_;
};

TEST_F(ChangeWatch, TellsWhatOthersDo) {
    ASSERT_TRUE(watch_->watch(scratch_.fd(), kKey).ok());
    elsewhere([&] { return write(); });
    auto changes = watch_->take();
    ASSERT_EQ(changes.each.size(), 1U);
    EXPECT_EQ(changes.each[0].directory, kKey);
    EXPECT_EQ(changes.each[0].name, "f");
    EXPECT_FALSE(changes.each[0].names);
    elsewhere([&] {
        return make("new") && sys::rename(scratch_.fd(), "new", scratch_.fd(), "newer").ok();
    });
    changes = watch_->take();
    ASSERT_EQ(changes.each.size(), 2U);
    for (const auto& change : changes.each) {
        EXPECT_TRUE(change.names);
        EXPECT_TRUE(change.name == "new" || change.name == "newer") << change.name;
    }
    elsewhere([&] { return ::fchmod(scratch_.open(".", O_RDONLY).get(), 0750) == 0; });
    changes = watch_->take();
    ASSERT_EQ(changes.each.size(), 1U);
    EXPECT_EQ(changes.each[0].name, ".");
    EXPECT_FALSE(changes.lost);
}

TEST_F(ChangeWatch, SaysNothingOfItsOwn) {
    ASSERT_TRUE(watch_->watch(scratch_.fd(), kKey).ok());
    ASSERT_TRUE(write() && make("new"));
    EXPECT_TRUE(watch_->take().each.empty());
}

TEST_F(ChangeWatch, OthersAreNotMergedWithItsOwn) {
    ASSERT_TRUE(watch_->watch(scratch_.fd(), kKey).ok());
    ASSERT_TRUE(write());
    elsewhere([&] { return write(); });
    ASSERT_TRUE(write());
    EXPECT_EQ(watch_->take().each.size(), 1U);
}

TEST_F(ChangeWatch, SaysWhenThereWasTooMuch) {
    ASSERT_TRUE(watch_->watch(scratch_.fd(), kKey).ok());
    elsewhere([&] {
        constexpr int kMoreThanAreQueued = 17'000;
        for (int i = 0; i < kMoreThanAreQueued; ++i) {
            if (!make("n" + std::to_string(i))) return false;
        }
        return true;
    });
    bool lost = false;
    for (auto changes = watch_->take(); !changes.each.empty() || changes.lost;
         changes = watch_->take())
        lost |= changes.lost;
    EXPECT_TRUE(lost);
}

TEST_F(ChangeWatch, EndsWhenItIsTold) {
    ASSERT_TRUE(watch_->watch(scratch_.fd(), kKey).ok());
    watch_->unwatch(scratch_.fd(), kKey);
    elsewhere([&] { return write(); });
    EXPECT_TRUE(watch_->take().each.empty());
    ASSERT_TRUE(watch_->watch(scratch_.fd(), kKey).ok());  // and begins again
    elsewhere([&] { return write(); });
    EXPECT_EQ(watch_->take().each.size(), 1U);
}

TEST_F(ChangeWatch, AFilesystemThatOthersMayChangeIsRefused) {
    const auto proc = sys::open_at(AT_FDCWD, "/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    ASSERT_TRUE(proc.ok());
    const auto watch = sys::ChangeWatch::start(proc->get());
    ASSERT_FALSE(watch.ok());
    EXPECT_EQ(watch.error().number(), ENOTSUP);
}

}  // namespace
}  // namespace unwrite
