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

/// The current directory, found by its path, is another one: a mount came over it.
bool is_outside_mount() {
    const std::string path = current_directory();
    if (path.empty() || path[0] != '/') return false;
    const Result<struct stat> there = sys::stat_at(AT_FDCWD, path);
    if (!there) return false;
    const Result<struct stat> here = sys::stat_at(AT_FDCWD, ".");
    return !here || here->st_dev != there->st_dev || here->st_ino != there->st_ino;
}

}  // namespace

void tell_outside(Context& context, const Workspace& workspace) {
    if (std::getenv(kShellVariable) != nullptr || !workspace.mount()) return;
    if (!control::is_within(current_directory(), workspace.root()) || !is_outside_mount()) return;
    context.notes.line(
        "This shell is outside the mount, so what you change in it is not recorded. To enter: cd "
        ".");
}

}  // namespace unwrite::cli
