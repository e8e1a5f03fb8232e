// Diffs that `git apply` takes: applied to a copy of the older state they must give the newer one.
#include <gmock/gmock.h>

#include <filesystem>
#include <random>
#include <set>

#include "tests/overlay/looking.h"
#include "tests/support/thorough.h"

namespace unwrite::tests {
namespace {

class Diffs : public Looking {
 protected:
    void begin_with_copy() {
        begin();
        older_ = copy_to("older");
    }
    // Owners, xattrs and times are nothing that git carries; neither are empty directories.
    void expect_applies(const std::string& from = {}, const std::string& to = {},
                        const std::string& newer = {}) {
        const std::string text = patch(from, to);
        ASSERT_TRUE(git_applies(older_, text)) << text;
        const std::string wanted = newer.empty() ? copy_to("newer") : newer;
        remove_empty_directories(older_);
        remove_empty_directories(wanted);
        EXPECT_EQ(run("diff -r --no-dereference '" + older_ + "' '" + wanted + "' >&2"), 0) << text;
        EXPECT_EQ(executables_in(older_), executables_in(wanted));
    }

    // Git knows none, and of a mode only this.
    static void remove_empty_directories(const std::filesystem::path& directory) {
        std::vector<std::filesystem::path> below;
        for (const auto& entry : std::filesystem::directory_iterator(directory))
            if (entry.is_directory() && !entry.is_symlink()) below.push_back(entry.path());
        for (const auto& path : below)
            remove_empty_directories(path);
        if (std::filesystem::is_empty(directory)) std::filesystem::remove(directory);
    }
    static std::set<std::string> executables_in(const std::string& directory) {
        std::set<std::string> found;
        if (!std::filesystem::exists(directory)) return found;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
            const auto status = entry.symlink_status();
            const auto bit = status.permissions() & std::filesystem::perms::owner_exec;
            if (std::filesystem::is_regular_file(status) && bit != std::filesystem::perms::none)
                found.insert(entry.path().lexically_relative(directory).string());
        }
        return found;
    }

