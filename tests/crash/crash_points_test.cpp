// The program killed at every crash point, one after the other; what is left must recover to a
// legal state, exactly.
#include <gtest/gtest.h>

#include <iostream>

#include "tests/crash/child.h"
#include "tests/crash/scenarios.h"
#include "tests/crash/verify.h"
#include "tests/support/thorough.h"

namespace unwrite::tests {
namespace {

constexpr std::size_t kShown = 5;  // divergences told in full

class CrashPoints : public testing::TestWithParam<std::string> {
 protected:
    ~CrashPoints() override {
        std::cout << GetParam() << ": " << kills_ << " kills, " << divergences_ << " divergences"
                  << std::endl;
    }

    /// Kills at the n-th point; false when the scenario ended before.
    bool kill_at(std::size_t n, bool again) {
        const Site site;
        const Ended ended = run_driver({"run", GetParam(), site.directory(), site.progress()},
                                       "*:" + std::to_string(n));
        EXPECT_NE(ended, Ended::kFailed) << "at point " << n;
        if (ended != Ended::kKilled) return false;
        ++kills_;
        if (again) kill_recovery(site);
        note(n, site.verify(GetParam(), reference_));
        return true;
    }

    /// Of the points from `n` on, those that this build takes, until the scenario ends before one.
    void kill_at_each(std::size_t n, std::size_t step, bool again) {
        for (std::size_t i = 0; !is_taken(i) || kill_at(n, again); ++i)
            n += step;
    }

    /// Recovery is killed at its first point, the next one at a later one, and so on until one gets
    /// through.
    void kill_recovery(const Site& site) {
        std::size_t m = 1;
        for (; run_driver({"open", site.directory()}, "*:" + std::to_string(m)) == Ended::kKilled;
             m += long_ ? 1 : 1 + m / 2)
            ++kills_;
    }

    void note(std::size_t n, const std::string& wrong) {
        if (wrong.empty()) return;
        if (++divergences_ <= kShown)
            ADD_FAILURE() << GetParam() << ", killed at *:" << n << ": " << wrong;
    }

    const bool long_ = is_long();
    const Reference reference_ = make_reference(GetParam());
    std::size_t kills_ = 0;
    std::size_t divergences_ = 0;
};

TEST_P(CrashPoints, KilledAtThemS49S67S166) {
    // The short form takes every sixth, beginning somewhere else in each scenario.
    kill_at_each(long_ ? 1 : 1 + GetParam().size() % 4, long_ ? 1 : 6, false);
    EXPECT_EQ(divergences_, 0U);
    EXPECT_GT(kills_, kSanitizer == Sanitizer::kNone ? 10U : 3U);
}

TEST_P(CrashPoints, KilledInRecoveryTooS49S67) {
    kill_at_each(3, long_ ? 1 : 61, true);
    EXPECT_EQ(divergences_, 0U);
    EXPECT_GT(kills_, 0U);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, CrashPoints, testing::ValuesIn(scenario_names()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace unwrite::tests
