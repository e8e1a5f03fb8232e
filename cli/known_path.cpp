#include "cli/known_path.h"

#include <fcntl.h>

#include "base/syscalls.h"

namespace unwrite::cli {

Result<bool> is_known_path(Workspace& workspace, const std::string& path) {
    if (path.empty() || sys::stat_at(AT_FDCWD, workspace.root() + '/' + path)) return true;
    TRY_ASSIGN(const overlay::Log log, workspace.operations().log(path, true, true));
    return !log.entries.empty() || !log.open_changes.empty();
}

}  // namespace unwrite::cli
