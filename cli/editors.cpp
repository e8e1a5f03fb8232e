#include "cli/editors.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/syscalls.h"
#include "cli/text.h"
#include "cli/workspace.h"
#include "control/mounts.h"

namespace unwrite::cli {

namespace {

std::vector<std::string> names_in(const std::string& directory) {
    std::vector<std::string> names;
    const Result<UniqueFd> fd = sys::open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
    if (!fd) return names;
    const Result<std::vector<sys::DirectoryEntry>> entries = sys::read_directory(fd->get());
    if (!entries) return names;
    for (const sys::DirectoryEntry& entry : *entries)
        names.push_back(entry.name);
    return names;
}

std::string command_of(const std::string& process) {
    std::string command = sys::read_file_at(AT_FDCWD, process + "/comm").value_or("?");
    if (command.ends_with('\n')) command.pop_back();
    return command;
}

void look(const std::string& process, const std::string& root, std::vector<Editor>& editors) {
    const std::string pid = process.substr(process.rfind('/') + 1);
    for (const std::string& name : names_in(process + "/fd")) {
        const Result<std::string> target = sys::read_link(AT_FDCWD, process + "/fd/" + name);
        if (!target || !control::is_within(*target, root)) continue;
        if (!is_swap_name(std::string_view(*target).substr(target->rfind('/') + 1))) continue;
        Editor editor{0, command_of(process), target->substr(root.size() + 1)};
        // The daemon has files of the workspace open for others.
        if (editor.command == "unwrite") continue;
        std::from_chars(pid.data(), pid.data() + pid.size(), editor.pid);
        editors.push_back(std::move(editor));
    }
}

}  // namespace

bool is_swap_name(std::string_view name) {
    if (name.size() < 6 || name[0] != '.') return false;
    // vim counts back from .swp while a name is taken.
    const std::string_view end = name.substr(name.size() - 4);
    return end == "-swp" || (end.starts_with(".sw") && end[3] >= 'a' && end[3] <= 'z');
}

std::vector<Editor> editors_below(const std::string& root) {
    std::vector<Editor> editors;
    for (const std::string& name : names_in("/proc")) {
        if (name.find_first_not_of("0123456789") == std::string::npos)
            look("/proc/" + name, root, editors);
    }
    return editors;
}

std::vector<Editor> editors_of_workspace(const std::string& directory) {
    const auto mounts = control::unwrite_mounts();
    const auto mount = mounts ? control::mount_above(*mounts, directory) : std::nullopt;
    const std::string root = mount ? mount->path : state_above(directory);
    if (root.empty() || root == "/") return {};
    return editors_below(root);
}

std::vector<std::string> editor_lines(const std::vector<Editor>& editors,
                                      const std::vector<overlay::Change>& changes) {
    std::vector<std::string> lines;
    for (const Editor& editor : editors) {
        const bool meant =
            std::any_of(changes.begin(), changes.end(), [&](const overlay::Change& change) {
                return control::is_within(editor.swap, change.path);
            });
        if (!meant) continue;
        lines.push_back(fmt::format(
            "unwrite: {} (process {}) is editing here, and this takes along its swap file {}. Save "
            "what you have typed there, because the editor could no longer recover it.",
            quote_name(editor.command), editor.pid, quote_name(editor.swap)));
    }
    return lines;
}

}  // namespace unwrite::cli
