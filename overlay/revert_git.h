// What a revert knows of git: a repository is of one piece. Its index and references name objects,
// and an object that goes while they stay breaks it, for the user's own commits as well.
#pragma once

#include "overlay/revert_touches.h"

namespace unwrite::overlay {

/// After drop_idle(). What `touches` made among a repository's objects stays: nothing can miss it,
/// and what others did since may need it. An index that was written again with the same entries,
/// as `git status` does, and a lock that came and went are nobody's change. Reads the indexes;
/// errors: kSystem, kCorrupt.
Result<> spare_git(RevertTouches& touches, const std::shared_ptr<LiveNamesOf>& names);

/// Where one of `blockers` is in a repository, or others changed its references, HEAD or index
/// since the selection touched it: adds all names and objects in it that `touches` mention. Returns
/// the directories of these repositories, as `.git` or `sub/.git`.
std::set<std::string> block_repositories(const RevertTouches& touches, View& live,
                                         Blockers& blockers);

/// Whether `path` is in one of these directories, or is one.
bool is_in_any(const std::set<std::string>& directories, std::string_view path);

}  // namespace unwrite::overlay