    std::string older_;
};

TEST_F(Diffs, EveryKindOfChange) {
    before("edited", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    before("unended", "no newline");
    before("gone", "bye\n");
    before("moved", "1\n2\n3\n4\n5\n6\n");
    before("mode", "#!/bin/sh\n");
    before("swap-a", "a\n");
    before("swap-b", "b\n");
    before("dir/one", "one\n");
    before("dir/sub/two", "two\n");
    before("folded/x", "x\n");
    before("folded/y", "");
    begin_with_copy();
    replace("edited", "1\n2\n3\nfour\n5\n6\n7\n8\n9\n10\n");
    replace("unended", "still no newline");
    ASSERT_EQ(actor().unlink("gone"), 0);
    ASSERT_EQ(actor().rename("moved", "dir/moved", 0), 0);
    ASSERT_EQ(actor().append("dir/moved", "7\n"), 0);
    ASSERT_EQ(actor().chmod("mode", 0755), 0);
    ASSERT_EQ(actor().rename("swap-a", "swap-b", RENAME_EXCHANGE), 0);
    ASSERT_EQ(actor().rename("dir", "renamed", 0), 0);
    ASSERT_EQ(actor().append("renamed/sub/two", "more\n"), 0);
    make("renamed/sub/new", "new\n");
    ASSERT_EQ(actor().unlink("folded/x"), 0);
    ASSERT_EQ(actor().unlink("folded/y"), 0);
    ASSERT_EQ(actor().rmdir("folded"), 0);
    make("empty", "");
    ASSERT_EQ(actor().mkdir("made", 0755), 0);
    ASSERT_EQ(actor().mkdir("made/deep", 0755), 0);
    make("made/deep/file", "deep\n");
    ASSERT_EQ(actor().symlink("made/link", "deep/file"), 0);
    expect_applies();
}

TEST_F(Diffs, UnusualNames) {
    const std::vector<std::string> names{"with space",  "tab\there",    "line\nbreak", "quote\"d",
                                         "back\\slash", "\xc3\xa4\xff", " lead",       "-dash"};
    for (const auto& name : names)
        before(name, "old\n");
    begin_with_copy();
    for (const auto& name : names) {
        ASSERT_EQ(actor().append(name, "more\n"), 0);
        make(name + ".new", "new\n");
        make(name + ".empty", "");
    }
    ASSERT_EQ(actor().rename("with space", "with  spaces", 0), 0);
    ASSERT_EQ(actor().rename("line\nbreak", "no break", 0), 0);
    expect_applies();
}

TEST_F(Diffs, ADirectoryMadeAnewIsComparedFileByFile) {
    before("src/same", "same\n");
    before("src/edited", "1\n2\n");
    before("src/gone", "x\n");
    begin_with_copy();
    for (const char* name : {"src/same", "src/edited", "src/gone"})
        ASSERT_EQ(actor().unlink(name), 0);
    ASSERT_EQ(actor().rmdir("src"), 0);
    ASSERT_EQ(actor().mkdir("src", 0755), 0);
    make("src/same", "same\n");
    make("src/edited", "1\ntwo\n");
    const auto text = patch();
    EXPECT_EQ(text.find("same"), std::string::npos) << text;
    EXPECT_NE(text.find("-2\n+two\n"), std::string::npos) << text;
    EXPECT_EQ(status().lines.added, 1U);
    EXPECT_EQ(status().lines.removed, 2U);
    expect_applies();
}

TEST_F(Diffs, TypesThatFlip) {
    before("a", "text\n");
    before("b/x", "text\n");
    before("c", "text\n");
    begin_with_copy();
    ASSERT_EQ(actor().unlink("a"), 0);
    ASSERT_EQ(actor().symlink("a", "c"), 0);
    ASSERT_EQ(actor().unlink("b/x"), 0);
    ASSERT_EQ(actor().rmdir("b"), 0);
    make("b", "now a file\n");
    expect_applies();
}

TEST_F(Diffs, OnlyBelowThePathsThatWereAsked) {
    before("a/x", "1\n");
    before("b/x", "1\n");
    begin();
    replace("a/x", "2\n");
    replace("b/x", "2\n");
    ASSERT_EQ(actor().mkdir("n", 0755), 0);
    make("n/one", "1\n");
    make("n/two", "1\n");
    const auto diffs = operations().diff("", "", {"b", "./n/two"}, false);
    ASSERT_OK(diffs);
    ASSERT_EQ(diffs->size(), 2U);
    EXPECT_EQ((*diffs)[0].change.path, "b/x");
    EXPECT_EQ((*diffs)[0].text, "");
    EXPECT_EQ((*diffs)[0].lines.added, 1U);
    EXPECT_EQ((*diffs)[1].change.path, "n/two");
}

TEST_F(Diffs, FilesThatAreBinaryOrTooLarge) {
    before("binary", std::string("a\0b", 3));
    before("large", "");
    std::filesystem::resize_file(raw() / "large", 17U << 20U);
    begin();
    ASSERT_EQ(actor().append("binary", "x"), 0);
    ASSERT_EQ(actor().append("large", "x"), 0);
    const auto diffs = operations().diff("", "", {}, true);
    ASSERT_OK(diffs);
    ASSERT_EQ(diffs->size(), 2U);
    for (const auto& diff : *diffs) {
        EXPECT_TRUE(diff.binary);
        EXPECT_NE(diff.text.find("Binary files a/"), std::string::npos);
    }
    EXPECT_EQ(status().lines.added, 0U);
}

// Random work with checkpoints and restores on the way; then every node against every other, by
// patch.
class Wanderer {
 public:
    Wanderer(TreeActor& actor, unsigned seed) : actor_(actor), random_(seed) {}

    void step() {
        switch (pick(8)) {
            case 0:
                made(actor_.create(path(), 0644));
                break;
            case 1:
                made(actor_.mkdir(path(), 0755));
                break;
            case 2:
                made(actor_.rename(path(), path(), 0));
                break;
            case 3:
                made(actor_.rename(path(), path(), RENAME_EXCHANGE));
                break;
            case 4:
                made(actor_.unlink(path()));
                break;
            case 5:
                made(actor_.append(path(), "line " + std::to_string(pick(100)) + "\n"));
                break;
            case 6:
                made(actor_.write(path(), 0, "some\ntext\n" + std::to_string(pick(10))));
                break;
            default: {
                const std::string at = path();
                made(actor_.truncate(at, 0));
                if (pick(4) == 0)
                    made(actor_.append(at,
                                       std::string(35'000, 'x') + "\n" + std::string(35'000, 'y')));
            }
        }
    }
    unsigned pick(unsigned below) {
        return std::uniform_int_distribution<unsigned>(0, below - 1)(random_);
    }
    unsigned worked() const { return worked_; }

 private:
    std::string path() {
        std::string path;
        for (unsigned depth = pick(3) + 1; depth > 0; --depth) {
            if (!path.empty()) path += '/';
            path += static_cast<char>('a' + pick(4));
        }
        return path;
    }
    void made(int number) { worked_ += number == 0 ? 1U : 0U; }

    TreeActor& actor_;
    std::mt19937 random_;
    unsigned worked_ = 0;
};

TEST_F(Diffs, EveryNodeAgainstEveryOther) {
    for (const unsigned seed : {1U, 2U, 3U, 13U}) {
        if (!is_taken(seed)) continue;
        std::filesystem::remove_all(raw());
        before("a/a", "1\n2\n3\n");
        before("b", "1\n2\n3\n");
        begin();
        std::map<std::string, std::string> nodes;
        Wanderer wanderer(actor(), seed);
        for (int round = 0; round < 6; ++round) {
            for (int i = 0; i < 40; ++i)
                wanderer.step();
            const auto node = checkpoint();
            nodes[node] = copy_to("node-" + std::to_string(seed) + node);
            if (round % 2 == 0) continue;
            const auto back =
                std::next(nodes.begin(), wanderer.pick(static_cast<unsigned>(nodes.size())));
            ASSERT_OK(
                operations().rollback(World::asker(), back->first, false, overlay::Consent::kAll));
        }
        EXPECT_GT(wanderer.worked(), 20U);
        for (const auto& [from, from_copy] : nodes) {
            for (const auto& [to, to_copy] : nodes) {
                older_ = (scratch_.path() / "patched").string();
                run("rm -rf '" + older_ + "' && cp -a '" + from_copy + "' '" + older_ + "'");
                SCOPED_TRACE("seed " + std::to_string(seed) + " from " + from + " to " + to);
                expect_applies(from, to, to_copy);
                if (HasFailure()) return;
            }
        }
        world_.reset();
    }
}

}  // namespace
}  // namespace unwrite::tests
