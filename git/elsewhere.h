// The repository of a work tree whose `.git` is a file: a linked work tree, or a submodule.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "git/state.h"

namespace unwrite::git {

/// Paths are absolute and resolved.
struct Elsewhere {
    std::string repository;  ///< what git writes in: of a linked work tree the one that it shares
    std::string own;         ///< that or below it: HEAD and the index of this work tree
};

/// Nothing where `.git` is no such file, or names a directory in `root` or above it; nor where what
/// it names does not name `root` in turn, as git leaves it: a file that somebody brought must not
/// choose a directory. `root`: absolute. It is read by its path: not for whoever serves it.
std::optional<Elsewhere> find_elsewhere(const std::string& root);

/// As read_git_state(): layout kFile, `outside`.
Result<GitState> read_git_state(const Elsewhere& elsewhere);

}  // namespace unwrite::git
