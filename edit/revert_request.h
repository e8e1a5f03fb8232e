// The requests of the tool `revert_to_state`: which node to go back to, and why. A call only
// records one; revert_drain.h carries them out later.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace unwrite::edit {

/// Written "n10" in texts and 10 in JSON.
using NodeId = std::uint64_t;

enum class RevertCategory { kFailure, kTangent, kCompletion, kStepSummary };
enum class TagKind { kLesson, kFinding, kOutcome, kCheckpoint };

/// "failure", "tangent", "completion", "step-summary".
std::string_view name_of(RevertCategory category);
std::optional<RevertCategory> category_from(std::string_view name);
/// "lesson", "finding", "outcome", "checkpoint".
std::string_view name_of(TagKind kind);
/// What the target is marked with, in the order of the categories.
TagKind tag_kind_of(RevertCategory category);
/// Lessons and findings are shown for a while; outcomes and checkpoints stay.
bool is_pinned(TagKind kind);
/// Whether the files go back to the target as well: failure and tangent do, completion and
/// step-summary keep them and squash the steps since.
bool restores_files(RevertCategory category);

/// "n10" or "10", digits only and nothing around them.
std::optional<NodeId> node_from(std::string_view text);
std::string node_text(NodeId id);

struct RevertRequest {
    RevertCategory category = RevertCategory::kFailure;
    NodeId target = 0;
    std::optional<std::string> summary{};
};

/// From the JSON of a call's arguments; a summary that is no string counts as none, fields that
/// are not known are passed over. Errors are kUsage, with one of the texts
///  Invalid arguments: category is required
///  Invalid arguments: category must be one of failure | tangent | completion | step-summary;
///   got "<x>"
///  Invalid arguments: step is required
///  Invalid arguments: step must be a node identifier like "n12" or "12"; got "<x>"
Result<RevertRequest> decode_revert(std::string_view arguments);

/// What the caller of the tool is answered.
std::string revert_acknowledgement(const RevertRequest& request);
/// The JSON schema of the arguments.
std::string revert_schema();

}  // namespace unwrite::edit
