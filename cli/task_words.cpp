#include "cli/task_words.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/syscalls.h"
#include "cli/text.h"
#include "control/protocol.h"
#include "overlay/tree.h"

namespace unwrite::cli {

namespace {

constexpr const char* kTask = "task";
constexpr std::string_view kGitdir = "gitdir: ";

/// Where the file `.git` of a linked worktree or a submodule points.
std::string named_by(const std::string& root) {
    auto text = sys::read_file_at(AT_FDCWD, root + "/.git");
    if (!text || !text->starts_with(kGitdir)) return "";
    std::string place = text->substr(kGitdir.size());
    place.resize(std::min(place.find_first_of("\r\n"), place.size()));
    const std::filesystem::path base = root;
    return place.empty() ? "" : (base / place).lexically_normal().string();
}

bool is_inside(const std::string& place, const std::string& root) {
    return place.starts_with(root.ends_with('/') ? root : root + "/");
}

}  // namespace

std::string task_cause(const std::string& name) {
    return control::dump(control::Json{{kTask, control::encode_bytes(name)}});
}

std::optional<std::string> task_name(const std::map<std::string, std::string>& tags) {
    const auto cause = tags.find(overlay::kCauseTag);
    if (cause == tags.end()) return std::nullopt;
    const auto json = control::parse_json(cause->second, overlay::kMostOfCause);
    if (!json || !json->is_object() || !json->contains(kTask)) return std::nullopt;
    auto name = control::decode_bytes(json->at(kTask));
    return name ? std::optional(*std::move(name)) : std::nullopt;
}

std::string task_title(const std::string& name) {
    return name.empty() ? "A task" : "Task " + quote_name(name);
}

std::string repository_outside(const std::string& root) {
    const auto here = sys::stat_at(AT_FDCWD, root + "/.git");
    if (here) {
        if (!S_ISREG(here->st_mode) && !S_ISLNK(here->st_mode)) return "";
        std::error_code failed;
        std::string place = S_ISLNK(here->st_mode)
                                ? std::filesystem::weakly_canonical(root + "/.git", failed).string()
                                : named_by(root);
        return is_inside(place, root) ? "" : place;
    }
    for (std::filesystem::path above = std::filesystem::path(root).parent_path();;
         above = above.parent_path()) {
        const std::string place = (above / ".git").string();
        if (sys::stat_at(AT_FDCWD, place)) return place;
        if (above == above.root_path() || above.empty()) return "";
    }
}

std::string repository_outside_words(const std::string& root) {
    const std::string repository = repository_outside(root);
    if (repository.empty()) return "";
    const std::string where =
        "The git repository lies outside the workspace, in " + quote_name(repository) + ": ";
    return where + (is_recorded_in_runs(root)
                        ? "what a confined run commits is taken back with its files; other "
                          "commits, branches and the index are not."
                        : "commits, branches and the index are not taken back.");
}

bool is_recorded_in_runs(const std::string& root) {
    const std::string mounted = root + "/" + overlay::kAnnexEntry;
    return sys::stat_at(AT_FDCWD, mounted) || sys::stat_at(AT_FDCWD, root + "/.unwrite/annex");
}

void tell_repository_outside(Context& context, const std::string& root) {
    const std::string words = repository_outside_words(root);
    if (!words.empty()) context.notes.line("unwrite: " + words);
}

void tell_out_of_room(Context& context, bool changed) {
    context.notes.line(
        "unwrite: the disk is almost full. Agents may not write anything that needs more room "
        "(journal.reserve), and there may be too little room to take changes back");
    context.notes.line(std::string("Delete files on this disk to make room") +
                       (changed ? "; `unwrite commit` frees what is kept for going back" : ""));
}

}  // namespace unwrite::cli
