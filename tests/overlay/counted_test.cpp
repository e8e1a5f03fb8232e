// How many files have changed is one number, whoever is asked (S61, S64): the status, the number
// for a prompt, the diff, and whoever looks at the directory before and after.
#include <gmock/gmock.h>

#include <map>
#include <random>

#include "overlay/changes.h"
#include "tests/overlay/looking.h"
#include "tests/support/thorough.h"

namespace unwrite::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// What the tree is, looked at from outside: by path, files with what they hold.
struct Seen {
    ino_t inode = 0;
    bool is_directory = false;
    std::string holds{};
};
using Tree = std::map<std::string, Seen>;

bool is_in_ignored(const std::string& path) {
    const std::string all = "/" + path + "/";
    return all.find("/node_modules/") != std::string::npos ||
           all.find("/target/") != std::string::npos;
}

/// Counts what differs between two trees in the words of differences.h, without any of its code.
class Plain {
 public:
    Plain(const Tree& before, const Tree& after) : before_(before), after_(after) {
        for (const auto& [path, seen] : before)
            paths_before_[seen.inode] = path;
        for (const auto& [path, seen] : after)
            lives_on_.insert(seen.inode);
    }

    std::uint64_t files() {
        std::map<std::string, const Seen*> gone, come;
        for (const auto& [path, seen] : before_)
            if (!seen.is_directory) gone[path] = &seen;
        for (const auto& [path, seen] : after_)
            if (!seen.is_directory) come[path] = &seen;
        std::uint64_t count = 0;
        for (auto at = come.begin(); at != come.end();) {
            if (const Seen* const was = replaced(at->first)) {
                const std::string& path = paths_before_.at(was->inode);
                count += path != at->first || was->holds != at->second->holds;
                gone.erase(path);
                at = come.erase(at);
            } else {
                ++at;
            }
        }
        for (auto at = come.begin(); at != come.end();) {
            const auto was = paths_before_.find(at->second->inode);
            if (was == paths_before_.end()) {
                ++at;
                continue;
            }
            count += was->second != at->first || gone.at(was->second)->holds != at->second->holds;
            gone.erase(was->second);
            at = come.erase(at);
        }
        for (const auto& [path, seen] : come) {
            const Place place = place_of(path);
            const auto was = gone.find(place.path);
            const bool same = was != gone.end() && !place.uncompared && was->first == path &&
                              was->second->holds == seen->holds;
            if (!same) ++count;
            if (was != gone.end()) gone.erase(was);
        }
        return count + gone.size();
    }

 private:
    /// The file that stood there, when it is another one that is nowhere else now.
    const Seen* replaced(const std::string& path) const {
        const auto [above, name] = split_path(path);
        std::string was_above;
        if (!above.empty()) {
            const auto was = paths_before_.find(after_.at(above).inode);
            if (was == paths_before_.end()) return nullptr;
            was_above = was->second + "/";
        }
        const auto was = before_.find(was_above + name);
        const bool is = was != before_.end() && !was->second.is_directory &&
                        was->second.inode != after_.at(path).inode &&
                        !lives_on_.contains(was->second.inode);
        return is ? &was->second : nullptr;
    }

    /// Where it was, had it been there before.
    struct Place {
        std::string path{};
        bool uncompared = false;  ///< in an ignored directory that took the place of another
    };
    Place place_of(const std::string& path) {
        if (path.empty()) return {};
        const auto now = after_.find(path);
        const auto was = paths_before_.find(now->second.inode);
        if (was != paths_before_.end()) return {was->second, false};
        const auto [above, name] = split_path(path);
        Place place = place_of(above);
        place.path += (place.path.empty() ? "" : "/") + name;
        if (!now->second.is_directory) return place;
        const auto there = before_.find(place.path);
        const bool replaces = there != before_.end() && there->second.is_directory &&
                              !lives_on_.contains(there->second.inode);
        const bool apart = is_in_ignored(path) && place.path != path;
        if (!replaces || apart) return {"made/" + std::to_string(now->second.inode), false};
        place.uncompared = place.uncompared || is_in_ignored(path);
        return place;
    }

    const Tree& before_;
    const Tree& after_;
    std::map<ino_t, std::string> paths_before_;
    std::set<ino_t> lives_on_;
};

