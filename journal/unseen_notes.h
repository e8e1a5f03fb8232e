// Which files somebody was given to change without a request (overlay/unseen.h). The kernel goes on
// serving him when the daemon is dead, so the next life must know where to look. The file `unseen`
// in the state directory is only appended to, and removed when nobody is left. It need not outlive
// a power cut, for then nobody is left either.
#pragma once

#include <unordered_set>

#include "base/object_key.h"
#include "base/syscalls.h"

namespace unwrite::journal {

/// `state` is the open state directory, and its writer's lock is held, as for the others. One call
/// at a time. ENOSPC.
Result<> note_unseen(int state, const ObjectKey& key);
/// Of a torn or damaged file what is whole counts; of an absent one nothing.
Result<std::unordered_set<ObjectKey>> noted_unseen(int state);
Result<> forget_unseen(int state);

}  // namespace unwrite::journal
