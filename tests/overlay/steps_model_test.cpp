// Random users, runs that overlap, edits, checkpoints and all ways of going back (D18, D19). What
// must hold: each taking back changes exactly what `log` shows of the step and nothing that the
// answer did not name; a conflict changes nothing; redo brings back what went, and keeps what came
// since; every state is there to the end. UNWRITE_SEED=n repeats one run; a sanitizer takes a
// third.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <sstream>

#include "tests/overlay/stepping.h"
#include "tests/support/thorough.h"

namespace unwrite::tests {
namespace {

constexpr int kSteps = 160;
constexpr int kNames = 9;

class StepsModel : public Stepping {
 protected:
    void run_seed(std::uint64_t seed) {
        random_.seed(seed);
        SCOPED_TRACE("UNWRITE_SEED=" + std::to_string(seed));
        for (int i = 0; i < kSteps && !HasFailure(); ++i) {
            SCOPED_TRACE("operation " + std::to_string(i));
            act();
            learn();
        }
        if (!HasFailure()) expect_all_states();
    }

 private:
    std::size_t one_of(std::size_t n) { return random_() % n; }
    std::string any_name() {
        const std::size_t number = one_of(kNames);
        return (number % 3 == 0 ? "d/f" : "f") + std::to_string(number);
    }

    void act() {
        switch (one_of(26)) {
            case 0:
                return begin_or_end(0);
            case 1:
                return begin_or_end(1);
            case 2:
                checkpoint(one_of(2) == 0 ? "" : "c" + std::to_string(one_of(4)));
                return;
            case 3:
                return edit();
            case 4:
            case 5:
                return go_back("undo", [&] { return undo(1 + unsigned(one_of(3))); });
            case 6:
            case 7:
                return take_back_one();
            case 8:
            case 9:
                return go_back("redo", [&] { return redo(1 + unsigned(one_of(2))); });
            case 10:
                return go_back("rollback", [&] { return rollback(one_of(3) == 0 ? "root" : ""); });
            case 11:
                return one_of(3) == 0
                           ? go_back("discard",
                                     [&] {
                                         return operations().discard(World::asker(), false,
                                                                     overlay::Consent::kAll);
                                     })
                           : restore_path();
            case 20:
            case 21:
                return take_back_run();
            case 22:
                return go_back("discard --keep-mine", [&] {
                    return operations().revert(World::asker(), ":agents", false);
                });
            case 23:
            case 24:
            case 25:
                return change_line();
            default:
                return change();
        }
    }

    // One line of a text of many: what different actors did can be told apart there.
    void change_line() {
        const std::size_t who = one_of(3);
        const overlay::NodeNumber by = who == 0 ? 0 : runs_[who - 1];
        by == 0 ? as_user() : as(who == 1 ? kOne : kTwo);
        const std::string name = one_of(2) == 0 ? "lines" : "d/lines";
        std::string old = actor().read(name).value_or("");
        if (old.empty()) {
            for (int i = 1; i <= 20; ++i)
                old += std::to_string(i) + "\n";
        }
        Lines lines = lines_in(old);
        const std::string line = "by " + std::to_string(by) + " " + text();
        lines[one_of(lines.size())] = line;
        authors_[line] = by;
        std::string now;
        for (const std::string& one : lines)
            now += one;
        actor().mkdir("d", 0755);
        if (one_of(2) == 0) {
            actor().create(name + ".new", 0644);
            actor().write(name + ".new", 0, now);
            actor().rename(name + ".new", name, 0);
        } else {
            actor().create(name, 0644);
            actor().truncate(name, 0);
            actor().write(name, 0, now);
        }
        as_user();
    }
    static Lines lines_in(const std::string& text) {
        Lines lines;
        std::istringstream in(text);
        for (std::string line; std::getline(in, line);)
            lines.push_back(line + "\n");
        return lines;
    }

    // All that one run did, by the name of its session.
    void take_back_run() {
        if (authors_.empty()) return;
        const overlay::NodeNumber run =
            std::next(authors_.begin(), std::ptrdiff_t(one_of(authors_.size())))->second;
        if (run == 0) return;
        SCOPED_TRACE("undo run-" + std::to_string(run));
        const Snapshot before = world_->look();
        std::map<std::string, Lines> texts;
        for (const char* path : {"lines", "d/lines"})
            texts[path] = lines_in(actor().read(path).value_or(""));
        const auto moved = operations().revert(World::asker(), "run-" + std::to_string(run), false);
        const Snapshot after = world_->look();
        if (!moved) return expect_nothing(moved.error(), before, after);
        expect_named(before, after, moved->changes);
        for (const std::string& path : moved->merged) {
            const Lines left = lines_in(actor().read(path).value_or(""));
            for (const std::string& line : texts[path]) {
                const auto author = authors_.find(line);
                const bool is_its = author != authors_.end() && author->second == run;
                const bool is_there = std::find(left.begin(), left.end(), line) != left.end();
                EXPECT_NE(is_its, is_there) << path << ": " << line;
            }
        }
        for (const std::string& path : moved->left) {
            const auto was = before.find(path);
            const auto is = after.find(path);
            if (was != before.end() && is != after.end()) {
                EXPECT_EQ(was->second.what, is->second.what) << path << " was to be left";
            }
        }
        expect_redo(before, after);
    }

