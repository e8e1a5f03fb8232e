#include "tests/crash/scenarios.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>

#include <map>

#include "tests/support/plain_actor.h"

namespace unwrite::tests {

namespace {

const Operations kNames = {
    {.kind = Kind::kMkdir, .a = "made", .x = 0755},
    {.kind = Kind::kCreate, .a = "made/inner", .x = 0600},
    {.kind = Kind::kRename, .a = "dir/one", .b = "made/one"},
    {.kind = Kind::kRename, .a = "two", .b = "three"},
    {.kind = Kind::kLink, .a = "big", .b = "made/big"},
    {.kind = Kind::kUnlink, .a = "big"},
    {.kind = Kind::kRename, .a = "dir/deep", .b = "made", .x = RENAME_EXCHANGE},
    {.kind = Kind::kSymlink, .a = "made/link", .b = "../big"},
    {.kind = Kind::kCheckpoint, .a = "first"},
    {.kind = Kind::kRename, .a = "full", .b = "empty"},
    {.kind = Kind::kUnlink, .a = "dir/hard"},
    {.kind = Kind::kRmdir, .a = "dir/other"},
    {.kind = Kind::kTemporary, .a = "dir", .b = "dir/temporary", .y = 3000, .z = 5},
    {.kind = Kind::kMknod, .a = "fifo", .x = S_IFIFO | 0600},
    {.kind = Kind::kRename, .a = "fifo", .b = "link"},
};

const Operations kContents = {
    {.kind = Kind::kWrite, .a = "big", .x = 60'000, .y = 80'000, .z = 1},
    {.kind = Kind::kTruncate, .a = "big", .x = 70'000},
    {.kind = Kind::kAppend, .a = "two", .y = 10'000, .z = 2},
    {.kind = Kind::kChmod, .a = "two", .x = 0},
    {.kind = Kind::kCheckpoint, .a = "first"},
    {.kind = Kind::kFallocate,
     .a = "big",
     .x = 4096,
     .y = 65536,
     .z = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE},
    {.kind = Kind::kCopy, .a = "three", .b = "big", .x = 0, .y = 10'000, .z = 9000},
    {.kind = Kind::kSetXattr, .a = "three", .b = "user.b", .x = 0, .y = 20, .z = 3},
    {.kind = Kind::kRemoveXattr, .a = "three", .b = "user.a"},
    {.kind = Kind::kChown, .a = "dir", .x = 1000, .y = 1000},
    {.kind = Kind::kHold, .a = "dir/hard", .x = 0},
    {.kind = Kind::kUnlink, .a = "dir/hard"},
    {.kind = Kind::kWriteHeld, .x = 0, .y = 5, .z = 60'000},
    {.kind = Kind::kUtimens, .a = "dir/one", .x = 1'000'000'000'000'000'000},
};

const Operations kMoves = {
    {.kind = Kind::kWrite, .a = "big", .x = 60'000, .y = 80'000, .z = 1},
    {.kind = Kind::kMkdir, .a = "made", .x = 0755},
    {.kind = Kind::kRename, .a = "dir/deep", .b = "made/deep"},
    {.kind = Kind::kUnlink, .a = "two"},
    {.kind = Kind::kCheckpoint, .a = "first"},
    {.kind = Kind::kTruncate, .a = "big", .x = 0},
    {.kind = Kind::kRename, .a = "three", .b = "full", .x = RENAME_EXCHANGE},
    {.kind = Kind::kSetXattr, .a = "dir", .b = "user.a", .x = 0, .y = 20, .z = 3},
    {.kind = Kind::kCheckpoint, .a = "second"},
    {.kind = Kind::kRename, .a = "made/deep", .b = "dir/deep"},
    {.kind = Kind::kRmdir, .a = "made"},
    {.kind = Kind::kWrite, .a = "big", .x = 200'000, .y = 10, .z = 4},
    {.kind = Kind::kUndo, .x = 1},
    {.kind = Kind::kRedo, .x = 1},
    {.kind = Kind::kRollback, .a = "first"},
    {.kind = Kind::kChmod, .a = "big", .x = 0},
    {.kind = Kind::kRollback, .a = "second"},
    {.kind = Kind::kDiscard},
    {.kind = Kind::kRedo, .x = 1},
    {.kind = Kind::kDiscard, .x = 1},
};

const Operations kCommits = {
    {.kind = Kind::kWrite, .a = "big", .x = 0, .y = 10, .z = 1},
    {.kind = Kind::kUnlink, .a = "two"},
    {.kind = Kind::kCheckpoint, .a = "first"},
    {.kind = Kind::kMkdir, .a = "made", .x = 0755},
    {.kind = Kind::kRename, .a = "dir", .b = "made/dir"},
    {.kind = Kind::kCommit, .x = 1},
    {.kind = Kind::kUnlink, .a = "three"},
    {.kind = Kind::kRollback, .a = "root"},
    {.kind = Kind::kCreate, .a = "new", .x = 0644},
    {.kind = Kind::kGc, .x = 1},
    {.kind = Kind::kCommit},
    {.kind = Kind::kTruncate, .a = "big", .x = 10},
    {.kind = Kind::kRename, .a = "made/dir", .b = "dir"},
    {.kind = Kind::kDiscard},
};

const Operations kDecisions = {
    {.kind = Kind::kWrite, .a = "big", .x = 60'000, .y = 80'000, .z = 1},
    {.kind = Kind::kAppend, .a = "two", .y = 10'000, .z = 2},
    {.kind = Kind::kRename, .a = "dir/deep", .b = "full/deep"},
    {.kind = Kind::kCheckpoint, .a = "first"},
    {.kind = Kind::kTruncate, .a = "big", .x = 100'000},
    {.kind = Kind::kAppend, .a = "three", .y = 10'000, .z = 3},
    {.kind = Kind::kDecide, .a = "big", .b = "three"},
    {.kind = Kind::kCheckpoint, .a = "second"},
    {.kind = Kind::kWrite, .a = "two", .x = 0, .y = 10, .z = 4},
    {.kind = Kind::kDiscard},
};

// Nodes count from 1, the root's number.
const Operations kReverts = {
    {.kind = Kind::kWrite, .a = "big", .x = 60'000, .y = 80'000, .z = 1},
    {.kind = Kind::kCheckpoint, .a = "first"},
    {.kind = Kind::kRename, .a = "dir/deep", .b = "full/deep"},
    {.kind = Kind::kUnlink, .a = "two"},
    {.kind = Kind::kCheckpoint, .a = "second"},
    {.kind = Kind::kTruncate, .a = "big", .x = 10},
    {.kind = Kind::kRevertToState, .a = "failure", .x = 2},
    {.kind = Kind::kAppend, .a = "three", .y = 10'000, .z = 3},
    {.kind = Kind::kRevertToState, .a = "tangent", .x = 3},
    {.kind = Kind::kWrite, .a = "three", .x = 0, .y = 10, .z = 4},
    {.kind = Kind::kCheckpoint, .a = "third"},
    {.kind = Kind::kSetXattr, .a = "three", .b = "user.b", .x = 0, .y = 20, .z = 3},
    {.kind = Kind::kRevertToState, .a = "completion", .x = 2},
    {.kind = Kind::kUndo, .x = 1},
};

const Operations kTurns = {
    {.kind = Kind::kMkdir, .a = "made", .x = 0755},
    {.kind = Kind::kCreate, .a = "made/file", .x = 0644},
    {.kind = Kind::kWrite, .a = "made/file", .x = 0, .y = 70'000, .z = 1},
    {.kind = Kind::kAppend, .a = "two", .y = 10'000, .z = 2},
    {.kind = Kind::kWrite, .a = "made/file", .x = 5, .y = 10, .z = 3, .agent = true},
    {.kind = Kind::kTruncate, .a = "two", .x = 0, .agent = true},
    {.kind = Kind::kCreate, .a = "its", .x = 0644, .agent = true},
    {.kind = Kind::kRename, .a = "its", .b = "three"},
    {.kind = Kind::kUnlink, .a = "three", .agent = true},
    {.kind = Kind::kCheckpoint, .a = "first"},
    {.kind = Kind::kUnlink, .a = "made/file"},
    {.kind = Kind::kUndo, .x = 1},
    {.kind = Kind::kRollback, .a = "root"},
    {.kind = Kind::kRedo, .x = 2},
    {.kind = Kind::kDiscard},
};

const Operations kPacked = {
    {.kind = Kind::kWrite, .a = "big", .x = 60'000, .y = 80'000, .z = 1},
    {.kind = Kind::kTruncate, .a = "two", .x = 1},
    {.kind = Kind::kCheckpoint, .a = "first"},
    {.kind = Kind::kPack},
    {.kind = Kind::kWrite, .a = "big", .x = 0, .y = 200'000, .z = 2},
    {.kind = Kind::kWrite, .a = "dir/one", .x = 0, .y = 10, .z = 3},
    {.kind = Kind::kCheckpoint, .a = "second"},
    {.kind = Kind::kPack},
    {.kind = Kind::kUndo, .x = 1},
    {.kind = Kind::kPack},
    {.kind = Kind::kRedo, .x = 1},
    {.kind = Kind::kRollback, .a = "first"},
    {.kind = Kind::kPack},
    {.kind = Kind::kRollback, .a = "second"},
    {.kind = Kind::kWrite, .a = "three", .x = 5, .y = 10, .z = 4},
    {.kind = Kind::kDecide, .a = "big", .b = "three"},
    {.kind = Kind::kPack},
    {.kind = Kind::kDiscard},
};

// A redo over something that was changed since: it crosses one edge after the other.
const Operations kRedone = {
    {.kind = Kind::kWrite, .a = "big", .x = 60'000, .y = 80'000, .z = 1},
    {.kind = Kind::kUnlink, .a = "two"},
    {.kind = Kind::kCheckpoint, .a = "first"},
    {.kind = Kind::kTruncate, .a = "big", .x = 10},
    {.kind = Kind::kRename, .a = "dir/deep", .b = "full/deep"},
    {.kind = Kind::kCheckpoint, .a = "second"},
    {.kind = Kind::kCreate, .a = "new", .x = 0644},
    {.kind = Kind::kRollback, .a = "root"},
    {.kind = Kind::kAppend, .a = "three", .y = 10'000, .z = 3},
    {.kind = Kind::kRedo, .x = 1},
    {.kind = Kind::kDiscard},
};

const std::map<std::string, Operations> kAll = {
    {"names", kNames},     {"contents", kContents},   {"moves", kMoves},
    {"commits", kCommits}, {"decisions", kDecisions}, {"reverts", kReverts},
    {"turns", kTurns},     {"packed", kPacked},       {"redone", kRedone}};

}  // namespace

std::vector<std::string> scenario_names() {
    std::vector<std::string> names;
    for (const auto& [name, operations] : kAll)
        names.push_back(name);
    return names;
}

const Operations& scenario(const std::string& name) {
    return kAll.at(name);
}

void furnish(const std::string& directory) {
    PlainActor actor(directory);
    for (const char* path : {"dir", "dir/deep", "dir/deep/er", "dir/other", "full", "empty"})
        actor.mkdir(path, 0755);
    for (const char* path : {"big", "two", "three", "dir/one", "dir/deep/er/file", "full/file"}) {
        actor.create(path, 0640);
        actor.write(
            path, 0,
            random_bytes(std::string(path).size(), std::string(path) == "big" ? 150'000 : 5000));
    }
    actor.link("two", "dir/hard");
    actor.symlink("link", "big");
    actor.set_xattr("three", "user.a", "old", 0);
    actor.chmod("full", 02775);
}

}  // namespace unwrite::tests
