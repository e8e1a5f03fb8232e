// New objects.
#include "fs/request.h"

namespace unwrite::fs {

namespace {

/// What the announcer "creates" is there already: the answer is that object, and the kernel tells
/// the watchers of the name.
bool answer_nudge(Server& server, fuse_req_t request, fuse_ino_t parent, const char* name) {
    if (!server.nudges.waiting() || sender(server, request) != Who::kAnnouncer) return false;
    const auto nudge = server.nudges.about(parent, name);
    if (nudge && nudge->appears) {
        reply_entry(server, request, server.tree.lookup(caller(request), parent, name));
    } else {
        fuse_reply_err(request, EDEADLK);
    }
    return true;
}

/// An open that makes a file comes here too, for CREATE is not implemented: it would bring a
/// handle, and with it a request at the end of every new file. The kernel thought that there was
/// nothing; where there is something it has to look again, and to judge whether the caller may open
/// that.
void make_file(Server& server, fuse_req_t request, fuse_ino_t parent, const char* name,
               mode_t mode) {
    auto made = server.tree.create(caller(request), parent, name, mode);
    if (!made && made.error().number() == EEXIST) made = Error(ESTALE);
    reply_entry(server, request, made);
}

void mknod(Server& server, fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode,
           dev_t device) {
    if (answer_nudge(server, request, parent, name)) return;
    if (S_ISREG(mode)) {
        make_file(server, request, parent, name, mode);
        return;
    }
    reply_entry(server, request, server.tree.mknod(caller(request), parent, name, mode, device));
}

void mkdir(Server& server, fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode) {
    if (answer_nudge(server, request, parent, name)) return;
    reply_entry(server, request, server.tree.mkdir(caller(request), parent, name, mode));
}

void symlink(Server& server, fuse_req_t request, const char* target, fuse_ino_t parent,
             const char* name) {
    if (answer_nudge(server, request, parent, name)) return;
    reply_entry(server, request, server.tree.symlink(caller(request), parent, name, target));
}

#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 15)
void tmpfile(Server& server, fuse_req_t request, fuse_ino_t parent, mode_t mode,
             fuse_file_info* info) {
    reply_created(server, request, server.tree.tmpfile(caller(request), parent, mode), *info);
}
#endif

}  // namespace

void add_creation(fuse_lowlevel_ops& operations) {
    operations.mknod = Door<mknod>::enter;
    operations.mkdir = Door<mkdir>::enter;
    operations.symlink = Door<symlink>::enter;
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 15)
    operations.tmpfile = Door<tmpfile>::enter_change;
#endif
}

}  // namespace unwrite::fs
