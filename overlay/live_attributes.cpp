#include <cerrno>

#include "base/crash_point.h"
#include "base/lend_mode.h"
#include "overlay/act_as.h"
#include "overlay/live_tree.h"

namespace unwrite::overlay {

namespace {

constexpr const char* kAccessAcl = "system.posix_acl_access";

// As the kernel does it for its own filesystems: who is not of the file's group cannot give the
// group's set-id bit away with an ACL.
Result<> clear_set_group(const Caller& caller, int fd) {
    TRY_ASSIGN(const struct stat st, sys::stat_fd(fd));
    if ((st.st_mode & S_ISGID) == 0 || caller.uid == 0 || is_in_group(caller, st.st_gid)) return {};
    return sys::change_mode(fd, st.st_mode & 07777U & ~static_cast<mode_t>(S_ISGID));
}

bool changes_times(const AttributeChange& change) {
    return change.atime.tv_nsec != UTIME_OMIT || change.mtime.tv_nsec != UTIME_OMIT;
}

// A change that is bound to fail must not be captured: the object's second name in the attic moves
// its change time.
Result<> check_offered(int fd, const std::string& name) {
    const auto value = sys::get_xattr(fd, name);
    if (!value && value.error().number() == EOPNOTSUPP) return Error(EOPNOTSUPP);
    return {};
}

}  // namespace

Result<struct stat> LiveTree::getattr(NodeId id) {
    TRY_ASSIGN(const ObjectPtr object, objects_.get(id));
    return objects_.stat(object);
}

Result<> LiveTree::change_attributes(int fd, const AttributeChange& change) {
    if (change.uid || change.gid) {
        TRY(sys::change_owner(fd, change.uid.value_or(static_cast<uid_t>(-1)),
                              change.gid.value_or(static_cast<gid_t>(-1))));
    }
    // After the owner, which clears set-id bits.
    const sys::ModesAtRest own;
    if (change.mode) TRY(sys::change_mode(fd, *change.mode & 07777U));
    if (changes_times(change)) {
        const struct timespec times[2] = {change.atime, change.mtime};
        TRY(sys::set_times(fd, times));
    }
    return {};
}

Result<struct stat> LiveTree::setattr(const Caller& caller, NodeId id,
                                      const AttributeChange& change) {
    return turns_.take(origins_.resolve(caller), id,
                       [&](const Who& who) { return setattr_as(who, caller, id, change); });
}

Result<struct stat> LiveTree::setattr_as(const Who& who, const Caller& caller, NodeId id,
                                         const AttributeChange& change) {
    TRY_ASSIGN(const Gate::Pass pass, gate_.pass());
    TRY_ASSIGN(const ObjectPtr object, objects_.get(id));
    const Capture::Touching touching(capture_, object);
    if (change.size) {
        if (object->is_directory()) return Error(EISDIR);
        if (!S_ISREG(object->type())) return Error(EINVAL);
        TRY(capture_.cut(who, object, *change.size));
        TRY_ASSIGN(const HandlePtr handle, objects_.open(object, Access::kWrite));
        crash_point("tree.truncate.before");
        if (change.kill_privileges) TRY(clear_privileges(caller, object, handle->fd.get()));
        TRY_ASSIGN(const struct stat before, sys::stat_fd(handle->fd.get()));
        TRY(sys::truncate(handle->fd.get(), *change.size));
        const bool is_shorter = static_cast<std::uint64_t>(before.st_size) > *change.size;
        // Where writes are not seen the flusher would wait for them in vain, and its descriptor
        // would look like somebody who writes.
        if (!object->is_inner()) {
            if (is_shorter && !write_hold_) flusher_.cut(object->key(), handle);
            capture_.wrote(object->key(), handle->fd.get());
        }
        crash_point("tree.truncate.after");
    }
    if (change.mode || change.uid || change.gid || changes_times(change)) {
        TRY(capture_.attributes(who, object));
        TRY_ASSIGN(const HandlePtr handle, objects_.open(object, Access::kPath));
        crash_point("tree.setattr.before");
        TRY(change_attributes(handle->fd.get(), change));
        crash_point("tree.setattr.after");
    }
    if (change.mode && (*change.mode & (S_ISUID | S_ISGID)) != 0) {
        TRY_ASSIGN(const struct stat st, objects_.stat(object));
        unseen_.note_set_id(object->key(), st.st_mtim);
    }
    TRY_ASSIGN(const HandlePtr handle, objects_.open(object, Access::kPath));
    if (object->is_inner()) return objects_.stat(object);
    TRY_ASSIGN(struct stat st, capture_.stamp(object->key(), handle->fd.get()));
    objects_.correct(st, object->key());
    return st;
}

Result<std::string> LiveTree::readlink(NodeId id) {
    TRY_ASSIGN(const ObjectPtr object, objects_.get(id));
    if (!S_ISLNK(object->type())) return Error(EINVAL);
    TRY_ASSIGN(const HandlePtr handle, objects_.open(object, Access::kPath));
    return sys::read_link(handle->fd.get(), "");
}

Result<std::string> LiveTree::get_xattr(NodeId id, const std::string& name) {
    TRY_ASSIGN(const ObjectPtr object, objects_.get(id));
    TRY_ASSIGN(const HandlePtr handle, objects_.open(object, Access::kPath));
    return sys::get_xattr(handle->fd.get(), name);
}

Result<std::vector<std::string>> LiveTree::list_xattrs(NodeId id) {
    TRY_ASSIGN(const ObjectPtr object, objects_.get(id));
    TRY_ASSIGN(const HandlePtr handle, objects_.open(object, Access::kPath));
    return sys::list_xattrs(handle->fd.get());
}

Result<> LiveTree::change_xattr(const Caller& caller, NodeId id, const std::string& name,
                                const std::function<Result<>(int fd)>& change) {
    return turns_.take(origins_.resolve(caller), id, [&](const Who& who) -> Result<> {
        TRY_ASSIGN(const Gate::Pass pass, gate_.pass());
        TRY_ASSIGN(const ObjectPtr object, objects_.get(id));
        TRY_ASSIGN(const HandlePtr handle, objects_.open(object, Access::kPath));
        TRY(check_offered(handle->fd.get(), name));
        const Capture::Touching touching(capture_, object);
        TRY(capture_.attributes(who, object));
        TRY(change(handle->fd.get()));
        if (object->is_inner()) return {};
        ignore(capture_.stamp(object->key(), handle->fd.get()), "it was changed all the same");
        return {};
    });
}

Result<> LiveTree::set_xattr(const Caller& caller, NodeId id, const std::string& name,
                             std::string_view value, int flags) {
    return change_xattr(caller, id, name, [&](int fd) -> Result<> {
        crash_point("tree.setxattr.before");
        TRY(sys::set_xattr(fd, name, value, flags));
        crash_point("tree.setxattr.after");
        return name == kAccessAcl ? clear_set_group(caller, fd) : Result<>();
    });
}

Result<> LiveTree::remove_xattr(const Caller& caller, NodeId id, const std::string& name) {
    return change_xattr(caller, id, name, [&](int fd) {
        crash_point("tree.removexattr.before");
        return sys::remove_xattr(fd, name);
    });
}

}  // namespace unwrite::overlay
