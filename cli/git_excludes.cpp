#include "cli/git_excludes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string_view>

#include "base/syscalls.h"
#include "git/repository.h"

namespace unwrite::cli {

namespace {

constexpr off_t kMostBytes = 1 << 20;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

/// Where git looks when nothing is configured.
std::string usual_file() {
    const std::string config = variable("XDG_CONFIG_HOME");
    if (!config.empty()) return config + "/git/ignore";
    const std::string home = variable("HOME");
    return home.empty() ? "" : home + "/.config/git/ignore";
}

std::string text_of(const std::string& path) {
    // People keep links to their configuration elsewhere, so links are followed.
    const Result<UniqueFd> file = sys::open_at(AT_FDCWD, path, O_RDONLY | O_NONBLOCK);
    const Result<struct stat> st = file ? sys::stat_fd(file->get()) : file.error();
    if (!st || !S_ISREG(st->st_mode) || st->st_size > kMostBytes) return {};
    const Result<std::string> text = sys::read_file_at(AT_FDCWD, path);
    return text ? *text : std::string();
}

/// As git reads the words of GIT_CONFIG_PARAMETERS.
std::string quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text)
        out += c == '\'' || c == '!' ? fmt::format("'\\{}'", c) : std::string(1, c);
    return out + '\'';
}

}  // namespace

std::string git_excludes(const std::vector<overlay::RuleShown>& rules, const std::string& own) {
    std::string text;
    bool refuses = false;
    for (const overlay::RuleShown& rule : rules) {
        const bool is_exception = rule.action == "allow";
        const bool is_refusal = rule.action == "deny" || rule.action == "hide";
        if (rule.subjects == "user" || (!is_exception && !is_refusal)) continue;
        if (rule.pattern.find('\n') != std::string::npos) continue;
        std::string_view pattern = rule.pattern;
        if (pattern.starts_with('!')) pattern.remove_prefix(1);
        refuses = refuses || is_refusal;
        // A line that begins with one of these means something else.
        const bool is_special = pattern.starts_with('#') || pattern.starts_with('!');
        text += fmt::format("{}{}{}\n", is_exception ? "!" : "", is_special ? "\\" : "", pattern);
    }
    return refuses ? text + own : std::string();
}

GitExcludesOfRun::GitExcludesOfRun(const std::vector<overlay::RuleShown>& rules,
                                   const std::string& directory,
                                   std::vector<std::string> settings) {
    const std::string excludes = exclude(rules, directory);
    if (!excludes.empty()) settings.push_back(excludes);
    if (settings.empty()) return;
    // Not GIT_CONFIG_KEY_0: some agents take variables away that have KEY in their names, and
    // without the key no git command works.
    std::string all = variable("GIT_CONFIG_PARAMETERS");
    for (const std::string& setting : settings)
        all += (all.empty() ? "" : " ") + quoted(setting);
    environment_ = {{"GIT_CONFIG_PARAMETERS", std::move(all)}};
}

std::string GitExcludesOfRun::exclude(const std::vector<overlay::RuleShown>& rules,
                                      const std::string& directory) {
    if (git_excludes(rules, "").empty()) return {};
    git::InstalledPrograms programs;
    const Result<git::Repository> repository = git::Repository::open(programs, directory);
    if (!repository) return {};
    const Result<std::string> named =
        repository->line({"config", "--path", "--get", "core.excludesFile"});
    const std::string own = text_of(named && !named->empty() ? *named : usual_file());
    file_.emplace("gitignore", git_excludes(rules, own));
    return file_->path().empty() ? "" : "core.excludesFile=" + file_->path();
}

}  // namespace unwrite::cli
