// Announcements: the calls through the mount that tell watchers what a restore changed below it.
// They run in a guest thread (helper.h); the daemon recognises it and carries none of its changes
// out (nudge.h).
//
// A watcher sees: for a name that is gone IN_DELETE; for one that is back IN_CREATE; for content
// IN_MODIFY and IN_CLOSE_WRITE; for attributes IN_ATTRIB. A renamed name is seen as one that is
// gone and one that is new.
#pragma once

#include "fs/mounting.h"
#include "fs/server.h"

namespace unwrite::fs {

/// Announces up to tuning::kMostAnnouncements names and as many paths. Failures are not reported:
/// nothing is wrong but that a watcher was not told. Stops early when the session ends.
void announce_restored(Server& server, const MountPlace& place, const overlay::Restored& restored);

}  // namespace unwrite::fs
