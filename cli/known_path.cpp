#include "cli/known_path.h"

#include <fcntl.h>

#include <algorithm>

#include "base/syscalls.h"
#include "cli/text.h"

namespace unwrite::cli {

Result<bool> is_known_path(Workspace& workspace, const std::string& path) {
    if (path.empty() || sys::stat_at(AT_FDCWD, workspace.root() + '/' + path)) return true;
    TRY_ASSIGN(const overlay::Log log, workspace.operations().log(path, true, true));
    return !log.entries.empty() || !log.open_changes.empty();
}

Result<bool> names_state(overlay::Operations& operations, const std::string& base,
                         const std::string& word) {
    if (is_node(word) || word == "root") return true;
    if (word.find('/') != std::string::npos || sys::stat_at(AT_FDCWD, base + '/' + word))
        return false;
    TRY_ASSIGN(const overlay::Log log, operations.log("", true, false));
    return std::any_of(log.entries.begin(), log.entries.end(),
                       [&](const overlay::LogEntry& entry) { return entry.node.name == word; });
}

}  // namespace unwrite::cli
