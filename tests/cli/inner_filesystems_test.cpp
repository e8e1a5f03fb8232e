// Which mounts lie inside a workspace, and how they are said.
#include "cli/inner_filesystems.h"

#include <gtest/gtest.h>

namespace unwrite::cli {
namespace {

constexpr const char* kMounts =
    "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    "30 21 0:40 / /w/deep/inner rw - tmpfs none rw\n"
    "31 30 0:41 / /w/deep/inner/more rw - tmpfs none rw\n"
    "32 21 0:42 / /w/deep-er rw - ext4 /dev/sdb rw\n"
    "33 21 0:43 / /w/odd\\040name rw - btrfs /dev/sdc rw\n"
    "34 21 0:44 / /we rw - tmpfs none rw\n"
    "35 21 0:45 / /w rw - fuse.unwrite unwrite:1 rw,user_id=0\n"
    "36 21 0:46 / /w/own rw - fuse.unwrite unwrite:2 rw,user_id=0\n";

TEST(InnerFilesystems, TheOutermostInsideAreFound) {
    std::vector<std::string> found;
    for (const InnerFilesystem& inner : inner_filesystems(kMounts, "/w"))
        found.push_back(inner.path + " " + inner.type);
    EXPECT_EQ(found,
              (std::vector<std::string>{"deep-er ext4", "deep/inner tmpfs", "odd name btrfs"}));
    EXPECT_TRUE(inner_filesystems(kMounts, "/w/deep/inner/more").empty());
    EXPECT_TRUE(inner_filesystems("", "/w").empty());
}

TEST(InnerFilesystems, TheyAreSaid) {
    EXPECT_EQ(inner_words({}), "");
    EXPECT_EQ(inner_words({{"node_modules", "ext4"}}),
              "node_modules (ext4) is another filesystem: changes there are not recorded and "
              "cannot be taken back.");
    EXPECT_EQ(inner_words({{"a", "x"}, {"b", "x"}, {"c", "x"}, {"d", "x"}, {"e", "x"}, {"f", "x"}}),
              "a (x), b (x), c (x), d (x), e (x) and 1 more are other filesystems: changes there "
              "are not recorded and cannot be taken back.");
}

}  // namespace
}  // namespace unwrite::cli
