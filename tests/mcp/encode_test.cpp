// What a model is told of changes (S61).
#include "mcp/encode.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace unwrite::mcp {
namespace {

using overlay::Change;
using overlay::ChangeKind;

std::vector<Change> some_changes() {
    Change mode;
    mode.kind = ChangeKind::kAttributes;
    mode.path = "run.sh";
    mode.attributes = true;
    mode.aspects = overlay::kAspectMode | overlay::kAspectXattrs;
    Change written;
    written.path = "notes";
    written.content = true;
    Change both = written;
    both.aspects = overlay::kAspectOwner;
    Change renamed;
    renamed.kind = ChangeKind::kRenamed;
    renamed.path = "new";
    renamed.old_path = "old";
    renamed.content = true;
    renamed.aspects = overlay::kAspectAcl | overlay::kAspectTime;
    return {mode, written, both, renamed};
}

TEST(Encode, S61_WhichAttributesDifferIsSaidInJson) {
    EXPECT_EQ(encode(some_changes()), Json::parse(R"([
        {"kind": "attributes", "path": "run.sh", "aspects": ["mode", "xattrs"]},
        {"kind": "modified", "path": "notes"},
        {"kind": "modified", "path": "notes", "aspects": ["owner"]},
        {"kind": "renamed", "path": "new", "old_path": "old", "content": true, "aspects": ["acl", "time"]}
    ])"));
}

TEST(Encode, S61_WhichAttributesDifferIsSaidInTheText) {
    EXPECT_EQ(lines_of(some_changes()),
              "attributes: run.sh (mode, extended attributes)\n"
              "modified: notes\n"
              "modified: notes (owner)\n"
              "renamed: new (was old) (modified) (access list, time)\n");
}

TEST(Encode, S55_ChangesAreCountedFromTheStateThatWasAskedFor) {
    overlay::Status status;
    status.root = 1;
    EXPECT_EQ(files_words(status), "No changes since n1");
    EXPECT_EQ(files_words(status, "c1"), "No changes since c1");
    status.changes = some_changes();
    EXPECT_EQ(text_of(status, "c\n1").substr(0, 30),
              "4 files changed since c\xe2\x90\x8a"
              "1, +");
}

}  // namespace
}  // namespace unwrite::mcp
