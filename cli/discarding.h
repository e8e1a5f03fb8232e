// What is said and asked before a discard, wherever it was asked for: by `unwrite discard`, and by
// the letter D of the question after a run, at a mount and in `recover`.
#pragma once

#include <string>

#include "cli/settle.h"

namespace unwrite::cli {

/// What is to be discarded.
struct Discardable {
    std::string since;   ///< everything since this node; "" for the whole task
    std::string run;     ///< the session of the run that has ended; "" if none has
    Act act;             ///< the discard of everything
    bool whole = false;  ///< all of it or nothing
};

enum class Discarding {
    kUnanswered,  ///< the input ended, or Ctrl-C was pressed
    kNothing,
    kRun,     ///< only what this run changed: other agents changed files next to it
    kAgents,  ///< only what agents changed
    kAll,
};

/// Says since when it goes back, how many files of whom that are, what changed behind the mount,
/// and which commits, branches, tags and stash entries of git go. Then it asks, first for the
/// run's changes alone if other agents made some of the rest, or for the agents' alone if the user
/// did. Discards nothing.
Result<Discarding> ask_to_discard(Context& context, Workspace& workspace, const Discardable& what);

/// Takes back `part`: with kRun the changes of the run, with kAgents those of all agents in the
/// whole task, or of the run if `since` is where it began. Others may have changed the same lines.
/// In a whole task that is kConflict, and nothing is done. In a run they stay, and are in `left`.
Result<overlay::Moved> discard_part(overlay::Operations& operations, const Discardable& what,
                                    Discarding part, bool dry_run);

}  // namespace unwrite::cli
