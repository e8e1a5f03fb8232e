// Directories that nobody reads file by file are one line.
#include "cli/heaps.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "cli/render.h"

namespace unwrite::cli {
namespace {

using overlay::Change;
using overlay::ChangeKind;

std::vector<Change> changes_at(const std::vector<std::string>& paths) {
    std::vector<Change> changes;
    for (const std::string& path : paths) {
        Change change;
        change.path = path;
        change.type = S_IFREG;
        change.bytes = 10;
        changes.push_back(change);
    }
    return changes;
}

TEST(Heaps, TheOutermostOne) {
    EXPECT_EQ(heap_above(".git/objects/x"), ".git");
    EXPECT_EQ(heap_above("a/node_modules/b/node_modules/c"), "a/node_modules");
    EXPECT_EQ(heap_above(".git"), "");
    EXPECT_EQ(heap_above(".gitignore"), "");
    EXPECT_EQ(heap_above("my.git/x"), "");
    EXPECT_EQ(heap_above(""), "");
}

TEST(Heaps, S61_ManyChangesInOneAreOneLine) {
    const auto lines = heaped(changes_at({".git/HEAD", ".git/a", ".git/b", ".git/c", ".gitignore",
                                          "a/.git/x", "a/.git/y", "a/.git/z", "b"}));
    ASSERT_EQ(lines.size(), 6U);
    EXPECT_EQ(lines[0].path, ".git");
    EXPECT_EQ(lines[0].below, 4U);
    EXPECT_EQ(lines[0].bytes, 40U);
    EXPECT_TRUE(is_heap(lines[0]));
    EXPECT_EQ(lines[1].path, ".gitignore");
    EXPECT_EQ(lines[2].path, "a/.git/x");
    EXPECT_FALSE(is_heap(lines[2]));
    EXPECT_EQ(change_lines({lines[0]}, 0, Colour::kNo), "  M  .git/  (4 changes below)\n");
}

TEST(Heaps, NothingAndTheEnd) {
    EXPECT_TRUE(heaped({}).empty());
    EXPECT_EQ(heaped(changes_at({"x", ".venv/1", ".venv/2", ".venv/3", ".venv/4"})).size(), 2U);
}

}  // namespace
}  // namespace unwrite::cli
