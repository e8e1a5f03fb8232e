// What agents changed that other programs run later, outside the sandbox: named first in the
// summary of a run, in the review and in `status`. Which files these are is in the policy
// (overlay::Policy::telling()).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/workspace.h"
#include "control/wire.h"

namespace unwrite::cli {

struct OutsideRun {
    std::string path;
    std::string what{};  ///< "scripts: postinstall", "core.fsmonitor = ./x"; or empty
};

/// The scripts of a package.json that are new or other than before; none when it cannot be read.
std::vector<std::string> new_scripts(std::string_view older, std::string_view newer);

/// The text before a change: `newer` with the hunks of a unified diff taken back.
std::string before_diff(std::string_view newer, std::string_view diff);

/// Of these changes since `since` ("": the root), those by agents. Below a directory that came,
/// 20,000 names are looked at.
Result<std::vector<OutsideRun>> outside_runs(Context& context, Workspace& workspace,
                                             const std::vector<overlay::Change>& changes,
                                             const std::vector<overlay::Origin>& origins,
                                             const std::string& since);

/// The same of the whole task.
Result<std::vector<OutsideRun>> outside_runs_of_task(Context& context, Workspace& workspace);

/// For one line: "Runs outside the sandbox: .vscode/tasks.json and 2 more"; empty without any.
std::string outside_run_words(const std::vector<OutsideRun>& runs);
/// A line for each, below a heading; nothing where there are none.
std::string outside_run_lines(const std::vector<OutsideRun>& runs);
control::Json encode_outside_runs(const std::vector<OutsideRun>& runs);

}  // namespace unwrite::cli
