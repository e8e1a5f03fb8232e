// System calls that return Result. No other folder looks at errno. All calls retry EINTR where the
// kernel allows it; none follows a final symlink unless its name says so. Thread-safe.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace unwrite::sys {

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

/// The current errno as an Error (for libraries that report through errno).
Error last_error();
/// The text of the calling convention "/proc/thread-self/fd/N": opens or names what an fd refers
/// to.
std::string fd_path(int fd);

Result<UniqueFd> open_at(int dir, const std::string& name, int flags, mode_t mode = 0);
/// A new descriptor of the same object with other flags (through /proc): works for O_PATH
/// descriptors.
Result<UniqueFd> reopen(int fd, int flags);
Result<UniqueFd> duplicate(int fd);
Result<> close(UniqueFd fd);
/// flock(LOCK_EX | LOCK_NB): false when another open file holds it. Held until the last copy of
/// `fd` is closed.
Result<bool> try_lock_file(int fd);

Result<struct stat> stat_fd(int fd);
Result<struct stat> stat_at(int dir, const std::string& name);
/// stat plus the birth time in ns (0 where the filesystem has none). `name` may be "" for `dir`
/// itself.
struct StatX {
    struct stat st;
    std::uint64_t birth;
    std::uint64_t mount;  ///< the kernel's number of the mount; 0 where it does not tell
};
/// False when `found`, which stands somewhere below `top`, begins another filesystem there: a mount
/// or a subvolume. (On an overlayfs the device of a file says nothing.)
bool is_same_filesystem(const StatX& top, const StatX& found);
Result<StatX> statx_at(int dir, const std::string& name);
Result<struct statvfs> statvfs_fd(int fd);
/// `usual` bytes, but at most one of `parts` equal parts of the filesystem that `fd` is on.
std::uint64_t share_of_disk(int fd, std::uint64_t usual, std::uint64_t parts);
bool is_out_of_room(const Error& why);  ///< of the disk, or of a quota

Result<std::size_t> read_at(int fd, Bytes out, std::uint64_t offset);  ///< may be short at the end
Result<> read_exactly_at(int fd, Bytes out,
                         std::uint64_t offset);  ///< EIO when the file is shorter
Result<> write_all_at(int fd, ConstBytes data, std::uint64_t offset);
Result<std::size_t> write_some_at(int fd, ConstBytes data, std::uint64_t offset);
Result<std::string> read_file_at(int dir, const std::string& name);  ///< a whole small file
enum class Durable { kNo, kYes };
/// Replaces a small file atomically (temporary name, rename); kYes: in the order that survives a
/// power cut, and done when this returns.
Result<> replace_file_at(int dir, const std::string& name, std::string_view text, mode_t mode,
                         Durable durable = Durable::kNo);

Result<> truncate(int fd, std::uint64_t size);
Result<> fallocate(int fd, int mode, std::uint64_t offset, std::uint64_t length);
Result<std::uint64_t> seek(int fd, std::uint64_t offset, int whence);  ///< SEEK_DATA / SEEK_HOLE
Result<std::size_t> copy_range(int in, std::uint64_t in_offset, int out, std::uint64_t out_offset,
                               std::size_t length);  ///< copy_file_range
Result<> sync(int fd);
Result<> sync_data(int fd);
Result<> sync_filesystem(int fd);

Result<> make_directory(int dir, const std::string& name, mode_t mode);
Result<> make_node(int dir, const std::string& name, mode_t mode, dev_t device);
Result<> make_symlink(int dir, const std::string& name, const std::string& target);
Result<> unlink(int dir, const std::string& name);
Result<> remove_directory(int dir, const std::string& name);
Result<> rename(int from_dir, const std::string& from, int to_dir, const std::string& to,
                unsigned flags = 0);
/// A second name for the object at (dir, name); the final symlink is not followed.
Result<> link(int dir, const std::string& name, int to_dir, const std::string& to);
/// A name for the object behind a descriptor (O_PATH or O_TMPFILE), through /proc.
Result<> link_fd(int fd, int to_dir, const std::string& to);
Result<std::string> read_link(int dir, const std::string& name);  ///< name "" for an O_PATH fd

/// These take an O_PATH descriptor of any object and do not follow a symlink.
Result<> change_mode(int fd, mode_t mode);
Result<> change_owner(int fd, uid_t uid, gid_t gid);
Result<> set_times(int fd, const struct timespec times[2]);

using Xattrs = std::vector<std::pair<std::string, std::string>>;
Result<std::vector<std::string>> list_xattrs(int fd);            ///< O_PATH allowed
Result<std::string> get_xattr(int fd, const std::string& name);  ///< ENODATA when absent
Result<> set_xattr(int fd, const std::string& name, std::string_view value, int flags);
Result<> remove_xattr(int fd, const std::string& name);
/// All extended attributes, sorted by name. Empty where the filesystem has none.
Result<Xattrs> read_xattrs(int fd);

struct DirectoryEntry {
    std::string name;
    std::uint64_t ino;
    unsigned char type;   ///< DT_*
    std::int64_t offset;  ///< where the next entry begins
};
/// All entries but "." and "..", of an open (not O_PATH) directory descriptor, from `offset` (0:
/// the start), until the end or about `limit` entries; moves the descriptor's offset.
Result<std::vector<DirectoryEntry>> read_directory(int fd, std::int64_t offset = 0,
                                                   std::size_t limit = SIZE_MAX);
Result<bool> is_empty_directory(int fd);

/// The first run of data of an open file at or after `offset`, cut at `end`: [begin, finish). Both
/// are `end` when only a hole is left. All is data where the filesystem cannot tell.
struct DataRun {
    std::uint64_t begin;
    std::uint64_t finish;
};
DataRun next_data(int fd, std::uint64_t offset, std::uint64_t end);

/// Copies `length` bytes: reflink where possible, else copy_file_range, else read and write. Holes
/// of the source are kept as holes when `out` is fresh there. Both offsets and the length in bytes.
Result<> copy_bytes(int in, std::uint64_t in_offset, int out, std::uint64_t out_offset,
                    std::uint64_t length);

/// Makes [offset, offset+length) read as zeros: a hole where the filesystem has them. The size
/// stays.
Result<> write_zeros(int fd, std::uint64_t offset, std::uint64_t length);

}  // namespace unwrite::sys