class Counted : public Looking {
 protected:
    Tree look() const {
        Tree tree;
        std::vector<std::string> left = {""};
        while (!left.empty()) {
            const std::string at = left.back();
            left.pop_back();
            for (const auto& entry : std::filesystem::directory_iterator(raw() / at)) {
                const std::string name = entry.path().filename().string();
                if (name == ".unwrite") continue;
                const std::string path = at.empty() ? name : at + "/" + name;
                struct stat st {};
                EXPECT_EQ(::lstat(entry.path().c_str(), &st), 0);
                Seen seen{st.st_ino, S_ISDIR(st.st_mode), {}};
                if (!seen.is_directory)
                    seen.holds = scratch_.read("work/" + path) + std::to_string(st.st_mode);
                if (seen.is_directory) left.push_back(path);
                tree.emplace(path, std::move(seen));
            }
        }
        return tree;
    }
    /// The one number; after a failure that of the status.
    std::uint64_t agreed(const std::string& trace = {}) {
        const overlay::Status seen = status();
        const std::uint64_t files = overlay::files_in(seen.changes);
        EXPECT_EQ(world_->compare_counts(), "") << trace;
        const auto diffs = operations().diff("", "", {}, false);
        EXPECT_TRUE(diffs.ok());
        std::uint64_t in_diffs = 0, left_out = 0;
        overlay::LineCounts lines;
        std::string listed;
        for (const auto& diff : *diffs) {
            in_diffs += overlay::files_in(diff.change);
            left_out += overlay::lines_left_out(diff.change);
            lines.added += diff.lines.added;
            lines.removed += diff.lines.removed;
            listed += line_of(diff.change) + " [" + std::to_string(diff.change.files) + "]\n";
        }
        EXPECT_EQ(in_diffs, files) << trace << listed << "status:\n"
                                   << ::testing::PrintToString(lines_of(seen.changes));
        EXPECT_EQ(left_out, seen.lines_not_counted) << trace << listed;
        EXPECT_EQ(lines.added, seen.lines.added) << trace << listed;
        EXPECT_EQ(lines.removed, seen.lines.removed) << trace << listed;
        return files;
    }
    int remove_all(const std::string& path) {
        const auto st = actor().stat(path);
        if (!st || !S_ISDIR(st->st_mode)) return actor().unlink(path);
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(raw() / path))
            names.push_back(entry.path().filename().string());
        for (const std::string& name : names)
            remove_all(path + "/" + name);
        return actor().rmdir(path);
    }
};

TEST_F(Counted, S61_S64_DirectoriesBelowAreNoFiles) {
    before("gone/a/b/c/x", "1\n");
    before("gone/y", "1\n");
    begin();
    for (const char* path : {"d", "d/e", "d/e/f"})
        ASSERT_EQ(actor().mkdir(path, 0755), 0);
    make("d/e/f/x", "1\n");
    EXPECT_EQ(agreed(), 1U);
    ASSERT_EQ(remove_all("gone"), 0);
    EXPECT_EQ(agreed(), 3U);
    EXPECT_THAT(changes(),
                ElementsAre("created d/ (3 below, 2 bytes)", "deleted gone/ (5 below, 4 bytes)"));
    // What holds no file is one change all the same.
    ASSERT_EQ(actor().mkdir("empty", 0755), 0);
    EXPECT_EQ(agreed(), 4U);
}

TEST_F(Counted, S61_S64_ARenamedDirectoryIsTheFilesInIt) {
    before("src/a", "1\n");
    before("src/b", "1\n");
    before("src/deep/c", "1\n");
    begin();
    ASSERT_EQ(actor().rename("src", "lib", 0), 0);
    EXPECT_EQ(agreed(), 3U);
    replace("lib/a", "2\n");
    EXPECT_EQ(agreed(), 3U);
    make("lib/new", "1\n");
    ASSERT_EQ(actor().unlink("lib/deep/c"), 0);
    EXPECT_EQ(agreed(), 4U);
    ASSERT_EQ(actor().rename("lib", "src", 0), 0);
    EXPECT_EQ(agreed(), 3U);
}

