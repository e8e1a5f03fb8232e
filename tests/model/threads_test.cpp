// Threads change their own and shared directories while checkpoints, undo and rollback run: nothing
// may hang, and a discard at the end must give the first state.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "tests/model/agent_process.h"
#include "tests/model/generator.h"
#include "tests/support/plain_actor.h"
#include "tests/support/scratch.h"
#include "tests/support/thorough.h"
#include "tests/support/world.h"

namespace unwrite::tests {
namespace {

/// Ends the process when it is not told in time that all went well: a deadlock must not look like
/// patience.
class Watchdog {
 public:
    explicit Watchdog(std::chrono::seconds limit) : thread_([this, limit] { watch(limit); }) {}
    ~Watchdog() {
        {
            const std::lock_guard lock(mutex_);
            done_ = true;
        }
        wake_.notify_all();
        thread_.join();
    }
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

 private:
    void watch(std::chrono::seconds limit) {
        std::unique_lock lock(mutex_);
        if (wake_.wait_for(lock, limit, [this] { return done_; })) return;
        std::cerr << "the threads hang" << std::endl;
        std::abort();
    }
    std::mutex mutex_;
    std::condition_variable wake_;
    bool done_ = false;
    std::thread thread_;
};

constexpr unsigned kWriters = 8;

void furnish(const std::string& directory) {
    PlainActor actor(directory);
    actor.mkdir("shared", 0755);
    for (unsigned i = 0; i < kWriters; ++i) {
        const std::string own = "t" + std::to_string(i);
        actor.mkdir(own, 0755);
        for (const std::string& path : {own + "/a", own + "/b", "shared/" + own}) {
            actor.create(path, 0644);
            actor.write(path, 0, random_bytes(i, 100'000));
        }
        actor.mkdir(own + "/c", 0755);
        actor.link(own + "/a", own + "/c/a");
    }
}

void write_randomly(overlay::Tree& tree, const std::string& directory, unsigned number, pid_t pid,
                    const std::atomic<bool>& stop) {
    overlay::Caller caller;
    caller.pid = pid;
    TreeActor actor(tree, caller);
    Generator::Mix own{
        .moves = false, .agents = false, .most_objects = 30, .below = "t" + std::to_string(number)};
    Generator mine(number + 1, own);
    own.below = "shared";
    Generator ours(number + 100, own);
    std::vector<Known> known;
    for (unsigned i = 0; !stop; ++i) {
        if (i % 16 == 0) known = list_tree(directory);
        Operation operation = i % 3 == 0 ? ours.next(known) : mine.next(known);
        if (operation.y > 50'000) operation.y = 50'000;
        apply(actor, operation);  // others change the same: any answer will do
    }
}

std::string move_randomly(overlay::Operations& operations, std::uint64_t seed,
                          std::chrono::steady_clock::time_point until) {
    std::mt19937_64 random(seed);
    while (std::chrono::steady_clock::now() < until) {
        std::optional<Error> failed;
        const auto note = [&](const auto& result) {
            if (!result && result.error().kind() != ErrorKind::kNothing &&
                result.error().kind() != ErrorKind::kNotFound)
                failed = result.error();
        };
        switch (random() % 10) {
            case 0:
            case 1:
            case 2:
                note(operations.checkpoint(World::asker(), journal::NodeKind::kCheckpoint,
                                           "c" + std::to_string(random() % 3), ""));
                break;
            case 3:
            case 4:
                note(operations.undo(World::asker(), 1, overlay::Consent::kAll));
                break;
            case 5:
                note(operations.redo(World::asker(), 1, overlay::Consent::kAll));
                break;
            case 6:
                note(operations.rollback(World::asker(), "c" + std::to_string(random() % 3), false,
                                         overlay::Consent::kAll));
                break;
            case 7:
            case 8:
                note(operations.count());
                break;
            default:
                note(operations.gc({.max_abandoned = 3}));
                break;
        }
        // An undo looks before it closes the gate, so writers may change a file in between.
        if (failed && failed->kind() != ErrorKind::kConflict) return failed->message();
        std::this_thread::sleep_for(std::chrono::milliseconds(random() % 20));
    }
    return {};
}

TEST(Threads, NothingHangsAndNothingIsLost) {
    const Watchdog watchdog(std::chrono::seconds(is_long() ? 600 : 240));
    const AgentProcess agent;
    const Scratch scratch;
    furnish(scratch.path());
    World world(scratch.path());
    const Snapshot first = world.look();
    overlay::Asker asker = World::asker();
    asker.pid = agent.pid();
    ASSERT_OK(world.operations().begin_run(asker, "a run"));
    std::atomic<bool> stop{false};
    std::vector<std::thread> writers;
    for (unsigned i = 0; i < kWriters; ++i) {
        // Two sessions, which come upon each other's changes in `shared`.
        const pid_t pid = i % 2 == 0 ? ::getpid() : agent.pid();
        writers.emplace_back(
            [&, i, pid] { write_randomly(world.tree(), scratch.path(), i, pid, stop); });
    }
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(is_long() ? 120 : 4);
    std::string other_wrong;
    std::thread other([&] { other_wrong = move_randomly(world.operations(), 2, until); });
    const std::string wrong = move_randomly(world.operations(), 1, until);
    other.join();
    stop = true;
    for (std::thread& writer : writers)
        writer.join();
    EXPECT_EQ(wrong, "");
    EXPECT_EQ(other_wrong, "");
    EXPECT_EQ(world.compare_counts(), "");
    ASSERT_ASSIGN(const auto moved, world.operations().rollback(World::asker(), "root", false,
                                                                overlay::Consent::kAll));
    EXPECT_EQ(difference(first, world.look()), "");
    ASSERT_ASSIGN(const auto checked, world.operations().check(false));
    EXPECT_EQ(checked.problems, std::vector<std::string>());
    // And there again.
    ASSERT_OK(world.operations().redo(World::asker(), 1, overlay::Consent::kAll));
    ASSERT_OK(world.operations().discard(World::asker(), true, overlay::Consent::kAll));
    EXPECT_EQ(difference(first, world.look()), "");
}

}  // namespace
}  // namespace unwrite::tests
