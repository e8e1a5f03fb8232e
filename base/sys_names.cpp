// Making, removing and renaming directory entries.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/retry.h"
#include "base/syscalls.h"

namespace unwrite::sys {

Result<> make_directory(int dir, const std::string& name, mode_t mode) {
    return retry_done([&] { return ::mkdirat(dir, name.c_str(), mode); });
}

Result<> make_node(int dir, const std::string& name, mode_t mode, dev_t device) {
    return retry_done([&] { return ::mknodat(dir, name.c_str(), mode, device); });
}

Result<> make_symlink(int dir, const std::string& name, const std::string& target) {
    return retry_done([&] { return ::symlinkat(target.c_str(), dir, name.c_str()); });
}

Result<> unlink(int dir, const std::string& name) {
    return retry_done([&] { return ::unlinkat(dir, name.c_str(), 0); });
}

Result<> remove_directory(int dir, const std::string& name) {
    return retry_done([&] { return ::unlinkat(dir, name.c_str(), AT_REMOVEDIR); });
}

Result<> rename(int from_dir, const std::string& from, int to_dir, const std::string& to,
                unsigned flags) {
    return retry_done(
        [&] { return ::renameat2(from_dir, from.c_str(), to_dir, to.c_str(), flags); });
}

Result<> link(int dir, const std::string& name, int to_dir, const std::string& to) {
    return retry_done([&] { return ::linkat(dir, name.c_str(), to_dir, to.c_str(), 0); });
}

Result<> link_fd(int fd, int to_dir, const std::string& to) {
    const std::string path = fd_path(fd);
    const auto through_proc = retry_done(
        [&] { return ::linkat(AT_FDCWD, path.c_str(), to_dir, to.c_str(), AT_SYMLINK_FOLLOW); });
    if (through_proc || through_proc.error().number() != ENOENT) return through_proc;
    // ENOENT: the object has no name left, or /proc is not mounted. The second can be helped (as
    // root).
    return retry_done([&] { return ::linkat(fd, "", to_dir, to.c_str(), AT_EMPTY_PATH); });
}

Result<std::string> read_link(int dir, const std::string& name) {
    std::string target(256, '\0');
    for (;;) {
        const ssize_t size = ::readlinkat(dir, name.c_str(), target.data(), target.size());
        if (size < 0) return Error(errno);
        if (static_cast<std::size_t>(size) < target.size()) {
            target.resize(static_cast<std::size_t>(size));
            return target;
        }
        target.resize(target.size() * 2);
    }
}

}  // namespace unwrite::sys
