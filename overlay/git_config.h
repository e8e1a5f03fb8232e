// What git would execute because of what its files say. Pure functions of bytes and paths, for
// policies: a setting that names a program, one that reads further settings, and a repository whose
// settings lie elsewhere.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace unwrite::overlay {

/// The settings in a configuration file of git that make it execute something, or read further
/// settings: "core.fsmonitor = ./watch". Understands what git understands, and skips the lines that
/// git would stop at.
std::set<std::string> executing_settings(std::string_view config);

/// The same of any file of a repository, by its name and its place in the workspace: `config` and
/// `config.worktree`, where `core.worktree` leads out of the workspace, too; a file `.git` that
/// leads to another place than git's own ("gitdir: ../x"); a `commondir` that leads elsewhere than
/// to the repository that it is in; the commands of a rebase that is under way ("exec make").
/// Other names execute nothing by what they say.
std::set<std::string> executing_settings(std::string_view path, std::string_view content);

}  // namespace unwrite::overlay
