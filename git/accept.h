// Makes one commit of exactly the files that a person accepted: what is staged beside them stays
// staged, what is changed beside them stays changed. The repository's hooks run as for any commit.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "git/repository.h"

namespace unwrite::git {

/// What is accepted: files and directories from the top of the work tree, those that are gone
/// included; a directory stands for all that lies below it.
struct Scope {
    std::set<std::string> paths{};
    /// Neither these nor what lies below them; of all names above a file the nearest one decides.
    std::set<std::string> except{};

    bool covers(std::string_view path) const;
};

using Cancelled = std::function<bool()>;  ///< as of ProcessRequest

struct Accepted {
    std::string commit;              ///< its id
    std::string branch;              ///< short name; "" when HEAD is detached
    std::vector<std::string> files;  ///< what it changes, sorted
    /// Accepted files that are not in it, each with why: "ignored", "a submodule with changes of
    /// its own", "a submodule of which not all is accepted", "a repository of its own", "git is
    /// told not to look at its changes".
    std::vector<std::string> left_out;
    /// Of which something else was staged than what was committed: path and what git calls that.
    std::vector<std::pair<std::string, std::string>> staged_otherwise;
};

/// An error means that nothing was committed and that the index is as it was. Kinds: kNothing
/// (nothing among it that git would record), kConflict (a merge or the like is underway, or a file
/// is unmerged), kSystem (nobody to be the author, a hook refused, git failed, `cancelled` said
/// true before the commit was made). Hooks have a day.
Result<Accepted> commit_accepted(const Repository& repository, const Scope& scope,
                                 const std::string& message, const Cancelled& cancelled = {});

/// The same without a look at what is underway, and with these options of `git commit`.
Result<Accepted> commit_scope(const Repository& repository, const Scope& scope,
                              const std::string& message, const Arguments& options,
                              const Cancelled& cancelled = {});

}  // namespace unwrite::git