    void change() {
        const std::size_t who = one_of(3);
        if (who > 0 && runs_[who - 1] == 0) {
            as_user();
        } else {
            who == 0 ? as_user() : as(who == 1 ? kOne : kTwo);
        }
        const std::string name = any_name();
        actor().mkdir("d", 0755);
        switch (one_of(5)) {
            case 0:
                actor().unlink(name);
                break;
            case 1:
                actor().rename(name, any_name(), 0);
                break;
            case 2:
                actor().create(name + ".new", 0644);
                actor().write(name + ".new", 0, text());
                actor().rename(name + ".new", name, 0);
                break;
            case 3:
                actor().append(name, text());
                break;
            default:
                actor().create(name, 0644);
                actor().write(name, 0, text());
        }
        as_user();
    }
    std::string text() { return "text " + std::to_string(++texts_) + "\n"; }

    void begin_or_end(std::size_t which) {
        overlay::NodeNumber& run = runs_[which];
        if (run == 0) {
            run = begin_run(which == 0 ? kOne : kTwo, "work");
        } else {
            const Snapshot before = world_->look();
            end_run(run);
            EXPECT_EQ(difference(before, world_->look()), "");
            run = 0;
        }
    }

    void edit() {
        mark("edit");
        as_user();
        const std::string name = any_name();
        actor().mkdir("d", 0755);
        actor().create(name, 0644);
        if (one_of(3) != 0) actor().write(name, 0, text());
        step("edited");
    }

    void restore_path() {
        const std::string name = any_name();
        go_back("restore",
                [&] { return operations().restore_paths(World::asker(), {name}, "root", false); });
    }

    // One step of the log, by its number.
    void take_back_one() {
        const auto log = operations().log("", false, true);
        ASSERT_TRUE(log.ok()) << log.error().message();
        std::vector<overlay::LogEntry> entries;
        for (const auto& entry : log->entries) {
            if (entry.since != 0 && !entry.running) entries.push_back(entry);
        }
        if (entries.empty()) return;
        const overlay::LogEntry& entry = entries[one_of(entries.size())];
        const std::string node = "n" + std::to_string(entry.node.number);
        SCOPED_TRACE("undo " + node);
        const Snapshot before = world_->look();
        const auto moved = operations().revert(World::asker(), node, false);
        const Snapshot after = world_->look();
        if (!moved) return expect_nothing(moved.error(), before, after);
        {
            SCOPED_TRACE("the answer");
            expect_named(before, after, moved->changes);
        }
        // What was moved or changed since is looked at where it is now.
        if (log->open_changes.empty() && entry.node.number == log->current) {
            SCOPED_TRACE("the log");
            auto shown = entry.changes;
            // What the step took from others that had made it meanwhile comes back as well; from
            // its beginning to its end that is no change.
            if (is_divided(entry)) {
                std::copy_if(moved->changes.begin(), moved->changes.end(),
                             std::back_inserter(shown), [](const overlay::Change& change) {
                                 return change.kind == overlay::ChangeKind::kCreated;
                             });
            }
            expect_named(before, after, shown);
        }
        expect_as_before_the_step(entry, after, moved->left);
        expect_redo(before, after);
    }

    /// A hidden node divides it: one session ended there, or changed what another had changed.
    bool is_divided(const overlay::LogEntry& entry) {
        const auto all = operations().log("", true, false);
        EXPECT_TRUE(all.ok());
        return all.ok() && std::any_of(all->entries.begin(), all->entries.end(),
                                       [&](const overlay::LogEntry& one) {
                                           return (one.node.kind == overlay::NodeKind::kTurn ||
                                                   one.node.kind == overlay::NodeKind::kBegin) &&
                                                  one.node.number > entry.since &&
                                                  one.node.number < entry.node.number;
                                       });
    }

    // What nobody touched since is what it was before the step.
    void expect_as_before_the_step(const overlay::LogEntry& entry, const Snapshot& after,
                                   const Lines& left_alone) {
        const auto then = states_.find(entry.since);
        const auto end = states_.find(entry.node.number);
        if (then == states_.end() || end == states_.end()) return;
        for (const auto& change : entry.changes) {
            if (change.kind != overlay::ChangeKind::kModified || !change.content) continue;
            if (std::find(left_alone.begin(), left_alone.end(), change.path) != left_alone.end())
                continue;
            const auto was = then->second.find(change.path);
            const auto left = end->second.find(change.path);
            const auto is = after.find(change.path);
            if (was == then->second.end() || left == end->second.end() || is == after.end())
                continue;
            EXPECT_NE(is->second.what, left->second.what)
                << change.path << " is as the step left it";
        }
    }

