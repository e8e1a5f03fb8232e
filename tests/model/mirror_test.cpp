// The same random operations through a tree and on a plain directory must give the same answers and
// the same result.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "tests/model/generator.h"
#include "tests/model/minimise.h"
#include "tests/support/plain_actor.h"
#include "tests/support/scratch.h"
#include "tests/support/thorough.h"
#include "tests/support/world.h"

namespace unwrite::tests {
namespace {

struct Pair {
    Scratch plain_scratch;
    Scratch tree_scratch;
    PlainActor plain{plain_scratch.path()};
    World world{tree_scratch.path()};
    std::size_t steps = 0;

    std::string step(const Operation& operation) {
        const int expected = apply(plain, operation);
        const int got = apply(world.actor(), operation);
        if (expected == got) return ++steps % 6 == 0 ? world.compare_counts() : "";
        return text_of(operation) + ": a plain directory says " + std::strerror(expected) +
               ", the tree " + std::strerror(got);
    }
    std::string compare() const {
        return difference(snapshot(plain_scratch.path()), world.look(), Times::kIgnore);
    }
};

std::string run_list(const Operations& operations) {
    Pair pair;
    for (const Operation& operation : operations) {
        std::string wrong = pair.step(operation);
        if (!wrong.empty()) return wrong;
    }
    return pair.compare();
}

void random_run(std::uint64_t seed, std::size_t count) {
    Pair pair;
    Generator generator(seed, {.moves = false, .agents = false});
    Operations done;
    std::string wrong;
    while (done.size() < count && wrong.empty()) {
        done.push_back(generator.next(list_tree(pair.plain_scratch.path())));
        wrong = pair.step(done.back());
        if (wrong.empty() && done.size() % 20 == 0) wrong = pair.compare();
        // Now and then an interval ends, which must change nothing that is seen.
        if (done.size() % 50 == 0) {
            ASSERT_OK(pair.world.operations().checkpoint(World::asker(), journal::NodeKind::kStep,
                                                         "", ""));
        }
    }
    if (wrong.empty()) return;
    const auto fails = [](const Operations& list) { return !run_list(list).empty(); };
    const bool again = fails(done);
    const Operations shortest = again ? minimise(done, fails, std::chrono::seconds(30)) : done;
    ADD_FAILURE() << "UNWRITE_SEED=" << seed << ", operation " << done.size() << ": " << wrong
                  << "\nshortest list (" << shortest.size() << "):\n"
                  << text_of(shortest) << "there it says: " << run_list(shortest);
}

TEST(Mirror, SameAnswersAsAPlainDirectory) {
    const char* asked = std::getenv("UNWRITE_SEED");
    const std::uint64_t first = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 1;
    const std::uint64_t last = asked != nullptr ? first : is_long() ? 60 : 6;
    for (std::uint64_t seed = first; seed <= last && !HasFailure(); ++seed) {
        if (asked != nullptr || is_taken(seed)) random_run(seed, is_long() ? 1000 : 500);
    }
}

}  // namespace
}  // namespace unwrite::tests
