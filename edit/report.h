// The texts that the asker of an edit is given, and that its user is asked with.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "edit/plan.h"

namespace unwrite::edit {

inline constexpr std::size_t kMaxSummary = 200;

/// What the patch did: kNoChanges; the numbered diff of one file; or of several a line for each
/// ("modified: x", "created: x", "deleted: x"), an empty line, and their diffs, each below a line
/// with its path. Of a file that was created or deleted, and is long, only the beginning is shown:
/// the asker knows the rest. Errors: kSystem.
Result<std::string> edit_report(const EditPlan& plan);

/// Completes the response to a plan that has been carried out: what became of which file.
void tell(EditResponse& response, const EditPlan& plan);

/// "Apply patch to 2 file(s): a, b" or "Apply patch (no files)", at most kMaxSummary bytes, for an
/// LP1 patch; one that cannot be parsed has no files.
std::string approval_summary(std::string_view patch);

}  // namespace unwrite::edit
