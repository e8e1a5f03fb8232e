#include "cli/mounting.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "base/syscalls.h"
#include "cli/agreement.h"
#include "cli/daemon.h"
#include "cli/inner_filesystems.h"
#include "cli/processes.h"
#include "cli/runs.h"
#include "cli/shell_init.h"
#include "cli/text.h"
#include "fs/mount.h"

namespace unwrite::cli {

namespace {

constexpr int kStopMs = 60'000;

Error cannot(const std::string& directory, ErrorKind kind, int number, const std::string& why,
             const std::string& advice) {
    return Error(kind, number, "mount " + quote_name(directory) + ": " + why, advice);
}

Result<> asks_daemon(int fd) {
    TRY(sys::statvfs_fd(fd));
    return {};
}

/// A mount whose daemon is gone is taken away before anything else. The kernel may still answer a
/// stat there from what it remembers, but never a statfs: ECONNABORTED when the daemon, killed
/// already, was still ending while it was asked, ENOTCONN later.
Result<> clear_dead(Context& context, const std::string& directory) {
    const Result<UniqueFd> fd = sys::open_at(AT_FDCWD, directory, O_PATH);
    const Result<> answer = fd ? asks_daemon(fd->get()) : fd.error();
    if (answer) return {};
    const int number = answer.error().number();
    if (number != ENOTCONN && number != ECONNABORTED) return {};
    TRY(fs::unmount_stale(directory));
    context.notes.line("unwrite: cleared away the mount of a daemon that is gone");
    return {};
}

Result<> wait_for_end(const control::Remote& remote) {
    // Through the raw system call: the C library's header of it is newer than the oldest system
    // supported.
    const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, remote.info().pid, 0)));
    if (!process) return {};
    struct pollfd poller = {process.get(), POLLIN, 0};
    int ready = -1;
    do {
        ready = ::poll(&poller, 1, kStopMs);
    } while (ready < 0 && sys::last_error().number() == EINTR);
    if (ready > 0) return {};
    return Error(ErrorKind::kSystem, ETIMEDOUT, "unmount: the daemon is still busy after a minute",
                 fmt::format("wait, or `kill -9 {}` ends it", remote.info().pid));
}

void tell_waiting(Context& context, const std::string& directory) {
    context.notes.line("Waiting for the previous mount of " + quote_name(directory) + " to end.");
    ignore(context.notes.flush(), "it is only said");
}

/// A mount at `directory` whose daemon was told to unmount is nearly gone.
Result<> wait_for_ending_daemon(Context& context, const std::string& directory) {
    TRY_ASSIGN(const std::vector<control::MountPoint> mounts, control::unwrite_mounts());
    for (const control::MountPoint& mount : mounts) {
        if (mount.path != directory) continue;
        const auto remote = control::Remote::connect(mount);
        if (!remote || !(*remote)->info().ending) continue;
        tell_waiting(context, directory);
        TRY(wait_for_end(**remote));
    }
    return {};
}

Result<> check_place(const std::string& directory, const std::vector<control::MountPoint>& mounts) {
    if (directory == "/") {
        return cannot(directory, ErrorKind::kUsage, EINVAL,
                      "the root of the whole system cannot be a workspace",
                      "`unwrite mount DIR` takes a directory below it");
    }
    for (const control::MountPoint& mount : mounts) {
        if (mount.path == directory) {
            return cannot(directory, ErrorKind::kNothing, EBUSY, "it is mounted already",
                          "`unwrite unmount " + quote_name(directory) + "` ends that mount");
        }
        if (control::is_within(directory, mount.path)) {
            return cannot(
                directory, ErrorKind::kUsage, EINVAL,
                "it lies inside the workspace " + quote_name(mount.path) + ", which is mounted",
                "nothing is needed: that workspace records its changes, `unwrite status` shows "
                "them");
        }
        if (control::is_within(mount.path, directory)) {
            return cannot(directory, ErrorKind::kUsage, EINVAL,
                          "the workspace " + quote_name(mount.path) + " below it is mounted",
                          "`unwrite unmount " + quote_name(mount.path) + "` ends that mount first");
        }
    }
    return {};
}

Result<> check_apart(const std::string& directory, const std::string& at) {
    if (at == directory) return {};
    if (control::is_within(at, directory) || control::is_within(directory, at)) {
        return cannot(
            directory, ErrorKind::kUsage, EINVAL,
            "the mount point " + quote_name(at) + " and the workspace lie within each other",
            "`unwrite mount DIR` without --at mounts over the directory itself");
    }
    return {};
}

