#include "overlay/handle.h"

#include <fcntl.h>

#include <cerrno>

#include "base/lend_mode.h"

namespace unwrite::overlay {

namespace {

int open_flags(Access access) {
    // O_NONBLOCK: a fifo put there behind the mount must not hang the daemon.
    if (access == Access::kPath) return O_PATH;
    return (access == Access::kRead ? O_RDONLY : O_RDWR) | O_NONBLOCK;
}

/// Somebody has a lease on the file: this process for a moment (base/writers.h), or a file server
/// until the system asks for it back, as for any other program that opens it.
Result<UniqueFd> open_leased(int directory, const std::string& name, const ObjectKey& key,
                             Access access) {
    TRY_ASSIGN(const UniqueFd path, sys::open_at(directory, name, O_PATH | O_NOFOLLOW));
    TRY_ASSIGN(const sys::StatX x, sys::statx_at(path.get(), ""));
    if (key_of(x) != key) return Error(ESTALE);
    // Only files are leased: another one stood at the name a moment ago, and what is wanted is
    // back.
    const int wait = S_ISREG(x.st.st_mode) ? 0 : O_NONBLOCK;
    return sys::lend_access(path.get(), [&] {
        return sys::reopen(path.get(), (open_flags(access) & ~O_NONBLOCK) | wait);
    });
}

}  // namespace

Result<HandlePtr> open_verified(int directory, const std::string& name, const ObjectKey& key,
                                Access access) {
    auto fd = sys::open_at(directory, name, open_flags(access));
    if (!fd && fd.error().number() == EACCES) {
        TRY_ASSIGN(UniqueFd path, sys::lend_access(directory, [&] {
                       return sys::open_at(directory, name, O_PATH);
                   }));
        if (access == Access::kPath)
            fd = std::move(path);
        else
            fd = sys::lend_access(path.get(),
                                  [&] { return sys::reopen(path.get(), open_flags(access)); });
    }
    if (!fd && fd.error().number() == EAGAIN) fd = open_leased(directory, name, key, access);
    if (!fd) {
        const int number = fd.error().number();
        if (number == ENOENT || number == ENOTDIR || number == ELOOP) return Error(ESTALE);
        // Another object may refuse what this one would not: a socket cannot be opened at all.
        const auto there = sys::statx_at(directory, name);
        // The directory does not let us look: that says nothing of what is in it.
        if (!there && there.error().number() == EACCES) return there.error();
        if (!there || key_of(*there) != key) return Error(ESTALE);
        return std::move(fd).error();
    }
    TRY_ASSIGN(const sys::StatX x, sys::statx_at(fd->get(), ""));
    if (key_of(x) != key) return Error(ESTALE);
    return HandlePtr(std::make_shared<Handle>(Handle{*std::move(fd), access}));
}

Result<> expect_empty(int parent, const std::string& name, const ObjectKey& key) {
    TRY_ASSIGN(const HandlePtr directory, open_verified(parent, name, key, Access::kPath));
    TRY_ASSIGN(const UniqueFd listing,
               sys::open_unseen(directory->fd.get(), O_RDONLY | O_DIRECTORY));
    TRY_ASSIGN(const bool empty, sys::is_empty_directory(listing.get()));
    if (!empty) return Error(ENOTEMPTY);
    return {};
}

}  // namespace unwrite::overlay
