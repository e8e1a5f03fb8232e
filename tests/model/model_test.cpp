// Random operations of all kinds on a session; every restore must bring back exactly what a node
// was. UNWRITE_LONG=1 makes it long and random, UNWRITE_SEED=n repeats one run.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>

#include "tests/model/agent_process.h"
#include "tests/model/generator.h"
#include "tests/model/minimise.h"
#include "tests/model/moves.h"
#include "tests/support/packing.h"
#include "tests/support/plain_actor.h"
#include "tests/support/scratch.h"
#include "tests/support/thorough.h"

namespace unwrite::tests {
namespace {

struct Outcome {
    Operations done;
    std::string wrong;  // the last of `done` found it
};

std::string attempt(Moves& moves, const Operation& operation) {
    try {
        return moves.step(operation);
    } catch (const std::exception& failure) {
        return std::string("exception: ") + failure.what();
    }
}

// Some old files, so that the first interval has something to lose.
void furnish(const std::string& directory) {
    PlainActor actor(directory);
    actor.mkdir("a", 0755);
    actor.mkdir("a/b", 0750);
    actor.mkdir("c", 02775);
    for (const char* path : {"b", "a/a", "a/b/c", "c/a", "c/h"}) {
        actor.create(path, 0644);
        actor.write(path, 0, random_bytes(std::string(path).size(), 100'000));
    }
    actor.truncate("c/h", 280'000);
    actor.link("b", "c/b");
    actor.symlink("h", "a/a");
    actor.set_xattr("a/a", "user.a", "old", 0);
}

// Where `packs`, what is sealed is compressed all the time.
Outcome run_random(std::uint64_t seed, std::size_t count, pid_t agent, bool packs) {
    const Scratch scratch;
    furnish(scratch.path());
    Moves moves(scratch.path(), agent);
    Generator generator(seed, {});
    Outcome outcome;
    while (outcome.done.size() < count && outcome.wrong.empty()) {
        outcome.done.push_back(generator.next(list_tree(scratch.path())));
        outcome.wrong = attempt(moves, outcome.done.back());
        if (!packs || !outcome.wrong.empty() || outcome.done.size() % 5 != 0) continue;
        outcome.done.push_back({.kind = Kind::kPack});
        outcome.wrong = attempt(moves, outcome.done.back());
    }
    const Operation last[] = {
        {.kind = Kind::kCheck}, {.kind = Kind::kDiscard, .x = 1}, {.kind = Kind::kCheck}};
    for (const Operation& operation : last) {
        if (!outcome.wrong.empty()) break;
        outcome.done.push_back(operation);
        outcome.wrong = attempt(moves, operation);
    }
    return outcome;
}

std::string run_list(const Operations& operations, pid_t agent) {
    const Scratch scratch;
    furnish(scratch.path());
    Moves moves(scratch.path(), agent);
    for (const Operation& operation : operations) {
        std::string wrong = attempt(moves, operation);
        if (!wrong.empty()) return wrong;
    }
    return {};
}

std::string kind_of_failure(const std::string& wrong) {
    return wrong.substr(0, wrong.find(':'));
}

void random_run(std::uint64_t seed, std::size_t count, bool packs = false) {
    const AgentProcess agent;
    const Outcome outcome = run_random(seed, count, agent.pid(), packs || packs_at_once());
    if (outcome.wrong.empty()) return;
    const std::string kind = kind_of_failure(outcome.wrong);
    const auto fails = [&](const Operations& list) {
        return kind_of_failure(run_list(list, agent.pid())) == kind;
    };
    const bool again = fails(outcome.done);
    const Operations shortest =
        again ? minimise(outcome.done, fails, std::chrono::seconds(is_long() ? 240 : 60))
              : outcome.done;
    ADD_FAILURE() << "UNWRITE_SEED=" << seed << ", operation " << outcome.done.size() << ": "
                  << outcome.wrong
                  << (again ? "\nshortest list that fails so"
                            : "\nit does not fail again; the whole list")
                  << " (" << shortest.size() << "):\n"
                  << text_of(shortest)
                  << "there it says: " << (again ? run_list(shortest, agent.pid()) : "");
}

std::uint64_t asked_seed() {
    const char* text = std::getenv("UNWRITE_SEED");
    return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

TEST(Model, RandomOperationsS49) {
    if (const std::uint64_t seed = asked_seed(); seed != 0)
        return random_run(seed, is_long() ? 1000 : 500);
    for (std::uint64_t seed = 1; seed <= 6 && !HasFailure(); ++seed) {
        if (is_taken(seed)) random_run(seed, 500);
    }
}

TEST(Model, RandomOperationsOnCompressedBytesS49) {
    for (const std::uint64_t seed : {11U, 12U, 13U}) {
        if (is_taken(seed) && !HasFailure()) random_run(seed, 500, true);
    }
}

TEST(Model, LongRandomOperationsS49) {
    if (!is_long()) GTEST_SKIP() << "UNWRITE_LONG=1 runs it";
    if (asked_seed() != 0) GTEST_SKIP() << "UNWRITE_SEED repeats one run";
    std::random_device device;
    for (std::size_t done = 0; done < 100'000 && !HasFailure(); done += 1000) {
        const std::uint64_t seed = device() % 1'000'000'000 + 1000;
        std::cout << "seed " << seed << std::endl;
        random_run(seed, 1000, done % 2000 != 0);
    }
}

}  // namespace
}  // namespace unwrite::tests
