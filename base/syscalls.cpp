// Descriptors and stat. The other calls of syscalls.h are in sys_*.cpp, by theme.
#include "base/syscalls.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/retry.h"

namespace unwrite::sys {

Error last_error() {
    return Error(errno);
}

std::string fd_path(int fd) {
    static constexpr std::string_view kPrefix = "/proc/thread-self/fd/";
    char text[kPrefix.size() + 12];
    kPrefix.copy(text, kPrefix.size());
    const auto end = std::to_chars(text + kPrefix.size(), text + sizeof text, fd).ptr;
    return {text, end};
}

Result<UniqueFd> open_at(int dir, const std::string& name, int flags, mode_t mode) {
    const int all = flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY;
    const int fd = retry([&] { return ::openat(dir, name.c_str(), all, mode); });
    if (fd < 0) return Error(errno);
    return UniqueFd(fd);
}

Result<UniqueFd> reopen(int fd, int flags) {
    // The last step through /proc is a jump to the object itself, so it has to be followed.
    const int all = (flags & ~O_NOFOLLOW) | O_CLOEXEC | O_NOCTTY;
    const std::string path = fd_path(fd);
    const int fresh = retry([&] { return ::open(path.c_str(), all); });
    if (fresh < 0) return Error(errno);
    return UniqueFd(fresh);
}

Result<UniqueFd> duplicate(int fd) {
    const int fresh = retry([&] { return ::fcntl(fd, F_DUPFD_CLOEXEC, 3); });
    if (fresh < 0) return Error(errno);
    return UniqueFd(fresh);
}

Result<> close(UniqueFd fd) {
    // Linux has released the number even when it reports EINTR: closing again would be wrong.
    if (::close(fd.release()) != 0 && errno != EINTR) return Error(errno);
    return {};
}

Result<bool> try_lock_file(int fd) {
    if (retry([&] { return ::flock(fd, LOCK_EX | LOCK_NB); }) == 0) return true;
    if (errno == EWOULDBLOCK) return false;
    return Error(errno);
}

Result<struct stat> stat_fd(int fd) {
    struct stat st;
    if (::fstat(fd, &st) != 0) return Error(errno);
    return st;
}

Result<struct stat> stat_at(int dir, const std::string& name) {
    struct stat st;
    if (::fstatat(dir, name.c_str(), &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0) {
        return Error(errno);
    }
    return st;
}

namespace {

struct timespec to_timespec(const struct statx_timestamp& from) {
    struct timespec to;
    to.tv_sec = from.tv_sec;
    to.tv_nsec = static_cast<decltype(to.tv_nsec)>(from.tv_nsec);
    return to;
}

std::uint64_t birth_of(const struct statx& sx) {
    if ((sx.stx_mask & STATX_BTIME) == 0) return 0;
    return static_cast<std::uint64_t>(sx.stx_btime.tv_sec) * 1'000'000'000U + sx.stx_btime.tv_nsec;
}

// overlayfs tells the birth time of the file below, and gives the object another file when it is
// first written, linked or moved. Its inode number stays.
bool keeps_births(const struct statx& sx, int dir) {
    struct Answer {
        std::uint32_t major = 0;
        std::uint32_t minor = 0;
        bool keeps = false;
        bool known = false;
    };
    static thread_local Answer last;
    if (last.known && last.major == sx.stx_dev_major && last.minor == sx.stx_dev_minor)
        return last.keeps;
    struct statfs fs;
    if (::fstatfs(dir, &fs) != 0) return true;
    last = {sx.stx_dev_major, sx.stx_dev_minor, fs.f_type != OVERLAYFS_SUPER_MAGIC, true};
    return last.keeps;
}

constexpr unsigned kMountId = STATX_MNT_ID;  // since Linux 5.8

}  // namespace

Result<StatX> statx_at(int dir, const std::string& name) {
    struct statx sx;
    if (::statx(dir, name.c_str(), AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
                STATX_BASIC_STATS | STATX_BTIME | kMountId, &sx) != 0) {
        return Error(errno);
    }
    StatX result{};
    struct stat& st = result.st;
    st.st_dev = makedev(sx.stx_dev_major, sx.stx_dev_minor);
    st.st_ino = sx.stx_ino;
    st.st_mode = sx.stx_mode;
    st.st_nlink = sx.stx_nlink;
    st.st_uid = sx.stx_uid;
    st.st_gid = sx.stx_gid;
    st.st_rdev = makedev(sx.stx_rdev_major, sx.stx_rdev_minor);
    st.st_size = static_cast<off_t>(sx.stx_size);
    st.st_blksize = static_cast<blksize_t>(sx.stx_blksize);
    st.st_blocks = static_cast<blkcnt_t>(sx.stx_blocks);
    st.st_atim = to_timespec(sx.stx_atime);
    st.st_mtim = to_timespec(sx.stx_mtime);
    st.st_ctim = to_timespec(sx.stx_ctime);
    result.birth = keeps_births(sx, dir) ? birth_of(sx) : 0;
    result.mount = (sx.stx_mask & kMountId) != 0 ? sx.stx_mnt_id : 0;
    return result;
}

bool is_same_filesystem(const StatX& top, const StatX& found) {
    if (top.mount != 0 && found.mount != 0 && top.mount != found.mount) return false;
    return !S_ISDIR(found.st.st_mode) || found.st.st_dev == top.st.st_dev;
}

bool is_out_of_room(const Error& why) {
    return why.number() == ENOSPC || why.number() == EDQUOT;
}

Result<struct statvfs> statvfs_fd(int fd) {
    struct statvfs st;
    if (retry([&] { return ::fstatvfs(fd, &st); }) != 0) return Error(errno);
    return st;
}

std::uint64_t share_of_disk(int fd, std::uint64_t usual, std::uint64_t parts) {
    const auto st = statvfs_fd(fd);
    if (!st) return usual;
    return std::min(usual, static_cast<std::uint64_t>(st->f_blocks) * st->f_frsize / parts);
}

}  // namespace unwrite::sys
