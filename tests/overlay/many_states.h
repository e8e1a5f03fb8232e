// What the tests of many states share: a file that each of them changed, and few descriptors.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>

#include "base/syscalls.h"
#include "tests/overlay/looking.h"

namespace unwrite::tests {

class ManyStates : public Looking {
 protected:
    static constexpr int kStates = 400;
    static constexpr std::size_t kBlock = std::size_t{64} << 10;
    static constexpr std::size_t kBlocks = 5;

    void SetUp() override {
        ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit_), 0);
        before("same", text_at(0));
        before("other", "0\n");
        begin();
        // Far below one for each state; what is open already does not count.
        rlimit lower = limit_;
        lower.rlim_cur = open_files() + 180;
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &lower), 0);
        for (int state = 1; state <= kStates; ++state) {
            change(state);
            nodes_.push_back(checkpoint());
        }
    }
    void TearDown() override {
        world_.reset();
        ::setrlimit(RLIMIT_NOFILE, &limit_);
    }
    static std::size_t open_files() {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
            count += entry.is_symlink() ? 1U : 0U;
        return count;
    }
    static std::string label(int state) { return "as of " + std::to_string(state) + "\n"; }
    /// One block of it is another one in each state.
    static std::string text_at(int state) {
        std::string text(kBlocks * kBlock, '.');
        for (std::size_t i = 0; i < kBlocks; ++i) {
            int last = state;
            while (last > 0 && static_cast<std::size_t>(last) % kBlocks != i)
                --last;
            text.replace(i * kBlock, label(last).size(), label(last));
        }
        return text;
    }
    void change(int state) {
        const std::size_t block = static_cast<std::size_t>(state) % kBlocks;
        ASSERT_EQ(actor().write("same", block * kBlock, label(state)), 0);
        ASSERT_EQ(actor().write("other", 0, std::to_string(state)), 0);
    }
    std::string same() const { return scratch_.read("work/same"); }
    const std::string& node(int state) const {
        return nodes_.at(static_cast<std::size_t>(state) - 1);
    }
    void expect_no_problem() {
        ASSERT_ASSIGN(const auto checked, operations().check(false));
        EXPECT_EQ(checked.problems, Lines());
    }

    rlimit limit_{};
    std::vector<std::string> nodes_;
};

}  // namespace unwrite::tests
