// What plan_lp1(), plan_unified() and the span plans share: looking at files with the checks that
// every edit makes, and building the plan. For edit/plan_*.cpp.
#pragma once

#include <string>
#include <string_view>

#include "edit/plan.h"

namespace unwrite::edit {

Error patch_failed(std::string_view path, const std::string& reason,
                   const std::string& advice = {});
/// For an edit of lines that are to be found in the file.
Error absent_file(std::string_view path);
Error stale_file(std::string_view path, const Error& reason);

/// Looks at the file and refuses directories, what is no file and what is too large.
Result<FileState> look_at(const std::string& path, const Settings& settings, Files& files);

/// What `seen` says of an existing file, without lines.
Result<> check_seen(std::string_view path, const FileState& file, const SeenCheck& seen);

/// The answer is about this file, of which nothing else is known yet.
void name_file(EditResponse& response, std::string path);
/// Sets what can be known of a file that is there, although nothing is done with it.
void describe(EditResponse& response, const FileState& file);

/// The plan with what was found out for the answer.
AnsweredPlan answered(Result<EditPlan> plan, EditResponse told);

/// Each file of the plan is another one: with two names of one file, the second change would not
/// find what it expects.
Result<> check_names(const EditPlan& plan, EditResponse& told);

/// By its owner.
bool is_executable(const FileState& file);

/// From what stands there to `after`, or to nothing when it does not remain.
PlannedFile planned(const FileState& file, std::string after, bool remains);
/// As planned(), by a response that has both digests.
PlannedFile planned(const FileState& file, std::string after, const EditResponse& response);
/// Whether it differs from what stands there, the mode included.
bool changes(const FileState& file, const PlannedFile& plan);

}  // namespace unwrite::edit
