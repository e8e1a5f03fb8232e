#include "fs/held.h"
#include "fs/request.h"

namespace unwrite::fs {

const fuse_lowlevel_ops& operations() {
    static const fuse_lowlevel_ops table = [] {
        fuse_lowlevel_ops made = {};
        made.init = negotiate;
        add_names(made);
        add_creation(made);
        add_files(made);
        add_attributes(made);
        add_xattrs(made);
        add_directories(made);
        return made;
    }();
    return table;
}

void reply_error(fuse_req_t request, const Error& error) {
    Server& server = *static_cast<Server*>(fuse_req_userdata(request));
    if (raw_flags().question != 0 && server.held != nullptr) {
        server.held->keep(request, error.number());
    } else {
        fuse_reply_err(request, error.number());
    }
}

void reply_entry(Server& server, fuse_req_t request, const Result<overlay::Entry>& result) {
    if (!result) {
        reply_error(request, result.error());
        return;
    }
    const fuse_entry_param parameters = entry_parameters(server, *result);
    if (fuse_reply_entry(request, &parameters) != 0) server.tree.forget(result->id, 1);
}

void reply_created(Server& server, fuse_req_t request, const Result<overlay::Entry>& result,
                   fuse_file_info& info) {
    if (!result) {
        reply_error(request, result.error());
        return;
    }
    const fuse_entry_param parameters = entry_parameters(server, *result);
    // What has no handle of ours is opened by the kernel alone.
    const auto opened = server.data_path->open(request, caller(request), result->id, true, info);
    if (!opened && opened.error().number() != ENOSYS) {
        reply_error(request, opened.error());
    } else if (fuse_reply_create(request, &parameters, &info) == 0) {
        return;
    }
    if (opened) server.data_path->close(request, result->id, info);
    server.tree.forget(result->id, 1);
}

}  // namespace unwrite::fs
