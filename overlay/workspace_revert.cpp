#include <cerrno>

#include "overlay/closing.h"
#include "overlay/workspace.h"

namespace unwrite::overlay {

Result<Moved> Workspace::revert(const Asker&, const std::string& what, bool) {
    return Error(ErrorKind::kUsage, ENOSYS, "undo " + what + ": not built yet");
}

Result<Moved> Workspace::restore_paths(const Asker&, const std::vector<std::string>&, const std::string&, bool) {
    return Error(ErrorKind::kUsage, ENOSYS, "restore: not built yet");
}

}  // namespace unwrite::overlay
