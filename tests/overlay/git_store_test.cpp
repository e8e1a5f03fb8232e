#include "overlay/git_store.h"

#include <gtest/gtest.h>

namespace unwrite::overlay {
namespace {

GitPlace place_of(std::initializer_list<std::string_view> names) {
    GitPlace place = GitPlace::kRepository;
    for (const std::string_view name : names)
        place = git_place_below(place, name);
    return place;
}

TEST(GitStore, S76_NewObjectsAreNotRecordedAndTheirRemovalIs) {
    const GitPlace objects = place_of({"objects"});
    const GitPlace fan = place_of({"objects", "5a"});
    const GitPlace pack = place_of({"objects", "pack"});
    EXPECT_FALSE(is_recorded(objects, "5a", false));
    EXPECT_FALSE(is_recorded(objects, "pack", false));
    EXPECT_FALSE(is_recorded(fan, "cdef", false));
    EXPECT_FALSE(is_recorded(pack, "pack-1.idx", false));
    EXPECT_TRUE(is_recorded(fan, "cdef", true));
    EXPECT_TRUE(is_recorded(pack, "pack-1.idx", true));
    EXPECT_TRUE(is_recorded(objects, "5a", true));
}

TEST(GitStore, S76_WhatGitMakesForAMomentIsNotRecorded) {
    const GitPlace objects = place_of({"objects"});
    EXPECT_FALSE(is_recorded(objects, "tmp_objdir-incoming-x", true));
    EXPECT_FALSE(is_recorded(place_of({"objects", "tmp_objdir-incoming-x", "5a"}), "cdef", true));
    EXPECT_FALSE(is_recorded(place_of({"objects", "5a"}), "tmp_obj_Ab12", true));
    EXPECT_FALSE(is_recorded(place_of({"objects", "pack"}), ".tmp-77-pack-1.pack", true));
}

TEST(GitStore, S76_AllElseIsRecorded) {
    EXPECT_TRUE(is_recorded(place_of({}), "packed-refs", false));
    EXPECT_TRUE(is_recorded(place_of({"refs", "heads"}), "5a", false));
    EXPECT_TRUE(is_recorded(place_of({"objects"}), "info", false));
    EXPECT_TRUE(is_recorded(place_of({"objects"}), "5A", false));
    EXPECT_TRUE(is_recorded(place_of({"objects", "info"}), "alternates", false));
    EXPECT_TRUE(is_recorded(place_of({"worktrees", "objects"}), "5a", false));
    EXPECT_EQ(git_place_below(GitPlace::kNone, "objects"), GitPlace::kNone);
    EXPECT_TRUE(is_shared(place_of({"refs", "heads"})));
    EXPECT_FALSE(is_shared(GitPlace::kNone));
}

TEST(GitStore, S76_DirectoriesOfObjectsStay) {
    EXPECT_TRUE(stays(place_of({"objects"}), "5a"));
    EXPECT_TRUE(stays(place_of({"objects"}), "pack"));
    EXPECT_FALSE(stays(place_of({"objects"}), "info"));
    EXPECT_FALSE(stays(place_of({"objects", "5a"}), "bc"));
    EXPECT_FALSE(stays(place_of({}), "objects"));
}

TEST(GitStore, S76_PathsInTheStore) {
    EXPECT_TRUE(is_in_git_store("objects/5a/cdef"));
    EXPECT_TRUE(is_in_git_store("objects/5a/"));
    EXPECT_TRUE(is_in_git_store("objects/pack/pack-1.pack"));
    for (const char* path : {"", "objects", "objects/5a", "objects/info/packs", "refs/heads/5a/b",
                             "objects/5a/tmp_objdir-1/x"})
        EXPECT_FALSE(is_in_git_store(path)) << path;
}

}  // namespace
}  // namespace unwrite::overlay
