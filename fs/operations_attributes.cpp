// Attributes of objects and of the filesystem.
#include "fs/request.h"

namespace unwrite::fs {

namespace {

void getattr(Server& server, fuse_req_t request, fuse_ino_t id, fuse_file_info* /*info*/) {
    if (is_phantom(id)) {
        const struct stat phantom = phantom_attributes(id);
        fuse_reply_attr(request, &phantom, 0);
        return;
    }
    const bool keep = keeps_attributes(server, id);
    reply_attributes(request, server.tree.getattr(id), keep);
}

constexpr struct timespec kNow = {0, UTIME_NOW};

/// The times that are asked for; the kernel's own change time is the backing filesystem's business.
void decode_times(const struct stat& wanted, int which, overlay::AttributeChange& change) {
    if ((which & FUSE_SET_ATTR_ATIME_NOW) != 0) {
        change.atime = kNow;
    } else if ((which & FUSE_SET_ATTR_ATIME) != 0) {
        change.atime = wanted.st_atim;
    }
    if ((which & FUSE_SET_ATTR_MTIME_NOW) != 0) {
        change.mtime = kNow;
    } else if ((which & FUSE_SET_ATTR_MTIME) != 0) {
        change.mtime = wanted.st_mtim;
    }
}

overlay::AttributeChange decode_change(const Server& server, const overlay::Caller& caller,
                                       const struct stat& wanted, int which) {
    overlay::AttributeChange change;
    if ((which & FUSE_SET_ATTR_MODE) != 0) change.mode = wanted.st_mode & 07777U;
    if ((which & FUSE_SET_ATTR_UID) != 0) change.uid = wanted.st_uid;
    if ((which & FUSE_SET_ATTR_GID) != 0) change.gid = wanted.st_gid;
    if ((which & FUSE_SET_ATTR_SIZE) != 0) {
        change.size = static_cast<std::uint64_t>(wanted.st_size);
    }
    decode_times(wanted, which, change);
    const bool marked = raw_flags().kill_privileges;
    change.kill_privileges =
        server.marks_kill ? marked : (change.size.has_value() && caller.uid != 0);
    return change;
}

void setattr(Server& server, fuse_req_t request, fuse_ino_t id, struct stat* wanted, int which,
             fuse_file_info* /*info*/) {
    switch (sender(server, request)) {
        case Who::kAnnouncer:  // the event is all it wants
            reply_attributes(request, server.tree.getattr(id), false);
            return;
        case Who::kSelf:
        case Who::kSyncer:
            fuse_reply_err(request, EDEADLK);
            return;
        case Who::kOther:
            break;
    }
    const overlay::Caller by = caller(request);
    const bool keep = keeps_attributes(server, id);
    reply_attributes(request,
                     server.tree.setattr(by, id, decode_change(server, by, *wanted, which)), keep);
}

void statfs(Server& server, fuse_req_t request, fuse_ino_t id) {
    const auto found = server.tree.statfs(id == 0 ? overlay::kRootId : id);
    if (found) {
        fuse_reply_statfs(request, &*found);
    } else {
        fuse_reply_err(request, found.error().number());
    }
}

}  // namespace

void add_attributes(fuse_lowlevel_ops& operations) {
    operations.getattr = Door<getattr>::enter;
    operations.setattr = Door<setattr>::enter_any;
    operations.statfs = Door<statfs>::enter;
}

}  // namespace unwrite::fs
