#include "control/mounts.h"

#include <gtest/gtest.h>

namespace unwrite::control {
namespace {

constexpr const char* kText =
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "40 22 0:35 / /w rw,nosuid,nodev shared:7 master:2 - fuse.unwrite unwrite:00ff "
    "rw,user_id=1000,group_id=1\n"
    "41 40 0:36 / /w/in\\040ner rw - fuse.unwrite unwrite:abcd rw,user_id=0\n"
    "42 22 0:37 / /wide rw - fuse.other unwrite:1111 rw\n"
    "43 22 0:38 / /odd\\134\\012x rw - fuse.unwrite else rw\n"
    "44 40 0:36 /.unwrite-git /main/.git rw - fuse.unwrite unwrite:abcd rw,user_id=0\n"
    "broken line\n\n";

TEST(Mounts, LinesAreRead) {
    const std::vector<MountPoint> mounts = parse_mountinfo(kText);
    ASSERT_EQ(mounts.size(), 5u);
    EXPECT_EQ(mounts[1].path, "/w");
    EXPECT_EQ(mounts[1].mount, 40u);
    EXPECT_EQ(mounts[1].type, kMountType);
    EXPECT_EQ(mounts[1].id, "00ff");
    EXPECT_EQ(mounts[1].owner, 1000u);
    EXPECT_EQ(mounts[2].path, "/w/in ner");
    EXPECT_EQ(mounts[4].path, "/odd\\\nx");
    EXPECT_EQ(mounts[4].id, "");
}

TEST(Mounts, TheInnermostIsFound) {
    std::vector<MountPoint> mounts = parse_mountinfo(kText);
    std::erase_if(mounts, [](const MountPoint& mount) { return mount.type != kMountType; });
    EXPECT_EQ(mount_above(mounts, "/w")->id, "00ff");
    EXPECT_EQ(mount_above(mounts, "/w/inner")->id, "00ff");
    EXPECT_EQ(mount_above(mounts, "/w/in ner/a/b")->id, "abcd");
    EXPECT_FALSE(mount_above(mounts, "/wide"));
    EXPECT_FALSE(mount_above(mounts, "/"));
}

TEST(Mounts, WithinIsByComponents) {
    EXPECT_TRUE(is_within("/a", "/a"));
    EXPECT_TRUE(is_within("/a/b", "/a"));
    EXPECT_FALSE(is_within("/ab", "/a"));
    EXPECT_FALSE(is_within("/", "/a"));
    EXPECT_TRUE(is_within("/a", "/"));
}

TEST(Mounts, ThisMachineIsRead) {
    EXPECT_TRUE(unwrite_mounts());
}

}  // namespace
}  // namespace unwrite::control
