#include "git/elsewhere.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <string_view>

#include "base/syscalls.h"

namespace unwrite::git {

namespace {

namespace files = std::filesystem;

/// The first line without `word` before it; nothing where the file does not begin with that.
std::optional<std::string> line_of(const files::path& file, std::string_view word) {
    constexpr off_t kMost = 1 << 16;
    const Result<struct stat> st = sys::stat_at(AT_FDCWD, file.string());
    if (!st || !S_ISREG(st->st_mode) || st->st_size > kMost) return std::nullopt;
    const Result<std::string> text = sys::read_file_at(AT_FDCWD, file.string());
    if (!text || !text->starts_with(word)) return std::nullopt;
    const std::size_t end = text->find('\n');
    return text->substr(word.size(), end == std::string::npos ? end : end - word.size());
}

/// Resolved, seen from `base`; empty where it is not there.
files::path resolve(const files::path& base, const std::string& path) {
    std::error_code failed;
    const files::path found = files::canonical(base / path, failed);
    return failed ? files::path() : found;
}

bool has_directory(const files::path& path) {
    const Result<struct stat> st = sys::stat_at(AT_FDCWD, path.string());
    return st && S_ISDIR(st->st_mode);
}

bool is_within(const files::path& path, const files::path& above) {
    const std::string text = path.string();
    return path == above || text.starts_with(above.string() + "/");
}

/// A linked work tree: its own directory lies in the repository's, and says whose it is.
bool is_linked(const files::path& own, const files::path& repository, const files::path& root) {
    const std::optional<std::string> back = line_of(own / "gitdir", "");
    return back && own.parent_path() == repository / "worktrees" &&
           resolve(own, *back) == root / ".git";
}

/// A submodule: its configuration says where its files are.
bool is_submodule(const files::path& own, const files::path& root) {
    const Result<std::string> text = sys::read_file_at(AT_FDCWD, (own / "config").string());
    constexpr std::string_view kKey = "\tworktree = ";
    const std::size_t at = text ? text->find(kKey) : std::string::npos;
    if (at == std::string::npos) return false;
    const std::size_t begin = at + kKey.size();
    return resolve(own, text->substr(begin, text->find('\n', begin) - begin)) == root;
}

}  // namespace

std::optional<Elsewhere> find_elsewhere(const std::string& root) {
    const files::path top = resolve(root, ".");
    const std::optional<std::string> named = line_of(top / ".git", "gitdir: ");
    if (top.empty() || !named || named->empty()) return std::nullopt;
    const files::path own = resolve(top, *named);
    if (own.empty()) return std::nullopt;
    const std::optional<std::string> common = line_of(own / "commondir", "");
    const files::path repository = common ? resolve(own, *common) : own;
    if (repository.empty() || is_within(repository, top) || is_within(top, repository))
        return std::nullopt;
    if (common ? !is_linked(own, repository, top) : !is_submodule(own, top)) return std::nullopt;
    for (const char* part : {"objects", "refs"}) {
        if (!has_directory(repository / part)) return std::nullopt;
    }
    return Elsewhere{repository.string(), own.string()};
}

}  // namespace unwrite::git
