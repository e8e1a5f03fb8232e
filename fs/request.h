// What every callback is made of: the doors that let a request in, the caller it comes from, the
// replies.
#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <new>
#include <string_view>
#include <type_traits>

#include "base/result.h"
#include "fs/audiences.h"
#include "fs/server.h"
#include "fs/tuning.h"

namespace unwrite::fs {

inline Who sender(const Server& server, fuse_req_t request) {
    return who(server, fuse_req_ctx(request)->pid);
}

inline overlay::Caller caller(fuse_req_t request) {
    const fuse_ctx* context = fuse_req_ctx(request);
    overlay::Caller by{context->uid,   context->gid, context->pid,
                       context->umask, false,        &raw_flags().question};
    by.audience = raw_flags().audience;
    by.clears_privileges = &raw_flags().clears_privileges;
    return by;
}

/// Runs a callback; what it throws (memory) becomes an answer, for an exception must not cross the
/// library.
template <auto Handler, class... Args>
void run(Server& server, fuse_req_t request, Args... args) {
    if (raw_flags().answer != 0) {
        fuse_reply_err(request, raw_flags().answer);
        return;
    }
    try {
        Handler(server, request, args...);
    } catch (const std::bad_alloc&) {
        fuse_reply_err(request, ENOMEM);
    }
}

/// Numbers of objects as the tree knows them; no other number has those bits.
template <class Arg>
Arg as_in_tree(Arg argument) {
    if constexpr (std::is_same_v<Arg, fuse_ino_t>) return id_of(argument);
    return argument;
}

template <class Function, Function Handler>
struct DoorOf;

/// Lets in everybody but this process itself: its own request would wait for a thread that waits
/// for it.
template <class... Args, void (*Handler)(Server&, fuse_req_t, Args...)>
struct DoorOf<void (*)(Server&, fuse_req_t, Args...), Handler> {
    static void enter(fuse_req_t request, Args... args) {
        Server& server = *static_cast<Server*>(fuse_req_userdata(request));
        if (sender(server, request) == Who::kSelf) {
            fuse_reply_err(request, EDEADLK);
            return;
        }
        run<Handler>(server, request, as_in_tree(args)...);
    }
    /// The same for changes that no helper thread makes.
    static void enter_change(fuse_req_t request, Args... args) {
        Server& server = *static_cast<Server*>(fuse_req_userdata(request));
        if (sender(server, request) != Who::kOther) {
            fuse_reply_err(request, EDEADLK);
            return;
        }
        run<Handler>(server, request, as_in_tree(args)...);
    }
    /// Without a look at the sender: for what the kernel does on its own account.
    static void enter_any(fuse_req_t request, Args... args) {
        run<Handler>(*static_cast<Server*>(fuse_req_userdata(request)), request,
                     as_in_tree(args)...);
    }
};

template <auto Handler>
using Door = DoorOf<decltype(Handler), Handler>;

/// The answer to what failed; or none yet, when a person is asked first.
void reply_error(fuse_req_t request, const Error& error);

inline void reply(fuse_req_t request, const Result<>& result) {
    if (result) {
        fuse_reply_err(request, 0);
    } else {
        reply_error(request, result.error());
    }
}

/// Asked before what is answered.
inline bool keeps_attributes(Server& server, fuse_ino_t id) {
    return server.keeps && server.tree.keeps_attributes(id);
}

/// Of a file with another name, which may be where nobody watches, they are not kept long.
inline double attribute_seconds(const struct stat& st, bool keep) {
    if (!keep) return tuning::kAttributeSeconds;
    if (S_ISDIR(st.st_mode)) return tuning::kKeptSeconds;
    return st.st_nlink <= 1 ? tuning::kFileSeconds : tuning::kAttributeSeconds;
}

inline void reply_attributes(fuse_req_t request, const Result<struct stat>& result, bool keep) {
    if (result) {
        const bool apart = raw_flags().audience != overlay::Audience::kEveryone;
        fuse_reply_attr(request, &*result, apart ? 0.0 : attribute_seconds(*result, keep));
    } else {
        reply_error(request, result.error());
    }
}

inline fuse_entry_param entry_parameters(Server& server, const overlay::Entry& entry) {
    fuse_entry_param parameters = {};
    parameters.ino = server.apart ? id_for(entry.id, entry.audience) : entry.id;
    parameters.attr = entry.st;
    const bool keeps = server.keeps;
    parameters.attr_timeout = attribute_seconds(entry.st, keeps && entry.keeps_attributes);
    parameters.entry_timeout =
        keeps && entry.keeps_name ? tuning::kKeptSeconds : tuning::kEntrySeconds;
    if (entry.personal || server.nudges.waiting()) parameters.entry_timeout = 0.0;
    // What one of the inodes changes, the others learn by asking.
    if (parameters.ino != entry.id) {
        parameters.attr_timeout = 0.0;
        server.any_apart.store(true, std::memory_order_relaxed);
    }
    return parameters;
}

/// Gives the lookup back when the kernel did not take the answer (the request was interrupted).
void reply_entry(Server& server, fuse_req_t request, const Result<overlay::Entry>& result);
void reply_created(Server& server, fuse_req_t request, const Result<overlay::Entry>& result,
                   fuse_file_info& info);

/// The callbacks of each theme fill in their part.
void add_names(fuse_lowlevel_ops& operations);
void add_creation(fuse_lowlevel_ops& operations);
void add_files(fuse_lowlevel_ops& operations);
void add_attributes(fuse_lowlevel_ops& operations);
void add_xattrs(fuse_lowlevel_ops& operations);
void add_directories(fuse_lowlevel_ops& operations);
/// What this filesystem asks of the kernel at INIT.
void negotiate(void* server, fuse_conn_info* connection);

}  // namespace unwrite::fs
