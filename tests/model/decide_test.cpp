// Random tasks of which one random path is kept for good: the live state must stay, every state
// must remain as it was but for what was kept, and what was kept must be there in all of them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "tests/model/generator.h"
#include "tests/model/operation.h"
#include "tests/support/plain_actor.h"
#include "tests/support/scratch.h"
#include "tests/support/thorough.h"
#include "tests/support/world.h"

namespace unwrite::tests {
namespace {

using Paths = std::vector<std::string>;

bool is_at_or_below(const std::string& path, const std::string& above) {
    return path == above || path.starts_with(above + '/');
}

/// An entry without what hangs on other names: links of one object are told by the first of them.
std::string alone(const Snapshot& snapshot, const std::string& path) {
    const auto found = snapshot.find(path);
    if (found == snapshot.end()) return "(absent)";
    return found->second.what.substr(0, found->second.what.find(" same-as="));
}

class RandomTask {
 public:
    explicit RandomTask(std::uint64_t seed)
        : random_(seed), generator_(seed, {.moves = false, .agents = false}) {
        PlainActor actor(scratch_.path());
        for (const char* path : {"a", "a/b", "c"})
            actor.mkdir(path, 0755);
        for (const char* path : {"b", "a/a", "a/b/c", "c/a", "c/h"}) {
            actor.create(path, 0644);
            actor.write(path, 0, random_bytes(std::string(path).size(), 70'000));
        }
        world_.emplace(scratch_.path());
        states_["root"] = world_->look();
    }

    void work() {
        const std::size_t count = 5 + random_() % 25;
        for (std::size_t i = 0; i < count; ++i) {
            const Operation operation = generator_.next(list_tree(scratch_.path()));
            if (!is_change(operation.kind) || operation.kind == Kind::kLink) continue;
            apply(world_->actor(), operation);
            done_.push_back(operation);
            if (random_() % 6 == 0) remember();
        }
        for (unsigned slot = 0; slot < Actor::kSlots; ++slot)
            world_->actor().drop(slot);
    }

    /// What is wrong, or nothing.
    std::string keep_something() {
        const auto status = world_->operations().status("", false);
        if (!status) return status.error().message();
        std::set<std::string> paths;
        for (const auto& change : status->changes)
            paths.insert(change.path);
        for (const auto& [path, entry] : world_->look()) {
            if (!path.empty() && random_() % 4 == 0) paths.insert(path);
        }
        if (paths.empty()) return {};
        asked_ = *std::next(paths.begin(), random_index(paths.size()));
        remember();
        const Snapshot live = world_->look();
        overlay::Decision decision{.keep = {asked_}};
        if (random_() % 2 == 0) rejected_ = *std::next(paths.begin(), random_index(paths.size()));
        if (!rejected_.empty()) decision.take_back = {rejected_};
        const auto decided = world_->operations().decide(World::asker(), decision, false);
        if (!decided || rejected_.empty()) {
            std::string wrong = difference(live, world_->look());
            if (!wrong.empty()) return "keeping changed a to b:\n" + wrong;
        }
        if (!decided) {
            const ErrorKind kind = decided.error().kind();
            return kind == ErrorKind::kNothing || kind == ErrorKind::kConflict ||
                           kind == ErrorKind::kNotFound
                       ? ""
                       : decided.error().message();
        }
        ++kept_;
        Paths kept;
        for (const auto& change : decided->kept) {
            kept.push_back(change.path);
            if (!change.old_path.empty()) kept.push_back(change.old_path);
            // What lies in a directory moves with it; where it was in between is not known here.
            if (!change.old_path.empty() && S_ISDIR(change.type)) compare_root_alone_ = true;
        }
        for (const auto& needed : decided->needed)
            kept.push_back(needed.path);
        if (random_() % 2 == 0) world_->reopen();
        const std::string wrong = decided->from == 0 ? "" : verify_taken_back(live);
        return wrong.empty() ? verify(live, kept) : wrong;
    }

    std::string told() const {
        return text_of(done_) + "keep " + asked_ + ", take back " + rejected_;
    }
    std::size_t kept() const { return kept_; }

 private:
    void remember() {
        const auto node =
            world_->operations().checkpoint(World::asker(), journal::NodeKind::kStep, "", "");
        if (node) states_["n" + std::to_string(node->number)] = world_->look();
        if (node) last_ = "n" + std::to_string(node->number);
    }

    std::ptrdiff_t random_index(std::size_t count) {
        return static_cast<std::ptrdiff_t>(random_() % count);
    }

    std::string verify_taken_back(const Snapshot& before) {
        const Snapshot now = world_->look();
        for (const auto& [path, entry] : now) {
            if (is_at_or_below(path, rejected_) && alone(now, path) != alone(states_["root"], path))
                return path + " was taken back and is " + alone(now, path);
        }
        const auto redone = world_->operations().redo(World::asker(), 1, overlay::Consent::kAll);
        if (!redone) return "redo: " + redone.error().message();
        const std::string wrong = difference(before, world_->look(), Times::kIgnore);
        return wrong.empty() ? "" : "the state before (a) came back as b:\n" + wrong;
    }

    std::string verify(const Snapshot& live, const Paths& kept) {
        for (const auto& [node, was] : states_) {
            const auto moved =
                world_->operations().rollback(World::asker(), node, false, overlay::Consent::kAll);
            if (!moved) return "rollback to " + node + ": " + moved.error().message();
            if (compare_root_alone_ && node != "root") continue;
            const std::string wrong = compare(was, world_->look(), live, kept);
            if (!wrong.empty()) return node + ": " + wrong;
        }
        const auto back =
            world_->operations().rollback(World::asker(), last_, false, overlay::Consent::kAll);
        if (!back) return "rollback to " + last_ + ": " + back.error().message();
        const std::string wrong = difference(live, world_->look(), Times::kIgnore);
        if (!wrong.empty()) return "the live state was a, is b:\n" + wrong;
        const auto checked = world_->operations().check(false);
        if (!checked) return checked.error().message();
        return checked->problems.empty() ? "" : "check: " + checked->problems.front();
    }

    std::string compare(const Snapshot& was, const Snapshot& is, const Snapshot& live,
                        const Paths& kept) const {
        std::set<std::string> paths;
        for (const Snapshot* one : {&was, &is, &live}) {
            for (const auto& [path, entry] : *one)
                paths.insert(path);
        }
        for (const std::string& path : paths) {
            const std::string now = alone(is, path);
            const std::string as_live = alone(live, path);
            if (is_at_or_below(path, asked_)) {
                if (now != as_live) return path + " was kept as " + as_live + " but is " + now;
                continue;
            }
            // A name that what was kept had in between, and has no more.
            if (now == "(absent)" && !live.contains(path) && !states_.at("root").contains(path))
                continue;
            const std::string then = alone(was, path);
            const bool concerned = std::any_of(kept.begin(), kept.end(), [&](const auto& one) {
                return is_at_or_below(path, one) || is_at_or_below(one, path);
            });
            // What lies in a directory that was kept where it is now is there, too.
            if (now != then && !(concerned && moved_along(now, was, live)))
                return path + " was " + then + " and is " + now;
        }
        return {};
    }

    static bool moved_along(const std::string& now, const Snapshot& was, const Snapshot& live) {
        if (now == "(absent)") return true;
        for (const Snapshot* one : {&was, &live}) {
            for (const auto& [path, entry] : *one) {
                if (alone(*one, path) == now) return true;
            }
        }
        return false;
    }

    Scratch scratch_;
    std::mt19937_64 random_;
    Generator generator_;
    std::optional<World> world_;
    std::map<std::string, Snapshot> states_;
    std::string last_;
    std::string asked_;
    std::string rejected_;
    Operations done_;
    bool compare_root_alone_ = false;
    std::size_t kept_ = 0;
};

TEST(Deciding, RandomTasksS62) {
    const char* asked = std::getenv("UNWRITE_SEED");
    const std::uint64_t first = asked == nullptr ? 1 : std::strtoull(asked, nullptr, 10);
    const std::uint64_t count = asked != nullptr ? 1 : is_long() ? 20'000 : 60;
    std::size_t done = 0;
    std::size_t kept = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        if (asked == nullptr && !is_taken(seed)) continue;
        RandomTask task(seed);
        task.work();
        const std::string wrong = task.keep_something();
        ASSERT_EQ(wrong, "") << "UNWRITE_SEED=" << seed << "\n" << task.told();
        kept += task.kept();
        ++done;
    }
    if (asked == nullptr) {
        EXPECT_GT(kept, done / 2);
    }
}

}  // namespace
}  // namespace unwrite::tests
