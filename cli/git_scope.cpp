#include "cli/git_scope.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "base/paths.h"
#include "cli/heaps.h"

namespace unwrite::cli {

using overlay::Change;
using overlay::ChangeKind;

namespace {

bool is_directory(const Change& change) {
    return S_ISDIR(change.type);
}

/// git records nothing of a directory itself, and what lies in it is another matter.
bool is_directory_alone(const Change& change) {
    return is_directory(change) &&
           (change.kind == ChangeKind::kAttributes || change.kind == ChangeKind::kModified);
}

void add(std::set<std::string>& paths, const Change& change) {
    paths.insert(change.path);
    if (!change.old_path.empty()) paths.insert(change.old_path);
}

/// The names that something had before the directories above it were renamed.
void add_former_names(std::set<std::string>& paths, const std::string& path,
                      const std::vector<Change>& kept) {
    for (const Change& change : kept) {
        if (change.kind == ChangeKind::kRenamed && is_below(path, change.path))
            paths.insert(change.old_path + path.substr(change.path.size()));
    }
}

std::vector<std::string> parts_of(const std::string& path) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= path.size();) {
        const std::size_t end = std::min(path.find('/', at), path.size());
        parts.push_back(path.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

bool is_obeyed(const std::string& path, bool new_directory) {
    const std::vector<std::string> parts = parts_of(path);
    const auto git = std::find(parts.begin(), parts.end(), ".git");
    if (git == parts.end()) return false;
    const auto first = git + 1;
    if (first == parts.end()) return true;
    // Branches may be called like anything.
    if (*first == "refs" || *first == "logs" || *first == "objects") return false;
    if (*first == "hooks" || (*first == "modules" && new_directory)) return true;
    if (std::find(first, parts.end(), "hooks") != parts.end()) return true;
    const std::string& last = parts.back();
    return last == "config" || last == "config.worktree" || last == "commondir" || last == "gitdir";
}

bool obeys(const Change& change) {
    if (is_directory_alone(change)) return false;
    return is_obeyed(change.path, is_directory(change)) ||
           (!change.old_path.empty() && is_obeyed(change.old_path, is_directory(change)));
}

/// Whether an agent may have been there in an interval that ended at `end` (0: now). What it stores
/// through a mapping is booked to the user, and of a new directory only the maker is told.
bool may_be_an_agents(overlay::NodeNumber end, const overlay::Log& log) {
    const auto run = [end](const overlay::LogEntry& entry) {
        return entry.node.tags.contains("session") && (end == 0 || entry.node.number <= end);
    };
    return std::any_of(log.entries.begin(), log.entries.end(), run);
}

bool is_agents(const Change& change, const std::vector<overlay::Origin>& origins) {
    return std::any_of(origins.begin(), origins.end(), [&](const overlay::Origin& origin) {
        const auto& own = change.origins;
        return origin.agent && std::find(own.begin(), own.end(), origin.number) != own.end();
    });
}

}  // namespace

git::Scope scope_of_all(const std::vector<Change>& changes) {
    git::Scope scope;
    for (const Change& change : changes) {
        if (!is_directory_alone(change)) add(scope.paths, change);
    }
    return scope;
}

git::Scope scope_of_part(const overlay::Decided& decided, const std::vector<std::string>& asked,
                         const std::vector<Change>& open) {
    std::vector<std::string> named = asked;
    std::set<std::string> needed;
    for (const auto& need : decided.needed) {
        named.push_back(need.path);
        needed.insert(need.path);
    }
    const auto is_container = [&](const std::string& path) {
        return needed.contains(path) &&
               std::any_of(named.begin(), named.end(),
                           [&](const std::string& name) { return is_below(name, path); });
    };
    git::Scope scope;
    std::vector<std::string> containers;
    for (const Change& change : decided.kept) {
        if (is_directory_alone(change)) continue;
        if (change.kind == ChangeKind::kCreated && is_container(change.path)) {
            containers.push_back(change.path);
            scope.except.insert(change.path);
        } else {
            add(scope.paths, change);
        }
    }
    for (const std::string& name : named) {
        const bool inside =
            std::any_of(containers.begin(), containers.end(),
                        [&](const std::string& container) { return is_below(name, container); });
        if (inside) (is_container(name) ? scope.except : scope.paths).insert(name);
    }
    for (const Change& change : open) {
        if (is_directory_alone(change) || scope.paths.contains(change.path)) continue;
        add(scope.except, change);
        add_former_names(scope.except, change.path, decided.kept);
    }
    return scope;
}

std::optional<std::string> what_git_obeys(const std::vector<Change>& changes) {
    const auto found = std::find_if(changes.begin(), changes.end(), obeys);
    return found == changes.end() ? std::nullopt : std::optional(found->path);
}

bool agent_changed_what_git_obeys(const overlay::Log& log) {
    const auto made = [&](const std::vector<Change>& changes, overlay::NodeNumber end) {
        return std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
            return obeys(change) && (is_agents(change, log.origins) || may_be_an_agents(end, log));
        });
    };
    if (made(log.open_changes, 0)) return true;
    return std::any_of(log.entries.begin(), log.entries.end(), [&](const overlay::LogEntry& entry) {
        return entry.on_trunk && (made(entry.changes, entry.running ? 0 : entry.node.number));
    });
}

}  // namespace unwrite::cli
