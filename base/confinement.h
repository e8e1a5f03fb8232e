// The kernel's walls for a process: namespaces, mounts of its own, Landlock, capabilities. All
// calls act on the calling process or on what it has just made; none is to be used while other
// threads run. Descriptors are closed on exec.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace unwrite::sys {

/// fork(2) into new namespaces (CLONE_NEW* flags): 0 in the child, which is process 1 of a new pid
/// namespace.
Result<pid_t> fork_into(unsigned namespaces);
/// From the parent, for a child in a new user namespace: everybody is who they were. Only the
/// caller's own user and group where the caller may not map others.
Result<> map_users(pid_t child);

/// What is mounted later, here or outside, is not seen on the other side.
Result<> separate_mounts();
/// A copy of `path` with everything mounted below it, in no place yet. Symlinks are followed.
Result<UniqueFd> copy_mounts(const std::string& path);
/// The same of what a descriptor of this mount namespace (O_PATH) is.
Result<UniqueFd> copy_mounts(int place);
/// Puts such a copy at `path`.
Result<> put_mounts(int copy, const std::string& path);
/// Every mount in sight becomes read-only and nosuid; copies that were made before do not.
Result<> make_mounts_read_only();
/// Such a copy becomes read-only, with all in it.
Result<> make_copy_read_only(int copy);
/// A new filesystem at `path`; never set-user-id programs. `options` as mount(8) has them.
Result<> mount_new(const std::string& type, const std::string& path, const std::string& options,
                   bool devices = false);

/// What was mounted last at `path` goes, as soon as nobody uses it.
Result<> unmount(const std::string& path);

/// Gives up all capabilities but those in `kept` (bits by number), for good.
Result<> keep_capabilities(std::uint64_t kept);
/// No program that is executed from here on gains privileges.
Result<> forbid_new_privileges();
/// Typing on behalf of the terminal's user (TIOCSTI, TIOCLINUX) fails with EPERM. Programs for
/// another architecture than this one's (the 386) are killed by SIGSYS at their first system call,
/// and the calls of x32 fail with ENOSYS. Needs forbid_new_privileges().
Result<> forbid_typing();
/// A new session keyring, and from here on no system call for keys (ENOSYS, as on a kernel without
/// them): the keys of the user can be neither read nor cleared. Needs forbid_typing() before it,
/// which keeps the calls of other architectures out.
Result<> leave_keyrings();
/// In a new network namespace: the machine itself can be reached, and nothing else.
Result<> bring_up_loopback();
/// Closes all descriptors from `first` on.
Result<> close_from(int first);

/// A Landlock ruleset: nothing may be written but beneath what is allowed; abstract sockets and
/// signals of others are out of reach where the kernel can do that.
class WriteWall {
 public:
    /// ENOSYS or EOPNOTSUPP where the kernel has no Landlock.
    static Result<WriteWall> create();
    /// A directory: all below it; anything else: that alone. ENOENT when it is absent.
    Result<> allow(const std::string& path) const;
    Result<> allow(int place) const;
    /// Whether abstract sockets of others are out of reach behind it (Linux 6.12).
    bool covers_abstract_sockets() const { return covers_abstract_sockets_; }
    /// For this process and all it starts, for good. Needs forbid_new_privileges().
    Result<> enforce() const;

 private:
    UniqueFd ruleset_;
    std::uint64_t handled_ = 0;
    bool covers_abstract_sockets_ = false;
};

}  // namespace unwrite::sys
