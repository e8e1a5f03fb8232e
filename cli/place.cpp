#include "cli/place.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <vector>

#include "base/syscalls.h"
#include "cli/editing_room.h"
#include "cli/mounting.h"
#include "cli/prompt.h"
#include "cli/settle.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

/// "" where nobody has this number.
std::string home_of(uid_t user) {
    std::array<char, 16384> room{};
    struct passwd entry = {};
    struct passwd* found = nullptr;
    if (::getpwuid_r(user, &entry, room.data(), room.size(), &found) != 0 || found == nullptr)
        return {};
    return found->pw_dir;
}

/// The caller's home, as both places name it, and that of whoever owns the directory.
std::vector<std::string> homes_around(const std::string& directory) {
    std::vector<std::string> homes;
    const char* variable = std::getenv("HOME");
    if (variable != nullptr && *variable == '/') homes.emplace_back(variable);
    homes.push_back(home_of(::getuid()));
    const Result<struct stat> st = sys::stat_at(AT_FDCWD, directory);
    if (st) homes.push_back(home_of(st->st_uid));
    // An account of the system may have / or nothing.
    std::erase_if(homes, [](const std::string& home) { return home.size() < 2; });
    for (std::string& home : homes)
        home = real_path("/", home).value_or(home);
    return homes;
}

std::string parent_of(const std::string& directory) {
    const std::size_t slash = directory.rfind('/');
    return slash == 0 || slash == std::string::npos ? "/" : directory.substr(0, slash);
}

}  // namespace

bool has_git(const std::string& directory) {
    const std::string git = (directory == "/" ? "" : directory) + "/.git";
    const auto status = sys::stat_at(AT_FDCWD, git);
    return status && (!S_ISDIR(status->st_mode) || sys::stat_at(AT_FDCWD, git + "/HEAD").ok());
}

bool holds_a_home(const std::string& directory) {
    if (directory == "/") return true;
    for (const std::string& home : homes_around(directory)) {
        if (home == directory || control::is_within(home, directory)) return true;
    }
    return false;
}

std::string usual_place(const std::string& directory) {
    std::string at = directory;
    while (!has_git(at)) {
        if (at == "/") return directory;
        at = parent_of(at);
    }
    return holds_a_home(at) ? directory : at;
}

Result<std::string> place_to_mount(Context& context, const std::string& advice) {
    const std::string place = usual_place(context.base);
    if (holds_a_home(place)) {
        const std::string what =
            quote_name(place) +
            (place == "/" ? " is the whole system" : " is, or holds, a home directory");
        if (place == "/" || !can_ask())
            return Error(
                ErrorKind::kUsage, EINVAL,
                context.verb + ": " + what + "; it is not mounted unless you name it",
                place == "/" ? "go to the directory of your project first, with cd" : advice);
        if (!confirm(context, what + ". Record every change in it? (y/n)"))
            return Error(ErrorKind::kNothing, ECANCELED, context.verb + ": nothing was mounted",
                         advice);
    }
    return place;
}

namespace {

Result<std::string> directory_to_mount(Context& context, bool is_named) {
    if (is_named) return context.base;
    if (std::string state = state_above(context.base); !state.empty()) return state;
    TRY_ASSIGN(const std::vector<control::MountPoint> mounts, control::unwrite_mounts());
    if (const auto dead = control::mount_above(mounts, context.base)) return dead->path;
    return place_to_mount(context, "unwrite run --workspace DIR -- COMMAND...");
}

}  // namespace

Result<Workspace> workspace_for_run(Context& context, const std::string& named) {
    if (!named.empty()) {
        const Result<std::string> real = real_path(context.base, named);
        if (!real) {
            return Error(ErrorKind::kUsage, real.error().number(),
                         "run: --workspace " + quote_name(named) + ": " + real.error().message(),
                         "name a directory that exists");
        }
        context.base = *real;
    }
    Result<Workspace> workspace = Workspace::open_mounted(context.base);
    if (workspace || workspace.error().kind() != ErrorKind::kNoWorkspace) return workspace;
    MountRequest request;
    TRY_ASSIGN(request.directory, directory_to_mount(context, !named.empty()));
    TRY_ASSIGN(const control::DaemonInfo info, mount_directory(context, request));
    context.notes.line("unwrite: mounted " + quote_name(info.workspace) +
                       "; every change in it is recorded");
    tell_set_aside(context, info.set_aside);
    tell_in_use(context, info.in_use);
    tell_taken_back(context, info.taken_back);
    TRY_ASSIGN(Workspace fresh, Workspace::open_mounted(info.mount_point));
    TRY(tell_unfinished(context, fresh));
    return fresh;
}

}  // namespace unwrite::cli