    void go_back(const char* verb, const std::function<Result<overlay::Moved>()>& way) {
        SCOPED_TRACE(verb);
        const Snapshot before = world_->look();
        const auto moved = way();
        const Snapshot after = world_->look();
        if (!moved) return expect_nothing(moved.error(), before, after);
        expect_named(before, after, moved->changes);
        if (std::string(verb) != "redo" && one_of(2) == 0) expect_redo(before, after);
    }

    static void expect_nothing(const Error& error, const Snapshot& before, const Snapshot& after) {
        EXPECT_EQ(difference(before, after), "") << error.message();
        const auto kind = error.kind();
        EXPECT_TRUE(kind == ErrorKind::kConflict || kind == ErrorKind::kNothing ||
                    kind == ErrorKind::kNotFound || kind == ErrorKind::kUsage)
            << error.message();
    }

    // A path that differs is one that the answer named, is below one, or is a directory of one.
    static void expect_named(const Snapshot& before, const Snapshot& after,
                             const std::vector<overlay::Change>& changes) {
        std::set<std::string> paths;
        for (const auto& [path, entry] : before) {
            const auto other = after.find(path);
            if (other == after.end() || other->second.what != entry.what) paths.insert(path);
        }
        for (const auto& [path, entry] : after) {
            if (!before.contains(path)) paths.insert(path);
        }
        for (const std::string& path : paths) {
            const auto names = [&path](const std::string& named) {
                return !named.empty() && (path == named || path.starts_with(named + "/") ||
                                          named.starts_with(path + "/"));
            };
            EXPECT_TRUE(path.empty() || std::any_of(changes.begin(), changes.end(),
                                                    [&](const overlay::Change& change) {
                                                        return names(change.path) ||
                                                               names(change.old_path);
                                                    }))
                << printable(path) << " changed, and the answer does not name it";
        }
    }

    // At once it is all there again; after another file was written as well, and that file too.
    void expect_redo(const Snapshot& before, const Snapshot& after) {
        if (difference(before, after, Times::kIgnore).empty()) return;
        const bool writes = one_of(2) == 0;
        const std::string other = "other" + std::to_string(++texts_);
        if (writes) {
            as_user();
            make(other, "kept\n");
        }
        const auto done = redo();
        if (!done) {
            ADD_FAILURE() << "redo: " << done.error().message();
            return;
        }
        Snapshot now = world_->look();
        if (writes) {
            EXPECT_TRUE(now.contains(other));
            now.erase(other);
        }
        EXPECT_EQ(difference(before, now, Times::kIgnore), "");
    }

    // The newest node's state is the live one if nothing is open.
    void learn() {
        const auto log = operations().log("", false, true);
        ASSERT_TRUE(log.ok()) << log.error().message();
        const auto now = operations().status("n" + std::to_string(log->current), false);
        ASSERT_TRUE(now.ok()) << now.error().message();
        if (now->changes.empty() && log->open_changes.empty())
            states_.emplace(log->current, world_->look());
    }

    void expect_all_states() {
        for (const auto& [node, state] : states_) {
            const auto moved = rollback("n" + std::to_string(node));
            if (!moved && moved.error().kind() == ErrorKind::kNotFound) continue;
            ASSERT_TRUE(moved.ok()) << moved.error().message();
            EXPECT_EQ(difference(state, world_->look(), Times::kIgnore), "") << "n" << node;
        }
        ASSERT_ASSIGN(const auto checked, operations().check(false));
        EXPECT_EQ(checked.problems, std::vector<std::string>());
    }

    std::mt19937_64 random_;
    overlay::NodeNumber runs_[2] = {0, 0};
    int texts_ = 0;
    std::map<std::string, overlay::NodeNumber> authors_;  // of lines; 0: the user
    std::map<overlay::NodeNumber, Snapshot> states_;
};

class StepsModelSeeds : public StepsModel, public ::testing::WithParamInterface<std::uint64_t> {};

TEST_P(StepsModelSeeds, S57_S60_TakingBackIsWhatTheLogShows) {
    const char* asked = std::getenv("UNWRITE_SEED");
    if (asked != nullptr && std::strtoull(asked, nullptr, 10) != GetParam())
        GTEST_SKIP() << "UNWRITE_SEED asks for another one";
    if (is_taken(GetParam())) run_seed(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Random, StepsModelSeeds,
                         ::testing::Range<std::uint64_t>(1, is_long() ? 1001 : 26));

}  // namespace
}  // namespace unwrite::tests