TEST_F(Counted, S61_S64_ADirectoryMadeAgainIsComparedFileByFile) {
    before("d/same", "1\n");
    before("d/other", "1\n");
    before("d/gone", "1\n");
    before("d/e/same", "1\n");
    for (const char* path : {"d", "d/e"})
        std::filesystem::permissions(raw() / path, std::filesystem::perms{0755});
    begin();
    ASSERT_EQ(remove_all("d"), 0);
    EXPECT_EQ(agreed(), 4U);
    ASSERT_EQ(actor().mkdir("d", 0755), 0);
    ASSERT_EQ(actor().mkdir("d/e", 0755), 0);
    make("d/same", "1\n");
    make("d/other", "2\n");
    make("d/e/same", "1\n");
    make("d/e/new", "1\n");
    EXPECT_EQ(agreed(), 3U);
    EXPECT_THAT(changes(), ElementsAre("created d/e/new", "deleted d/gone", "modified d/other"));
    replace("d/other", "1\n");
    make("d/gone", "1\n");
    ASSERT_EQ(actor().unlink("d/e/new"), 0);
    EXPECT_EQ(agreed(), 0U);
    EXPECT_FALSE(status().task_open);
    ASSERT_EQ(actor().chmod("d/e", 0700), 0);
    EXPECT_THAT(changes(), ElementsAre("attributes d/e/"));
}

TEST_F(Counted, S61_LinesOfIgnoredTreesAreNotCounted) {
    before(".gitignore", "/target/\n*.log\nbuild/*\n!keep/\n");
    before("web/.gitignore", "dist\n");
    before("old/node_modules/x/index.js", "1\n2\n3\n");
    before("target/was", "1\n");
    begin();
    for (const char* path : {"target/deep", "build", "web/dist", "app", "app/node_modules",
                             "app/node_modules/x", "app/target"})
        ASSERT_EQ(actor().mkdir(path, 0755), 0) << path;
    for (const char* path : {"target/deep/a", "build/b", "web/dist/c", "app/node_modules/x/d"})
        make(path, "1\n2\n");
    replace("target/was", "2\n3\n");
    EXPECT_EQ(agreed(), 5U);
    overlay::Status seen = status();
    EXPECT_EQ(seen.lines_not_counted, 5U);
    EXPECT_EQ(seen.lines.added, 0U);
    // These are not ignored: another place, a file, a tree whose own rules say so only now.
    make("app/target/e", "1\n");
    make("app/main.js", "1\n2\n3\n");
    make("notes.log", "1\n");
    ASSERT_EQ(actor().mkdir("tool", 0755), 0);
    make("tool/f", "1\n");
    EXPECT_EQ(agreed(), 9U);
    seen = status();
    EXPECT_EQ(seen.lines_not_counted, 5U);
    EXPECT_EQ(seen.lines.added, 6U);
    make("tool/.gitignore", "# made by a tool\n*\n");
    ASSERT_EQ(remove_all("old"), 0);
    EXPECT_EQ(agreed(), 11U);
    seen = status();
    EXPECT_EQ(seen.lines_not_counted, 8U);
    EXPECT_EQ(seen.lines.removed, 0U);
}

TEST_F(Counted, D19_GitsBookkeepingIsNoChange) {
    std::filesystem::create_directories(raw());
    ASSERT_EQ(
        run("cd '" + raw().string() + "' && umask 022 && git init -q . && echo 1 >a && git add a"),
        0);
    const std::string index = scratch_.read("work/.git/index");
    begin();
    std::string refreshed = index;
    refreshed[12] = static_cast<char>(refreshed[12] ^ 1);  // when a was seen last
    save(".git/index", refreshed, ".lock");
    make(".git/HEAD.lock", "");
    EXPECT_THAT(changes(), IsEmpty());
    EXPECT_EQ(agreed(), 0U);
    EXPECT_FALSE(status().task_open);
    EXPECT_EQ(patch(), "");
    checkpoint();
    const auto log = operations().log("", false, true);
    ASSERT_TRUE(log.ok());
    for (const auto& entry : log->entries)
        EXPECT_THAT(lines_of(entry.changes), IsEmpty());
    std::string staged = refreshed;
    staged[12 + 40] = static_cast<char>(staged[12 + 40] ^ 1);  // what is staged
    save(".git/index", staged, ".lock");
    EXPECT_THAT(changes(), ElementsAre("modified .git/index"));
    EXPECT_EQ(agreed(), 1U);
}

