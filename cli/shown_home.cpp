#include "cli/shown_home.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/paths.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

// Programs and libraries of people who installed them for themselves.
constexpr std::array<const char*, 34> kTools = {".asdf",
                                                ".bun",
                                                ".cargo/bin",
                                                ".deno",
                                                ".dotnet",
                                                ".fnm",
                                                ".ghcup/bin",
                                                ".juliaup",
                                                ".local/bin",
                                                ".local/lib",
                                                ".local/pipx",
                                                ".local/share/claude",
                                                ".local/share/fnm",
                                                ".local/share/gem",
                                                ".local/share/mise",
                                                ".local/share/pipx",
                                                ".local/share/pnpm",
                                                ".local/share/uv",
                                                ".npm-global",
                                                ".nvm",
                                                ".opam",
                                                ".opencode/bin",
                                                ".pyenv",
                                                ".rbenv",
                                                ".rustup",
                                                ".rvm",
                                                ".sdkman",
                                                ".volta",
                                                "anaconda3",
                                                "go/bin",
                                                "miniconda3",
                                                "miniforge3",
                                                "perl5",
                                                "bin"};
constexpr std::array<const char*, 4> kGit = {".gitconfig", ".config/git", ".gitignore",
                                             ".gitignore_global"};

/// The directories of $PATH that are below the home directory.
std::vector<std::string> of_path(const std::string& home) {
    const char* const set = std::getenv("PATH");
    const std::string path = set != nullptr ? set : "";
    std::vector<std::string> found;
    for (std::size_t begin = 0; begin < path.size();) {
        const std::size_t end = std::min(path.find(':', begin), path.size());
        const std::string one = path.substr(begin, end - begin);
        if (is_below(one, home)) found.push_back(one.substr(home.size() + 1));
        begin = end + 1;
    }
    return found;
}

}  // namespace

Result<std::vector<std::string>> shown_of_home(const std::string& home,
                                               const std::vector<std::string>& named) {
    std::set<std::string> shown(kTools.begin(), kTools.end());
    shown.insert(kGit.begin(), kGit.end());
    for (const std::string& path : of_path(home))
        shown.insert(path);
    for (const std::string& path : named) {
        std::error_code failed;
        const std::string real = std::filesystem::canonical(path, failed).string();
        if (failed || !is_below(real, home)) {
            return Error(ErrorKind::kUsage, failed ? ENOENT : EINVAL,
                         "run: --show " + quote_name(path) +
                             (failed ? " does not exist" : " is not below your home directory"),
                         "name a file or directory in " + quote_name(home));
        }
        shown.insert(real.substr(home.size() + 1));
    }
    return std::vector<std::string>(shown.begin(), shown.end());
}

}  // namespace unwrite::cli
