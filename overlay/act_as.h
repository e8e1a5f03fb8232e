// ActAs: while it lives, this thread makes new objects as the caller: filesystem uid and gid are
// the caller's, and the capabilities that the kernel takes away with the uid are raised again (the
// kernel has checked the permissions of the mount already). Does nothing when the daemon is not
// root.
#pragma once

#include "overlay/tree.h"

namespace unwrite::overlay {

class ActAs {
 public:
    explicit ActAs(const Caller& caller);
    ActAs(const ActAs&) = delete;
    ActAs& operator=(const ActAs&) = delete;
    ~ActAs();

 private:
    bool changed_uid_ = false;
    bool changed_gid_ = false;
};

/// Whether the caller is in a group, by its own group or by a supplementary one. False when its
/// process is gone.
bool is_in_group(const Caller& caller, gid_t group);

}  // namespace unwrite::overlay