/// Random changes, most of them to directories.
class RandomTree : public Counted {
 protected:
    using Random = std::mt19937;
    std::string directory(Random& random) {
        std::vector<std::string> all = {""};
        for (const auto& [path, seen] : look())
            if (seen.is_directory) all.push_back(path);
        return all[random() % all.size()];
    }
    std::string file(Random& random) {
        std::vector<std::string> all = {"none"};
        for (const auto& [path, seen] : look())
            if (!seen.is_directory && !path.ends_with("kept") && path != ".gitignore")
                all.push_back(path);
        return all[random() % all.size()];
    }
    std::string some_name(Random& random) {
        static const std::vector<std::string> names = {"a", "b",      "c",           "src",
                                                       "e", "target", "node_modules"};
        return names[random() % names.size()];
    }
    std::string some_path(Random& random) {
        const std::string above = directory(random);
        return (above.empty() ? "" : above + "/") + some_name(random);
    }
    void put(const std::string& path, Random& random) {
        if (actor().create(path, 0644) != 0) return;
        // Few different ones, so that what is made again may be the same.
        ASSERT_EQ(actor().write(path, 0, std::string(1 + random() % 3, 'x') + "\n"), 0);
    }
    /// A directory always has a file, so that there is none but files to be counted.
    void grow(const std::string& path, Random& random) {
        if (actor().mkdir(path, 0755) != 0) return;
        put(path + "/kept", random);
        for (auto i = random() % 3; i > 0; --i)
            put(path + "/" + some_name(random), random);
        if (random() % 3 == 0) grow(path + "/" + some_name(random), random);
    }
    std::string change(Random& random) {
        const std::string some = some_path(random), old = directory(random), one = file(random);
        switch (random() % 9) {
            case 0:
            case 1:
                put(some, random);
                return "put " + some;
            case 2:
                grow(some, random);
                return "grow " + some;
            case 3:
                if (!old.empty()) remove_all(old);
                return "remove " + old;
            case 4:
                if (!old.empty()) {
                    remove_all(old);
                    grow(old, random);
                }
                return "renew " + old;
            case 5:
                if (!old.empty()) static_cast<void>(actor().rename(old, some, 0));
                return "rename " + old + " to " + some;
            case 6:
                static_cast<void>(actor().rename(one, some, 0));
                return "rename " + one + " to " + some;
            case 7:
                static_cast<void>(actor().unlink(one));
                return "unlink " + one;
            default:
                static_cast<void>(actor().truncate(one, 0));
                static_cast<void>(actor().write(one, 0, std::string(random() % 4, 'x') + "\n"));
                return "write " + one;
        }
    }
};

TEST_F(RandomTree, S61_S64_EverybodyCountsTheSame) {
    const unsigned first = std::getenv("UNWRITE_SEED") != nullptr
                               ? static_cast<unsigned>(std::atoi(std::getenv("UNWRITE_SEED")))
                               : 1;
    for (unsigned seed = first; seed < first + 40; ++seed) {
        if (!is_taken(seed)) continue;
        Random random(seed);
        world_.reset();
        std::filesystem::remove_all(raw());
        std::filesystem::create_directories(raw());
        scratch_.write("work/.gitignore", "target/\n");
        begin();
        for (int i = 0; i < 12; ++i)
            grow(some_path(random), random);
        ASSERT_OK(operations().commit(World::asker(), "", false));
        const Tree was = look();
        std::string trace = "UNWRITE_SEED=" + std::to_string(seed) + "\n";
        for (int i = 0; i < 12; ++i) {
            trace += change(random) + "\n";
            const Tree now = look();
            const std::uint64_t files = agreed(trace);
            ASSERT_EQ(files, Plain(was, now).files())
                << trace << ::testing::PrintToString(lines_of(status().changes));
            if (HasFailure()) return;
            if (random() % 4 == 0) checkpoint();
        }
    }
}

}  // namespace
}  // namespace unwrite::tests
