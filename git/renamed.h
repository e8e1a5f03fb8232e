// The names of commits after a rebase: messages that name a commit by its old name get the new one.
#pragma once

#include <map>
#include <string>

#include "git/repository.h"

namespace unwrite::git {

/// Old name of a commit to the new one.
using Renamed = std::map<std::string, std::string>;

/// HEAD was at `before` and has been rebased onto `onto`. Where a revert names a commit that was
/// rebased with it, the message is made to name the new commit; that gives the revert and what
/// follows it other names once more. Contents, authors and dates stay; where one of these commits
/// is signed, all of them stay. Answers what every rebased commit that can be told is called now.
Result<Renamed> name_after_rebase(const Repository& repository, const std::string& before,
                                  const std::string& onto);

}  // namespace unwrite::git
