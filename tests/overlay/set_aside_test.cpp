// What somebody writes behind the mount between a kill in a restore and its recovery is not lost.
#include "overlay/set_aside.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "tests/overlay/looking.h"
#include "tests/support/thorough.h"

namespace unwrite::tests {
namespace {

class SetAside : public Looking {
 protected:
    enum class Way { kDiscard, kRedo };

    /// A task that changes, removes and makes files, then a process that discards it, or does so
    /// and goes forward again, and is killed at the n-th crash point (of the redo, then). False
    /// when it came to its end.
    bool kill_a_restore(Way way, unsigned n) {
        world_.reset();
        std::filesystem::remove_all(raw());
        before("changed", std::string(200'000, 'o'));
        before("cut", std::string(100'000, 'o'));
        before("gone", "old");
        before("grown", "twenty bytes of old.");
        before("saved", std::string(100'000, 's'));
        before("d/in", "old");
        begin();
        EXPECT_EQ(actor().write("changed", 0, std::string(150'000, 'n')), 0);
        EXPECT_EQ(actor().truncate("cut", 10), 0);
        EXPECT_EQ(actor().unlink("gone"), 0);
        EXPECT_EQ(actor().unlink("d/in"), 0);
        EXPECT_EQ(actor().write("grown", 0, std::string(1000, 'g')), 0);
        EXPECT_EQ(actor().write("saved", 5, "new"), 0);
        make("made", "new");
        if (way == Way::kRedo) {
            EXPECT_TRUE(discard_all());
        }
        return is_killed_at("*:" + std::to_string(n), [this, way] {
            return way == Way::kRedo ? operations().redo(World::asker(), 1, overlay::Consent::kAll)
                                     : discard_all();
        });
    }

    void write_behind(const std::string& path, const std::string& text) {
        const std::filesystem::path file = raw() / path;
        std::error_code error;
        if (!std::filesystem::is_directory(file.parent_path(), error)) return;
        std::fstream out(file, std::ios::in | std::ios::out);
        if (!out) out.open(file, std::ios::out);
        out.seekp(1);
        out << text;
        written_.push_back(text);
    }

    /// As editors do it: a new file takes the name.
    void save_behind(const std::string& path, const std::string& text) {
        std::error_code error;
        if (!std::filesystem::exists(raw() / path, error)) return;
        std::ofstream(raw() / "editor.tmp") << text;
        std::filesystem::rename(raw() / "editor.tmp", raw() / path);
        written_.push_back(text);
    }

    /// Everything in the workspace, one after the other.
    std::string all() const {
        std::string text;
        auto at = std::filesystem::recursive_directory_iterator(raw());
        for (; at != std::filesystem::recursive_directory_iterator(); ++at) {
            if (at->path().filename() == ".unwrite") at.disable_recursion_pending();
            if (!at->is_regular_file()) continue;
            text += scratch_.read(at->path());
        }
        return text;
    }

    std::vector<std::string> written_;
};

TEST_F(SetAside, WhatWasWrittenAfterAKillAtAnyPointIsThereS67S85) {
    unsigned n = 1;
    for (; n < 1000; ++n) {
        if (!is_taken(n)) continue;
        if (!kill_a_restore(Way::kDiscard, n)) break;
        written_.clear();
        for (const char* path : {"changed", "cut", "gone", "d/in", "made"})
            write_behind(path, "somebody's bytes in " + std::string(path) + " after kill " +
                                   std::to_string(n) + ".");
        const std::string original(100'000, 's');
        const bool was_back = scratch_.read("work/saved") == original;
        save_behind("saved", "saved anew after kill " + std::to_string(n) + ".");
        begin();
        std::string found = all();
        // What a later edge undid is in the state that it left.
        if (operations().redo(World::asker(), 1, overlay::Consent::kAll)) found += all();
        // And the original of what was saved anew comes back, unless it was back already.
        ignore(discard_all(), "it may be done already");
        if (!was_back) {
            EXPECT_EQ(scratch_.read("work/saved"), original) << n;
        }
        for (const std::string& text : written_)
            EXPECT_NE(found.find(text), std::string::npos) << text;
        ASSERT_ASSIGN(const auto checked, operations().check(false));
        EXPECT_EQ(checked.problems, Lines{});
        if (HasFailure()) break;
    }
    EXPECT_GT(n, 20U);
    std::cout << "the last of " << n << " points\n";
}

TEST_F(SetAside, WhatTheRestoreItselfWroteIsNotTakenForSomebodys) {
    for (const Way way : {Way::kDiscard, Way::kRedo}) {
        for (unsigned n = 1; n < 1000; n += 3) {
            if (!is_taken(n / 3)) continue;
            if (!kill_a_restore(way, n)) break;
            begin();
            for (const auto& entry : std::filesystem::directory_iterator(raw()))
                EXPECT_EQ(entry.path().string().find("unwrite-kept"), std::string::npos) << n;
        }
    }
}

}  // namespace
}  // namespace unwrite::tests
