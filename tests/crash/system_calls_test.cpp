// The program killed at system calls, by strace's injection: between any two of them, not only
// where a crash point stands.
#include <gtest/gtest.h>

#include <iostream>

#include "tests/crash/child.h"
#include "tests/crash/scenarios.h"
#include "tests/crash/verify.h"
#include "tests/support/thorough.h"

namespace unwrite::tests {
namespace {

constexpr const char* kCalls[] = {"renameat2", "linkat",   "unlinkat",  "pwrite64",
                                  "ftruncate", "fchmodat", "utimensat", "fallocate",
                                  "mkdirat",   "openat",   "lsetxattr", "copy_file_range"};

bool can_inject() {
    return has_program("strace") &&
           run_driver({"open", "/nonexistent"}, "",
                      {"strace", "-f", "-qq", "-o", "/dev/null", "-e",
                       "inject=openat:signal=KILL:when=1"}) == Ended::kKilled;
}

class SystemCalls : public testing::TestWithParam<std::string> {};

TEST_P(SystemCalls, KilledAtThemS49S67S166) {
    if (!can_inject()) GTEST_SKIP() << "strace cannot inject signals here";
    const Reference reference = make_reference(GetParam());
    std::size_t kills = 0;
    std::size_t divergences = 0;
    std::size_t number = GetParam().size();
    for (const char* call : kCalls) {
        if (!is_taken(number++)) continue;
        // The short form takes few of each; different ones in each scenario.
        const std::size_t first = is_long() ? 1 : 3 + GetParam().size() % 5;
        const std::size_t last = is_long() ? 5000 : 20;
        for (std::size_t n = first; n <= last; n += is_long() ? 1U : 18U) {
            const Site site;
            const std::string inject =
                std::string("inject=") + call + ":signal=KILL:when=" + std::to_string(n);
            const Ended ended =
                run_driver({"run", GetParam(), site.directory(), site.progress()}, "",
                           {"strace", "-f", "-qq", "-o", "/dev/null", "-e",
                            std::string("trace=") + call, "-e", inject});
            if (ended == Ended::kWell) break;
            ++kills;
            const std::string wrong = site.verify(GetParam(), reference);
            if (wrong.empty()) continue;
            if (++divergences <= 5)
                ADD_FAILURE() << GetParam() << ", killed at " << call << " " << n << ": " << wrong;
        }
    }
    std::cout << GetParam() << ": " << kills << " kills, " << divergences << " divergences"
              << std::endl;
    EXPECT_EQ(divergences, 0U);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, SystemCalls, testing::ValuesIn(scenario_names()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace unwrite::tests
