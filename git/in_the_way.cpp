#include "git/in_the_way.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/syscalls.h"

namespace unwrite::git {

namespace {

/// What is there at `path`: it itself, or what stands in the place of a directory above it; "" when
/// nothing is.
std::string standing_at(const std::string& root, const std::string& path) {
    for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
        const std::string part = path.substr(0, end);
        const Result<struct stat> st = sys::stat_at(AT_FDCWD, root + "/" + part);
        if (!st) return "";
        if (end == std::string::npos || !S_ISDIR(st->st_mode)) return part;
    }
}

}  // namespace

Result<std::vector<std::string>> paths_added(const Repository& repository,
                                             const std::string& before, const std::string& after) {
    TRY_ASSIGN(const std::string names,
               repository.ask({"diff-tree", "-r", "-z", "--name-only", "--no-renames",
                               "--diff-filter=A", before, after}));
    return split_nul(names);
}

Result<std::vector<std::string>> unknown_files_at(const Repository& repository,
                                                  const std::vector<std::string>& paths) {
    std::set<std::string> standing;
    for (const std::string& path : paths)
        standing.insert(standing_at(repository.root(), path));
    standing.erase("");
    TRY_ASSIGN(const std::vector<std::string> names,
               repository.list({"ls-files", "-z", "--others"}, {standing.begin(), standing.end()}));
    const std::set<std::string> found(names.begin(), names.end());
    return std::vector(found.begin(), found.end());
}

Result<> expect_no_unknown_files(const Repository& repository, const std::string& verb,
                                 const std::vector<std::string>& paths) {
    TRY_ASSIGN(const std::vector<std::string> found, unknown_files_at(repository, paths));
    if (found.empty()) return {};
    return Error(ErrorKind::kConflict, EEXIST,
                 verb + ": files that git does not track are in the way: " + some_of(found),
                 "`git status --ignored` lists them; move them elsewhere first");
}

std::string some_of(const std::vector<std::string>& names) {
    constexpr std::size_t kShown = 5;
    const std::size_t shown = std::min(names.size(), kShown);
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(shown);
    std::string text = fmt::format("{}", fmt::join(names.begin(), end, ", "));
    if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
    return text;
}

}  // namespace unwrite::git