Result<UniqueFd> open_directory(const std::string& directory) {
    Result<UniqueFd> fd = sys::open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
    if (fd) return fd;
    return fd.error().with_context("mount " + quote_name(directory));
}

void tell_raw_users(Context& context, const std::string& directory,
                    const std::vector<User>& users) {
    if (users.empty()) return;
    context.notes.line("These processes were already using " + quote_name(directory) +
                       ". They bypass unwrite, and their writes are not recorded:");
    context.notes.line("  " + user_words(users));
    context.notes.line("In a shell among them, run \"cd .\" to enter the mount.");
}

std::string_view variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

/// What `name` says, one of the words or nothing. A word with a mistake in it would be taken for
/// having been obeyed.
Result<std::string_view> word_of(const char* name, const std::vector<std::string_view>& words) {
    const std::string_view said = variable(name);
    if (said.empty() || std::find(words.begin(), words.end(), said) != words.end()) return said;
    return Error(ErrorKind::kUsage, EINVAL,
                 fmt::format("mount: {} cannot be {}", name, quote_name(said)),
                 fmt::format("set it to {}, or not at all", fmt::join(words, " or ")));
}

/// For tests, and where something is not to be trusted with it.
Result<> obey_environment(DaemonOptions& options) {
    TRY_ASSIGN(const std::string_view caches, word_of("UNWRITE_CACHES", {"short"}));
    TRY_ASSIGN(const std::string_view spin, word_of("UNWRITE_SPIN", {"no"}));
    TRY_ASSIGN(const std::string_view idle, word_of("UNWRITE_IDLE", {"awake", "asleep"}));
    // The daemon and its log read these by themselves.
    TRY(word_of("UNWRITE_LOG", {"error", "warning", "info", "debug"}));
    const std::string_view seconds = variable("UNWRITE_COMPRESS_AFTER");
    if (seconds.find_first_not_of("0123456789") != std::string_view::npos) {
        return Error(
            ErrorKind::kUsage, EINVAL,
            fmt::format("mount: UNWRITE_COMPRESS_AFTER={} means nothing", quote_name(seconds)),
            "set it to a number of seconds, or not at all");
    }
    options.keep_long = caches != "short";
    options.spin = spin != "no";
    if (idle == "awake") options.config.idle = fs::Idle::kAwake;
    if (idle == "asleep") options.config.idle = fs::Idle::kAsleep;
    return {};
}

/// Observed costs least for what most programs do, and needs no right: the choice unless somebody
/// wants the other. The variable is for tests and containers, where nobody types the command; it
/// wishes, and the option demands.
Result<fs::DataPathKind> data_path_of(const MountRequest& request, int workspace) {
    std::string name = request.data_path;
    const std::string_view wish = variable("UNWRITE_DATA_PATH");
    const bool wished = name == "auto" && !wish.empty();
    if (wished) name = wish;
    if (name == "auto" || name == "observed") return fs::DataPathKind::kObserved;
    if (name == "passthrough") {
        const Result<> can = fs::can_pass_through(workspace);
        if (can) return fs::DataPathKind::kPassthrough;
        if (wished) return fs::DataPathKind::kObserved;
        return can.error().with_context("mount: passthrough");
    }
    return Error(ErrorKind::kUsage, EINVAL, "mount: no data path " + quote_name(name),
                 "it is auto, observed or passthrough");
}

Result<DaemonOptions> prepare(Context& context, const MountRequest& request) {
    TRY_ASSIGN(std::vector<control::MountPoint> mounts, control::unwrite_mounts());
    const Result<std::string> real = real_path(context.base, request.directory);
    if (!real) return real.error().with_context("mount " + quote_name(request.directory));
    DaemonOptions options;
    options.directory = *real;
    options.mount_point = *real;
    if (!request.at.empty()) {
        const Result<std::string> at = real_path(context.base, request.at);
        if (!at) return at.error().with_context("mount at " + quote_name(request.at));
        options.mount_point = *at;
        TRY(check_apart(*real, *at));
    }
    TRY(clear_dead(context, options.mount_point));
    TRY(wait_for_ending_daemon(context, options.mount_point));
    TRY_ASSIGN(mounts, control::unwrite_mounts());
    TRY(check_place(options.directory, mounts));
    if (options.mount_point != options.directory) TRY(check_place(options.mount_point, mounts));
    TRY_ASSIGN(options.workspace, open_directory(options.directory));
    TRY_ASSIGN(const UniqueFd point, open_directory(options.mount_point));
    TRY_ASSIGN(options.config, load_config(options.workspace.get()));
    options.with_sessions = request.with_sessions;
    options.allow_other = request.allow_other || ::geteuid() == 0;
    TRY_ASSIGN(options.data_path, data_path_of(request, options.workspace.get()));
    TRY(obey_environment(options));
    return options;
}

}  // namespace

