// Names that are looked up, moved and taken away.
#include "fs/request.h"

namespace unwrite::fs {

namespace {

/// Answers the helper's request for the name it is about to announce: absent before it appears, a
/// phantom before it goes.
bool answer_nudge(Server& server, fuse_req_t request, fuse_ino_t parent, const char* name) {
    if (sender(server, request) != Who::kAnnouncer) return false;
    const auto nudge = server.nudges.about(parent, name);
    if (!nudge) return false;
    if (nudge->appears) {
        fuse_reply_err(request, ENOENT);
        return true;
    }
    fuse_entry_param parameters = {};
    parameters.ino = next_phantom(nudge->directory);
    parameters.attr = phantom_attributes(parameters.ino);
    fuse_reply_entry(request, &parameters);
    return true;
}

void lookup(Server& server, fuse_req_t request, fuse_ino_t parent, const char* name) {
    if (server.nudges.waiting() && answer_nudge(server, request, parent, name)) return;
    const bool keep = server.keeps && server.tree.keeps_absence(parent);
    const auto found = server.tree.lookup(caller(request), parent, name);
    if (!found && found.error().number() == ENOENT && !server.nudges.waiting()) {
        fuse_entry_param absent = {};  // id 0: the kernel may remember that there is nothing
        absent.entry_timeout = keep ? tuning::kKeptSeconds : tuning::kNegativeSeconds;
        fuse_reply_entry(request, &absent);
        return;
    }
    reply_entry(server, request, found);
}

void forget(Server& server, fuse_req_t request, fuse_ino_t id, std::uint64_t lookups) {
    if (!is_phantom(id)) server.tree.forget(id, lookups);
    fuse_reply_none(request);
}

void forget_many(Server& server, fuse_req_t request, std::size_t count,
                 fuse_forget_data* forgotten) {
    for (std::size_t i = 0; i < count; ++i) {
        if (!is_phantom(forgotten[i].ino))
            server.tree.forget(id_of(forgotten[i].ino), forgotten[i].nlookup);
    }
    fuse_reply_none(request);
}

void readlink(Server& server, fuse_req_t request, fuse_ino_t id) {
    const auto target = server.tree.readlink(id);
    if (target) {
        fuse_reply_readlink(request, target->c_str());
    } else {
        fuse_reply_err(request, target.error().number());
    }
}

/// The announcer's removal is of a phantom: agreed to, and nothing is done.
bool is_announcement(Server& server, fuse_req_t request) {
    return server.nudges.waiting() && sender(server, request) == Who::kAnnouncer;
}

void unlink(Server& server, fuse_req_t request, fuse_ino_t parent, const char* name) {
    if (is_announcement(server, request)) {
        fuse_reply_err(request, server.nudges.about(parent, name) ? 0 : EDEADLK);
        return;
    }
    reply(request, server.tree.unlink(caller(request), parent, name));
}

void rmdir(Server& server, fuse_req_t request, fuse_ino_t parent, const char* name) {
    if (is_announcement(server, request)) {
        fuse_reply_err(request, server.nudges.about(parent, name) ? 0 : EDEADLK);
        return;
    }
    reply(request, server.tree.rmdir(caller(request), parent, name));
}

void rename(Server& server, fuse_req_t request, fuse_ino_t parent, const char* name,
            fuse_ino_t to_parent, const char* to_name, unsigned flags) {
    const auto renamed =
        server.tree.rename(caller(request), parent, name, to_parent, to_name, flags);
    // The kernel keeps the names as long as it may at the old place.
    if (server.keeps && (!server.tree.keeps_names(parent) || !server.tree.keeps_names(to_parent)))
        server.drop_names();
    reply(request, renamed);
}

void link(Server& server, fuse_req_t request, fuse_ino_t id, fuse_ino_t to_parent,
          const char* to_name) {
    reply_entry(server, request, server.tree.link(caller(request), id, to_parent, to_name));
}

}  // namespace

void add_names(fuse_lowlevel_ops& operations) {
    operations.lookup = Door<lookup>::enter;
    operations.forget = Door<forget>::enter_any;
    operations.forget_multi = Door<forget_many>::enter_any;
    operations.readlink = Door<readlink>::enter;
    operations.unlink = Door<unlink>::enter;
    operations.rmdir = Door<rmdir>::enter;
    operations.rename = Door<rename>::enter_change;
    operations.link = Door<link>::enter_change;
}

}  // namespace unwrite::fs
