// Leaving the traces of an undo: the session's note, the memory's line, and their commit.
#pragma once

#include <set>
#include <string>

#include "git/undo.h"

namespace unwrite::git {

/// The session and memory files that lie in the work tree, from its top.
std::set<std::string> trace_files(const Repository& repository, const UndoOptions& options);

/// Fails where leave_traces would: a session or memory that is no regular file.
Result<> check_traces(const UndoOptions& options);

/// Writes them, and commits those that are in the work tree and not ignored: these paths alone, and
/// only if they differ from HEAD. What fails is in report.errors; the undo itself is done.
void leave_traces(const Repository& repository, const UndoOptions& options, UndoReport& report);

}  // namespace unwrite::git
