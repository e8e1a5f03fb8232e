// Makes one commit of exactly the files that a person accepted: what is staged beside them stays
// staged, what is changed beside them stays changed. The repository's hooks run as for any commit.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "git/repository.h"

namespace unwrite::git {

struct Accepted {
    std::string commit;              ///< its id
    std::string branch;              ///< short name; "" when HEAD is detached
    std::vector<std::string> files;  ///< what it changes, sorted
    /// Accepted files that are not in it, each with why: "ignored", "a submodule with changes of
    /// its own".
    std::vector<std::string> left_out;
};

/// `paths` are files and directories from the top of the work tree, those that are gone included;
/// of a directory all is meant that lies below. An error means that nothing was committed and that
/// the index is as it was. Kinds: kNothing (nothing among them that git would record), kConflict (a
/// merge or the like is underway, or a file is unmerged), kSystem (nobody to be the author, a hook
/// refused, git failed).
Result<Accepted> commit_accepted(const Repository& repository, const std::set<std::string>& paths,
                                 const std::string& message);

}  // namespace unwrite::git
