#include "journal/state_dir.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <thread>

#include "base/crash_point.h"

namespace unwrite::journal {

namespace {

constexpr std::string_view kVersionPrefix = "unwrite state ";
constexpr unsigned kVersion = 1;
constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY;

/// `advice` names a way on that exists: whoever is told this wants to work.
Error refused(std::string reason, std::string advice) {
    return Error(ErrorKind::kRefused, EPERM, "cannot open .unwrite: " + std::move(reason),
                 std::move(advice));
}

/// A directory, of the same owner and filesystem, and closed to others.
Result<> check_directory(int fd, const struct stat& workspace) {
    TRY_ASSIGN(const struct stat st, sys::stat_fd(fd));
    if (st.st_uid != ::geteuid()) {
        return refused("it belongs to user " + std::to_string(st.st_uid) + ", not to you",
                       "run `unwrite` as that user, or rename .unwrite to begin without its "
                       "history");
    }
    if (st.st_dev != workspace.st_dev) {
        return refused("it is on another filesystem than the workspace",
                       "unmount what is mounted at .unwrite, or rename .unwrite to begin without "
                       "its history");
    }
    if ((st.st_mode & 07777U) != 0700U) {
        const auto repaired = sys::change_mode(fd, 0700);
        if (!repaired) return repaired.error().with_context("cannot repair the mode of .unwrite");
    }
    return {};
}

Result<UniqueFd> open_directory(int parent, const std::string& name, bool create) {
    auto opened = sys::open_at(parent, name, kOpenDirectory);
    if (!opened && opened.error().number() == ENOENT && create) {
        const auto made = sys::make_directory(parent, name, 0700);
        if (!made && made.error().number() != EEXIST) {
            return made.error().with_context("cannot make " + name);
        }
        crash_point("state.directory-made");
        opened = sys::open_at(parent, name, kOpenDirectory);
    }
    if (opened) return opened;
    const int number = opened.error().number();
    if (number == ENOTDIR || number == ELOOP)
        return refused(name + " is not a directory",
                       "rename it; the next `unwrite mount` makes the directory again");
    return opened;
}

Result<bool> exists(int dir, const std::string& name) {
    const auto st = sys::stat_at(dir, name);
    if (st) return true;
    if (st.error().number() == ENOENT) return false;
    return st.error();
}

Error not_there() {
    return Error(ErrorKind::kNotFound, ENOENT,
                 "cannot open .unwrite: there is no state directory here");
}

Result<> check_version(const std::string& text) {
    const Error damaged(ErrorKind::kCorrupt, EIO,
                        "read .unwrite/VERSION: it says nothing sensible");
    if (!text.starts_with(kVersionPrefix) || text.size() > 64) return damaged;
    unsigned version = 0;
    const char* begin = text.data() + kVersionPrefix.size();
    const char* end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(begin, end, version);
    if (problem != std::errc{} || std::string_view(stop, end) != "\n" || version == 0)
        return damaged;
    if (version == kVersion) return {};
    return Error(ErrorKind::kRecovery, EIO,
                 "cannot open .unwrite: it was written by a newer program (version " +
                     std::to_string(version) + "; this one knows version 1)",
                 "use that version of `unwrite`, or rename .unwrite to begin without its history");
}

/// VERSION is the last file that the making writes, and the first that opening reads.
Result<> open_version(int fd, bool create) {
    const auto text = sys::read_file_at(fd, "VERSION");
    if (!text && text.error().number() != ENOENT)
        return text.error().with_context("cannot read .unwrite/VERSION");
    TRY_ASSIGN(const bool used, exists(fd, "journal.db"));
    // Without bytes and without a journal: a power cut in the middle of the making.
    if (text && (used || !text->empty())) return check_version(*text);
    if (used) {
        return Error(ErrorKind::kCorrupt, EIO,
                     "cannot open .unwrite: it has a journal but no VERSION");
    }
    if (!create) return not_there();
    TRY(sys::replace_file_at(fd, ".gitignore", "*\n", 0600));
    crash_point("state.gitignore-written");
    // Safe from a power cut whatever the durability: nobody could say what is in a directory
    // without.
    return sys::replace_file_at(fd, "VERSION",
                                std::string(kVersionPrefix) + std::to_string(kVersion) + "\n", 0600,
                                sys::Durable::kYes);
}

/// A holder that was killed is gone from the mount table some moments before the kernel has closed
/// its last file: who comes right after it waits for that.
constexpr std::chrono::milliseconds kHolderEnds{3000};

Result<bool> lock_within(int file, std::chrono::milliseconds patience) {
    const auto last = std::chrono::steady_clock::now() + patience;
    while (true) {
        TRY_ASSIGN(const bool taken, sys::try_lock_file(file));
        if (taken || std::chrono::steady_clock::now() >= last) return taken;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

}  // namespace

Result<StateDir> StateDir::open(int workspace, bool create) {
    TRY_ASSIGN(const struct stat workspace_stat, sys::stat_fd(workspace));
    auto opened = open_directory(workspace, kName, create);
    if (!opened && opened.error().number() == ENOENT) return not_there();
    StateDir state;
    TRY_ASSIGN(state.fd_, std::move(opened));
    TRY(check_directory(state.fd(), workspace_stat));
    TRY(open_version(state.fd(), create));
    crash_point("state.version-written");
    TRY_ASSIGN(state.deltas_, open_directory(state.fd(), "deltas", create));
    TRY(check_directory(state.deltas(), workspace_stat));
    TRY_ASSIGN(const UniqueFd attic, open_directory(state.fd(), "attic", create));
    TRY(check_directory(attic.get(), workspace_stat));
    return state;
}

Result<> StateDir::lock() {
    if (lock_) return {};
    TRY_ASSIGN(UniqueFd file, sys::open_at(fd(), "lock", O_RDWR | O_CREAT, 0600));
    TRY_ASSIGN(const bool taken, lock_within(file.get(), kHolderEnds));
    if (!taken) {
        std::string holder = sys::read_file_at(fd(), "lock").value_or("");
        holder = holder.substr(0, holder.find_first_not_of("0123456789"));
        return Error(ErrorKind::kConflict, EBUSY,
                     "cannot lock .unwrite: " +
                         (holder.empty() ? std::string("another process") : "process " + holder) +
                         " uses it");
    }
    const std::string text = std::to_string(::getpid()) + "\n";
    TRY(sys::truncate(file.get(), 0));
    TRY(sys::write_all_at(file.get(), std::as_bytes(std::span(text)), 0));
    lock_ = std::move(file);
    return {};
}

Result<UniqueFd> StateDir::open_attic() const {
    return sys::open_at(fd(), "attic", kOpenDirectory);
}

}  // namespace unwrite::journal
