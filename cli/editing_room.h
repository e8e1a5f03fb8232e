// EditingRoom: the mounted workspace as the tools of an agent work on it.
#pragma once

#include <memory>
#include <string>

#include "cli/workspace.h"
#include "mcp/room.h"
#include "overlay/editing.h"

namespace unwrite::cli {

/// `agent`: judged as an agent, whoever started it. Errors: kNoWorkspace
/// when nothing is mounted at or above `directory` (absolute).
Result<std::unique_ptr<mcp::Room>> enter_mounted(const std::string& directory, bool agent);

/// Processes beside this one that have files open for writing through the mount, as far as they can
/// be looked into, in words; empty when there are none.
std::string writers_of(const Workspace& workspace);

/// Makes whole what an edit left that was killed, and answers with the files that it took back.
/// `root`: the mount's root, or the raw directory of a session that is not mounted.
Result<std::vector<std::string>> finish_edits(overlay::Operations& operations, UniqueFd root);
/// The same for a command that shows or accepts what is there, and says so. While another edit is
/// going on it waits for its end, or (kShow) does nothing.
enum class Before { kAccept, kShow };
Result<> finish_edits(Context& context, Workspace& workspace, Before what);
/// Says so, when there are any.
void tell_taken_back(Context& context, const std::vector<std::string>& paths);
/// What somebody changed in the way of an interrupted restore (overlay::Found::set_aside).
void tell_set_aside(Context& context, const std::vector<std::string>& paths);
/// What a process of an earlier mount can still write to (overlay::Found::in_use).
void tell_in_use(Context& context, const std::vector<std::string>& paths);

/// What a path of the command line is called below the mount's root: it is meant from where the
/// command was asked. kUsage when it lies outside.
Result<std::string> path_in_mount(const Context& context, const std::string& path);

/// What an edit ends with: 3 when nothing changed, 4 when a rule forbids it, 5 when the file is not
/// what was expected, 1 for all else.
int exit_code(const overlay::EditAnswer& answer);
/// Why it failed, with the place in the patch and the lines that may have been meant.
Error failure_of(const overlay::EditAnswer& answer);

/// All of a standard stream or file, at most `most` bytes. kUsage when there are more.
Result<std::string> read_input(const std::string& file, std::size_t most);

}  // namespace unwrite::cli
