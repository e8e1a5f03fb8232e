// The targets on seeds that are mutated here, within the ordinary test run.
#include <gtest/gtest.h>

#include "tests/edit/random.h"
#include "tests/fuzz/targets.h"

namespace unwrite::fuzz {
namespace {

constexpr int kRuns = 2000;
constexpr std::string_view kTokens =
    "\n\r\n.\n..\n\"\\ END F R 1 I 2 @@ -1 +1 @@ --- +++ {}[]:,0-\xff";

// A few small changes: bytes replaced, removed, put in, and pieces copied to elsewhere.
std::string mutated(edit::Random& random, std::string text) {
    for (std::size_t changes = random.below(6) + 1; changes > 0; --changes) {
        const std::size_t at = random.below(text.size() + 1);
        switch (random.below(5)) {
            case 0:
                text.replace(at, 1, 1, static_cast<char>(random.below(256)));
                break;
            case 1:
                text.erase(at, random.below(12) + 1);
                break;
            case 2: {
                const std::size_t from = random.below(kTokens.size());
                text.insert(at, kTokens.substr(from, random.below(4) + 1));
                break;
            }
            case 3:
                text.insert(at, text.substr(random.below(text.size() + 1), random.below(40)));
                break;
            default:
                text.insert(at, 1, "\n\r. 12"[random.below(6)]);
                break;
        }
    }
    return text;
}

class AnyBytes : public testing::TestWithParam<std::string> {};

TEST_P(AnyBytes, KeepTheirPromises) {
    const Target target = target_named(GetParam());
    ASSERT_NE(target, nullptr);
    const auto& seeds = seeds_of(GetParam());
    ASSERT_FALSE(seeds.empty());
    for (const std::string& seed : seeds)
        target(seed);
    target("");
    edit::Random random(10);
    RecordProperty("seed", random.trace());
    std::printf("%s\n", random.trace().c_str());
    for (int run = 0; run < kRuns; ++run) {
        std::string input = mutated(random, random.one_of(seeds));
        if (random.chance(4)) input = mutated(random, input + random.one_of(seeds));
        if (random.chance(20)) input = random.bytes(300);
        target(input);
    }
}

INSTANTIATE_TEST_SUITE_P(Fuzz, AnyBytes, testing::ValuesIn(target_names()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace unwrite::fuzz
