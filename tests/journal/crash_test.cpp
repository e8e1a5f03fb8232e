// The process is killed at every crash point in turn; what was acknowledged is there afterwards,
// and the rest is a prefix of what was being done.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <set>
#include <vector>

#include "base/crash_point.h"
#include "journal/data_file.h"
#include "journal/journal.h"
#include "tests/base/scratch.h"

namespace unwrite::journal {
namespace {

using tests::Scratch;

/// A counter that the killed child shares with the test: how many steps were acknowledged.
class Acknowledged {
 public:
    Acknowledged() {
        void* page =
            ::mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        count_ = static_cast<volatile int*>(page);
    }
    Acknowledged(const Acknowledged&) = delete;
    Acknowledged& operator=(const Acknowledged&) = delete;
    ~Acknowledged() { ::munmap(const_cast<int*>(count_), sizeof(int)); }
    void reset() { *count_ = 0; }
    void add() { *count_ = *count_ + 1; }
    int count() const { return *count_; }

 private:
    volatile int* count_;
};

/// Runs `body` in a child that dies at its n-th crash point. True when it came to its end alive.
bool survives(int passage, const std::string& list, const std::function<bool()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::setenv("UNWRITE_CRASH_AT", ("*:" + std::to_string(passage)).c_str(), 1);
        ::setenv("UNWRITE_CRASH_LIST", list.c_str(), 1);
        reset_crash_points();
        ::_exit(body() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) {
        EXPECT_EQ(WTERMSIG(status), SIGKILL);
        return false;
    }
    EXPECT_EQ(WEXITSTATUS(status), 0) << "the work itself failed";
    return true;
}

std::set<std::string> passed_points(const Scratch& scratch) {
    std::set<std::string> names;
    std::istringstream list(scratch.read("list"));
    for (std::string line; std::getline(list, line);)
        names.insert(line);
    return names;
}

constexpr ObjectKey kRoot{2, 1};

/// The steps of the delta's scenario, each one append.
std::vector<std::function<Result<>(DeltaWriter&)>> delta_steps(int source) {
    std::vector<std::function<Result<>(DeltaWriter&)>> steps;
    for (std::uint64_t i = 0; i < 4; ++i) {
        const ObjectKey key{100 + i, 1};
        steps.emplace_back([=](DeltaWriter& w) {
            return w.name({{kRoot, "n" + std::to_string(i)}, key, S_IFREG}, 1);
        });
        steps.emplace_back([=](DeltaWriter& w) { return w.size(key, 300'000, 1); });
        steps.emplace_back([=](DeltaWriter& w) {
            return i % 2 == 0 ? w.content(key, source, i * 1000, 65'536)
                              : w.content(key, source, 0, 300'000);
        });
        steps.emplace_back([=](DeltaWriter& w) { return w.touch_object(key, 9); });
    }
    return steps;
}

/// How many of the steps the delta holds. They must be the first ones.
int steps_held(const Delta& delta, const std::string& text, const OpenData& data) {
    int held = 0;
    bool gap = false;
    const auto count = [&](bool present) {
        EXPECT_FALSE(present && gap) << "a later step is there, an earlier one is not";
        gap = gap || !present;
        held += present ? 1 : 0;
    };
    for (std::uint64_t i = 0; i < 4; ++i) {
        const auto object = delta.objects.find({100 + i, 1});
        const bool known = object != delta.objects.end();
        count(delta.names.contains({kRoot, "n" + std::to_string(i)}));
        count(known && object->second.size == 300'000U);
        count(known && !object->second.content.empty());
        count(known && object->second.origins.contains(9));
        if (!known) continue;
        for (const ContentImage& image : object->second.content) {
            std::string found(image.length, '\0');
            const auto got =
                data->read_exactly(std::as_writable_bytes(std::span(found)), image.position);
            EXPECT_TRUE(got.ok());
            EXPECT_TRUE(found == text.substr(image.offset, image.length)) << "wrong bytes";
        }
    }
    return held;
}

TEST(Crash, S67_EveryPrefixOfADeltaIsWhole) {
    Acknowledged acknowledged;
    std::set<std::string> points;
    bool alive = false;
    for (int passage = 1; !alive && passage < 500; ++passage) {
        const Scratch scratch;
        std::string text(300'000, '\0');
        for (std::size_t i = 0; i < text.size(); ++i)
            text[i] = static_cast<char>(1 + i / 7 % 200);
        scratch.write("source", text);
        const UniqueFd source = scratch.open("source", O_RDONLY);
        acknowledged.reset();
        alive = survives(passage, scratch.path() / "list", [&] {
            DeltaWriter writer(scratch.fd(), 7);
            for (const auto& step : delta_steps(source.get())) {
                if (!step(writer)) return false;
                acknowledged.add();
            }
            return true;
        });
        points.merge(passed_points(scratch));
        ASSERT_ASSIGN(const Delta delta, read_delta(scratch.fd(), 7));
        ASSERT_ASSIGN(const OpenData data, open_delta_data(scratch.fd(), 7));
        const int held = steps_held(delta, text, data);
        EXPECT_GE(held, acknowledged.count()) << "passage " << passage;
        EXPECT_LE(held, acknowledged.count() + 1) << "passage " << passage;

        DeltaWriter writer(scratch.fd(), 7);
        const auto steps = delta_steps(source.get());
        for (std::size_t i = static_cast<std::size_t>(held); i < steps.size(); ++i) {
            ASSERT_OK(steps[i](writer));
        }
        ASSERT_ASSIGN(const Delta whole, read_delta(scratch.fd(), 7));
        ASSERT_ASSIGN(const OpenData all, open_delta_data(scratch.fd(), 7));
        EXPECT_EQ(steps_held(whole, text, all), 16);
    }
    EXPECT_TRUE(alive);
    for (const char* point : {"delta.log.created", "delta.data.created", "delta.append.before",
                              "delta.data.written", "delta.append.after"}) {
        EXPECT_TRUE(points.contains(point)) << point;
    }
}

/// Everything a session does to the state directory, in small: deltas, attic, places, store.
bool session(int workspace, Acknowledged& acknowledged) {
    const auto done = [&]() -> Result<> {
        TRY_ASSIGN(const sys::StatX top, sys::statx_at(workspace, ""));
        const ObjectKey root{top.st.st_ino, top.birth};
        TRY_ASSIGN(const auto journal, Journal::open(workspace, {.create = true}));
        acknowledged.add();
        DeltaWriter writer(journal->state_dir().deltas(), 1);
        for (const std::string name : {"kept", "moved"}) {
            TRY_ASSIGN(const sys::StatX sx, sys::statx_at(workspace, name));
            const ObjectKey key{sx.st.st_ino, sx.birth};
            TRY(journal->attic().anchor(workspace, name, key));
            TRY(writer.name({{root, name}, key, S_IFREG}, 1));
        }
        TRY_ASSIGN(const sys::StatX moved, sys::statx_at(workspace, "moved"));
        TRY(journal->attic().displace(workspace, "moved", {moved.st.st_ino, moved.birth}, false));
        TRY_ASSIGN(const sys::StatX tree, sys::statx_at(workspace, "tree"));
        const ObjectKey tree_key{tree.st.st_ino, tree.birth};
        TRY(journal->places().set(tree_key, {root, "tree"}));
        TRY(writer.name({{root, "tree"}, tree_key, S_IFDIR}, 1));
        TRY(journal->attic().displace(workspace, "tree", tree_key, true));
        acknowledged.add();
        Store::Change change;
        change.add_nodes = {{.parent = 1, .delta = 1}};
        change.take_delta_number = change.open_delta_is_new = change.current_is_added_node = true;
        TRY_ASSIGN(const DeltaSeal seal, writer.seal());
        change.seals.push_back(seal);
        TRY(journal->store().apply(change));
        acknowledged.add();
        Head head;
        head.root = head.current = 2;
        head.open_delta = 2;
        TRY_ASSIGN(auto node, journal->store().node(2));
        node->parent = node->delta = 0;
        TRY(journal->store().apply({.update_nodes = {*node}, .remove_nodes = {1}, .head = head}));
        acknowledged.add();
        TRY(journal->remove_unreferenced_deltas());
        for (const ObjectKey& key : journal->attic().list())
            TRY(journal->attic().remove(key));
        TRY(journal->places().clear());
        return {};
    }();
    return done.ok();
}

void fill_workspace(const Scratch& scratch) {
    scratch.write("kept", "k");
    scratch.write("moved", "m");
    ASSERT_OK(sys::make_directory(scratch.fd(), "tree", 0700));
    ASSERT_OK(sys::make_directory(scratch.fd(), "tree/a", 0700));
    ASSERT_OK(sys::make_directory(scratch.fd(), "tree/a/b", 0700));
    scratch.write("tree/a/f", "f");
}

TEST(Crash, S67_TheStateDirectoryIsSoundAfterEveryKill) {
    Acknowledged acknowledged;
    std::set<std::string> points;
    bool alive = false;
    for (int passage = 1; !alive && passage < 500; ++passage) {
        const Scratch scratch;
        ASSERT_NO_FATAL_FAILURE(fill_workspace(scratch));
        acknowledged.reset();
        alive = survives(passage, scratch.path() / "list",
                         [&] { return session(scratch.fd(), acknowledged); });
        points.merge(passed_points(scratch));
        ASSERT_ASSIGN(const auto journal, Journal::open(scratch.fd(), {.create = true}));
        ASSERT_ASSIGN(const CheckReport report, journal->check());
        EXPECT_EQ(report.problems, std::vector<std::string>()) << "passage " << passage;
        ASSERT_ASSIGN(const Head head, journal->store().head());
        const int steps = acknowledged.count();
        if (steps < 2) {
            EXPECT_EQ(head.current, 1U);
        }
        if (steps >= 3) {
            EXPECT_EQ(head.current, 2U);
        }
        if (steps >= 4) {
            EXPECT_EQ(head.root, 2U);
        }
        // Nothing was lost before the commit, wherever it is now.
        if (steps >= 1 && steps < 4 && head.root == 1) {
            int found = 0;
            for (const char* name : {"kept", "moved", "tree"}) {
                found += sys::stat_at(scratch.fd(), name).ok() ? 1 : 0;
            }
            for (const ObjectKey& key : journal->attic().list()) {
                const auto st = sys::stat_at(journal->attic().directory(), Attic::file_name(key));
                found += st.ok() && (S_ISDIR(st->st_mode) || st->st_nlink == 1) ? 1 : 0;
            }
            EXPECT_EQ(found, 3) << "passage " << passage;
        }
    }
    EXPECT_TRUE(alive);
    for (const char* point :
         {"state.directory-made", "state.version-written", "store.create.before",
          "store.commit.before", "store.commit.after", "attic.anchor.before", "attic.anchor.after",
          "attic.displace.before", "attic.displace.after", "attic.remove.aside",
          "attic.remove.directory", "places.append.before", "places.append.after"}) {
        EXPECT_TRUE(points.contains(point)) << point;
    }
}

TEST(Crash, PlacesSurviveACompaction) {
    std::set<std::string> points;
    bool alive = false;
    for (int passage = 2040; !alive && passage < 2200; ++passage) {
        const Scratch scratch;
        alive = survives(passage, scratch.path() / "list", [&] {
            const auto places = Places::open(scratch.fd());
            for (int i = 0; i < 1040 && places.ok(); ++i) {
                if (!(*places)->set({1, 1}, {kRoot, std::to_string(i)})) return false;
            }
            return places.ok();
        });
        points.merge(passed_points(scratch));
        ASSERT_ASSIGN(const auto places, Places::open(scratch.fd()));
        ASSERT_TRUE(places->contains({1, 1}));
        const auto place = *places->find({1, 1});
        EXPECT_EQ(std::stoi(place.newest.name), std::stoi(place.before->name) + 1);
        EXPECT_GE(std::stoi(place.newest.name), 1018);
    }
    EXPECT_TRUE(alive);
    EXPECT_TRUE(points.contains("places.compact.written"));
    EXPECT_TRUE(points.contains("places.compact.renamed"));
}

}  // namespace
}  // namespace unwrite::journal
