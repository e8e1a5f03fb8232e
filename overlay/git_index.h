// Git's bookkeeping that is not the user's work: the index with the same entries written again, and
// lock files. git does both while it only looks (`git status`). Pure functions of bytes and paths.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace unwrite::overlay {

/// A larger index is not compared: callers take it as another one.
inline constexpr std::uint64_t kMaxGitIndex = 64ULL * 1024 * 1024;

/// Whether the path is where git keeps an index: below a directory `.git`, with the name "index".
/// The content decides whether it is one.
bool is_git_index(std::string_view path);

/// The path of the index of the work tree at the top. `git_file`: what the file `.git` says there;
/// empty where that is a directory.
std::string path_of_git_index(std::string_view git_file);

/// Whether the path is that of a lock file of git: below a directory `.git`, not among its hooks.
bool is_git_lock(std::string_view path);

/// True when both are an index (version 2, 3 or 4, SHA-1 or SHA-256) with the same entries, in
/// which at most what git remembers of the files' stat data and what it can work out again differ:
/// the version of the format, the trees, the caches of untracked and watched files, the checksum
/// (which git does not look at either when it reads). Anything that is not understood counts as
/// different. Bytes that are equal are the same, whatever they are.
bool same_git_entries(std::string_view a, std::string_view b);

/// The names of an index's entries, in its order; none when it is not understood.
std::vector<std::string> git_index_names(std::string_view index);

/// A regular file that an index names, with the id of its bytes: SHA-1 or SHA-256, not as text.
struct GitIndexFile {
    std::string name;
    std::string object;
};

/// The files of an index that are not in the middle of a merge, in its order; none when it is not
/// understood.
std::vector<GitIndexFile> git_index_files(std::string_view index);

/// The id that git gives these bytes of a file, in the format (SHA-1, SHA-256) of `object`.
std::string git_object_like(std::string_view object, std::string_view bytes);

}  // namespace unwrite::overlay