namespace {

Result<control::DaemonInfo> mount_once(Context& context, const MountRequest& request) {
    TRY_ASSIGN(DaemonOptions options, prepare(context, request));
    const std::string directory = options.mount_point;
    std::vector<User> users = users_below(directory, View::kAny, 0);
    const std::string inner = inner_words(inner_filesystems(options.directory));
    // Such a shell enters by itself.
    if (std::getenv(kShellVariable) != nullptr)
        std::erase_if(users, [](const User& user) { return user.pid == ::getppid(); });
    const auto told = [&](const Result<control::DaemonInfo>& outcome) {
        if (!outcome) return;
        tell_raw_users(context, directory, users);
        if (!inner.empty()) context.notes.line("unwrite: " + inner);
    };
    Result<control::DaemonInfo> outcome = Error(EIO);
    if (!options.config.held_back.empty()) {
        context.notes.line(
            "unwrite: the workspace's own .unwrite/config.toml would loosen your rules. "
            "Not in force: " +
            held_back_words(options.config));
        context.notes.line("hint: unwrite config agree");
    }
    if (!request.foreground) {
        outcome = start_daemon(std::move(options));
        told(outcome);
        return outcome;
    }
    const Result<> served =
        serve(std::move(options), [&](const Result<control::DaemonInfo>& ready) {
            outcome = ready;
            told(ready);
            if (ready)
                context.notes.line("unwrite: serving " + quote_name(ready->mount_point) +
                                   "; Ctrl-C unmounts");
            ignore(context.notes.flush(), "nobody may be listening");
        });
    if (!served) return served.error();
    return outcome;
}

}  // namespace

Result<> clear_dead_mount(Context& context, const std::string& directory) {
    TRY_ASSIGN(const std::vector<control::MountPoint> mounts, control::unwrite_mounts());
    const auto mount = control::mount_above(mounts, directory);
    return mount ? clear_dead(context, mount->path) : Result<>();
}

// A daemon that has given up its mount may still be closing the history.
Result<control::DaemonInfo> mount_directory(Context& context, const MountRequest& request) {
    const auto last = std::chrono::steady_clock::now() + std::chrono::milliseconds(kStopMs);
    for (bool first = true;; first = false) {
        Result<control::DaemonInfo> outcome = mount_once(context, request);
        const bool in_use = !outcome && outcome.error().kind() == ErrorKind::kConflict &&
                            outcome.error().number() == EBUSY;
        if (!in_use || std::chrono::steady_clock::now() >= last) return outcome;
        if (first) tell_waiting(context, request.directory);
    }
}

Result<> unmount_workspace(Context& context, Workspace& workspace, bool force) {
    const control::MountPoint& mount = *workspace.mount();
    const std::vector<RunGoingOn> runs = runs_going_on(workspace);
    if (!runs.empty() && !force) {
        // An agent is refused whatever goes on, and must not be told of --force.
        if (const auto size = workspace.remote()->journal_bytes(); !size) return size.error();
        return Error(ErrorKind::kSystem, EBUSY,
                     "unmount " + quote_name(mount.path) + ": " + run_words(runs) +
                         (runs.size() == 1 ? " is" : " are") + " still running there",
                     "wait, or end it; `unwrite unmount --force` ends the mount all the same");
    }
    const std::vector<User> users = users_below(mount.path, View::kMount, mount.mount);
    // These would lose their files; a shell that only stands there just needs to enter again.
    std::vector<User> holding = users;
    std::erase_if(holding, [](const User& user) { return !user.files; });
    if (!holding.empty() && !force) {
        return Error(ErrorKind::kSystem, EBUSY,
                     "unmount " + quote_name(mount.path) + ": files there are open in " +
                         user_words(holding),
                     "end these processes, or `unwrite unmount --force` ends the mount and their "
                     "files give errors");
    }
    TRY(workspace.remote()->stop());
    TRY(wait_for_end(*workspace.remote()));
    if (!users.empty()) {
        context.notes.line(
            "These processes had their working directory in the mount: " + user_words(users) +
            ". In a shell among them, run \"cd .\" to continue.");
    }
    return {};
}

}  // namespace unwrite::cli
