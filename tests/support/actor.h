// Actors change a directory by path: TreeActor through an overlay::Tree, PlainActor by the system
// calls that a program on a plain directory would make. Both answer with 0 or an errno, so that
// what they do can be compared.
//
// Paths are relative, resolved component by component, and a symlink on the way is ENOTDIR. The
// number of a slot names an object that stays looked up (an open file, a working directory) until
// it is dropped, whatever happens to its names.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace unwrite::tests {

/// "a/b/c" as ("a/b", "c").
inline std::pair<std::string, std::string> split_path(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return {"", path};
    return {path.substr(0, slash), path.substr(slash + 1)};
}

class Actor {
 public:
    virtual ~Actor() = default;

    virtual int create(const std::string& path, mode_t mode) = 0;  ///< O_EXCL
    virtual int mkdir(const std::string& path, mode_t mode) = 0;
    virtual int mknod(const std::string& path, mode_t mode, dev_t device) = 0;
    virtual int symlink(const std::string& path, const std::string& target) = 0;
    virtual int link(const std::string& from, const std::string& to) = 0;
    virtual int rename(const std::string& from, const std::string& to, unsigned flags) = 0;
    virtual int unlink(const std::string& path) = 0;
    virtual int rmdir(const std::string& path) = 0;
    virtual int temporary(const std::string& directory, std::string_view data,
                          const std::string& to) = 0;  ///< O_TMPFILE, linked

    // These are for regular files alone: EINVAL otherwise.
    virtual int write(const std::string& path, std::uint64_t offset, std::string_view data) = 0;
    virtual int append(const std::string& path, std::string_view data) = 0;
    virtual int truncate(const std::string& path, std::uint64_t size) = 0;
    virtual int fallocate(const std::string& path, int mode, std::uint64_t offset,
                          std::uint64_t length) = 0;
    virtual int copy(const std::string& from, std::uint64_t from_offset, const std::string& to,
                     std::uint64_t to_offset, std::size_t length) = 0;

    virtual int chmod(const std::string& path, mode_t mode) = 0;  ///< EINVAL for a symlink
    virtual int chown(const std::string& path, uid_t uid, gid_t gid) = 0;
    virtual int utimens(const std::string& path, std::int64_t mtime_ns) = 0;
    virtual int set_xattr(const std::string& path, const std::string& name, std::string_view value,
                          int flags) = 0;
    virtual int remove_xattr(const std::string& path, const std::string& name) = 0;

    static constexpr unsigned kSlots = 4;
    virtual int hold(unsigned slot,
                     const std::string& path) = 0;  ///< a regular file or a directory, else EINVAL
    virtual void drop(unsigned slot) = 0;
    virtual int write_held(unsigned slot, std::uint64_t offset,
                           std::string_view data) = 0;  ///< EBADF for an empty slot
    virtual int truncate_held(unsigned slot, std::uint64_t size) = 0;
    virtual int chmod_held(unsigned slot, mode_t mode) = 0;
    virtual int create_below_held(unsigned slot, const std::string& name) = 0;
};

}  // namespace unwrite::tests
