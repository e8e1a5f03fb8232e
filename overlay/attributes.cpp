#include "overlay/attributes.h"

#include <algorithm>
#include <cerrno>

#include "base/lend_mode.h"

namespace unwrite::overlay {

namespace {

Result<struct stat> stat_at_rest(int fd) {
    const sys::ModesAtRest own;
    return sys::stat_fd(fd);
}

}  // namespace

Result<journal::Attributes> read_attributes(int fd) {
    TRY_ASSIGN(const struct stat st, stat_at_rest(fd));
    journal::Attributes image;
    image.mode = st.st_mode;
    image.uid = st.st_uid;
    image.gid = st.st_gid;
    image.mtime_s = st.st_mtim.tv_sec;
    image.mtime_ns = static_cast<std::uint32_t>(st.st_mtim.tv_nsec);
    TRY_ASSIGN(image.xattrs, sys::lend_access(fd, [&] { return sys::read_xattrs(fd); }));
    return image;
}

namespace {

Result<> write_xattrs(int fd, const sys::Xattrs& now, const sys::Xattrs& wanted) {
    for (const auto& has : now) {
        const bool kept = std::any_of(wanted.begin(), wanted.end(),
                                      [&](const auto& xattr) { return xattr.first == has.first; });
        if (kept) continue;
        const auto removed = sys::remove_xattr(fd, has.first);
        // On xfs an ACL has two names, which go together.
        if (!removed && removed.error().number() != ENODATA) return removed;
    }
    for (const auto& xattr : wanted) {
        if (std::find(now.begin(), now.end(), xattr) == now.end())
            TRY(sys::set_xattr(fd, xattr.first, xattr.second, 0));
    }
    return {};
}

}  // namespace

// The order matters: chown clears set-id bits and capabilities, chmod rewrites the mask of an ACL,
// and user xattrs need permission to read and to write where we are not root.
Result<> write_attributes(int fd, const journal::Attributes& wanted, bool times) {
    TRY_ASSIGN(const journal::Attributes now, read_attributes(fd));
    const bool is_link = S_ISLNK(wanted.mode);
    const bool new_owner = now.uid != wanted.uid || now.gid != wanted.gid;
    if (new_owner) TRY(sys::change_owner(fd, wanted.uid, wanted.gid));
    const bool new_xattrs = new_owner || now.xattrs != wanted.xattrs;
    if (new_xattrs) {  // of a symlink only trusted and security ones
        if (!is_link && (now.mode & 0600U) != 0600U)
            TRY(sys::change_mode(fd, (now.mode & 07777U) | 0600U));
        TRY_ASSIGN(const auto xattrs, sys::read_xattrs(fd));
        TRY(write_xattrs(fd, xattrs, wanted.xattrs));
    }
    if (!is_link && (new_xattrs || now.mode != wanted.mode))
        TRY(sys::change_mode(fd, wanted.mode & 07777U));
    if (!times) return {};
    const struct timespec both[2] = {{0, UTIME_OMIT},
                                     {wanted.mtime_s, static_cast<long>(wanted.mtime_ns)}};
    return sys::set_times(fd, both);
}

Result<> copy_file(int from, int to) {
    TRY_ASSIGN(const struct stat st, sys::stat_fd(from));
    const auto size = static_cast<std::uint64_t>(st.st_size);
    TRY(sys::truncate(to, size));
    TRY(sys::copy_bytes(from, 0, to, 0, size));
    TRY_ASSIGN(const journal::Attributes attributes, read_attributes(from));
    return write_attributes(to, attributes, true);
}

namespace {

sys::Xattrs some_of(const sys::Xattrs& all, bool acls) {
    sys::Xattrs some;
    std::copy_if(all.begin(), all.end(), std::back_inserter(some), [acls](const auto& one) {
        return one.first.starts_with("system.posix_acl_") == acls;
    });
    return some;
}

}  // namespace

std::uint32_t different_aspects(const journal::Attributes& one, const journal::Attributes& other) {
    std::uint32_t aspects = 0;
    if (one.mode != other.mode) aspects |= kAspectMode;
    if (one.uid != other.uid || one.gid != other.gid) aspects |= kAspectOwner;
    if (one.xattrs == other.xattrs) return aspects;
    for (const bool acls : {true, false}) {
        if (some_of(one.xattrs, acls) != some_of(other.xattrs, acls))
            aspects |= acls ? kAspectAcl : kAspectXattrs;
    }
    return aspects;
}

}  // namespace unwrite::overlay
