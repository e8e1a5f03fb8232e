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

}  // namespace
}  // namespace unwrite::mcp
