// Extended attributes, ACLs among them.
#include <string>

#include "fs/request.h"

namespace unwrite::fs {

namespace {

/// A size of 0 asks how long the value is.
void reply_value(fuse_req_t request, std::string_view value, std::size_t room) {
    if (room == 0) {
        fuse_reply_xattr(request, value.size());
    } else if (value.size() > room) {
        fuse_reply_err(request, ERANGE);
    } else {
        fuse_reply_buf(request, value.data(), value.size());
    }
}

void get_xattr(Server& server, fuse_req_t request, fuse_ino_t id, const char* name,
               std::size_t room) {
    const auto value = server.tree.get_xattr(id, name);
    if (value) {
        reply_value(request, *value, room);
    } else {
        fuse_reply_err(request, value.error().number());
    }
}

void list_xattrs(Server& server, fuse_req_t request, fuse_ino_t id, std::size_t room) {
    const auto names = server.tree.list_xattrs(id);
    if (!names) {
        fuse_reply_err(request, names.error().number());
        return;
    }
    std::string list;
    for (const std::string& name : *names)
        list.append(name).push_back('\0');
    reply_value(request, list, room);
}

void set_xattr(Server& server, fuse_req_t request, fuse_ino_t id, const char* name,
               const char* value, std::size_t size, int flags) {
    reply(request,
          server.tree.set_xattr(caller(request), id, name, std::string_view(value, size), flags));
}

void remove_xattr(Server& server, fuse_req_t request, fuse_ino_t id, const char* name) {
    reply(request, server.tree.remove_xattr(caller(request), id, name));
}

}  // namespace

void add_xattrs(fuse_lowlevel_ops& operations) {
    operations.getxattr = Door<get_xattr>::enter;
    operations.listxattr = Door<list_xattrs>::enter;
    operations.setxattr = Door<set_xattr>::enter_change;
    operations.removexattr = Door<remove_xattr>::enter_change;
}

}  // namespace unwrite::fs
