#include "cli/outside_shell.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <string>

#include "base/syscalls.h"
#include "cli/shell_init.h"
#include "control/mounts.h"

namespace unwrite::cli {

namespace {

std::string current_directory() {
    std::array<char, PATH_MAX> room{};
    return ::getcwd(room.data(), room.size()) != nullptr ? room.data() : "";
}

/// `path` names the current directory, but now leads to another one: a mount came over it.
bool is_covered(const std::string& path) {
    if (path.empty() || path[0] != '/') return false;
    const Result<struct stat> there = sys::stat_at(AT_FDCWD, path);
    if (!there) return false;
    const Result<struct stat> here = sys::stat_at(AT_FDCWD, ".");
    return !here || here->st_dev != there->st_dev || here->st_ino != there->st_ino;
}

}  // namespace

void tell_outside(Context& context, const Workspace& workspace) {
    if (std::getenv(kShellVariable) != nullptr || !workspace.mount()) return;
    const std::string path = current_directory();
    if (!control::is_within(path, workspace.root()) || !is_covered(path)) return;
    context.notes.line(
        "This shell is outside the mount, so what you change in it is not recorded. To enter: cd "
        ".");
}

}  // namespace unwrite::cli
