// What git would write over without asking. It stops before untracked files, but a file that it
// ignores counts as rubbish there: a checkout, a revert and a rebase overwrite it, and remove a
// whole directory of such files where a file must go. Whoever lets git write paths asks here first.
#pragma once

#include <string>
#include <vector>

#include "git/repository.h"

namespace unwrite::git {

/// The paths that the commit `after` has and `before` has not.
Result<std::vector<std::string>> paths_added(const Repository& repository,
                                             const std::string& before, const std::string& after);

/// The files that git does not know, ignored ones too, at these paths (from the top of the work
/// tree), below them, or in the place of a directory above them. Sorted.
Result<std::vector<std::string>> unknown_files_at(const Repository& repository,
                                                  const std::vector<std::string>& paths);

/// kConflict when there are any; `verb` begins the message.
Result<> expect_no_unknown_files(const Repository& repository, const std::string& verb,
                                 const std::vector<std::string>& paths);

/// The first few of these names, for a message.
std::string some_of(const std::vector<std::string>& names);

}  // namespace unwrite::git
