// What is said and asked before a discard, wherever it was asked for: by `unwrite discard`, and by
// the letter D of the question after a run, at a mount and in `recover`.
#pragma once

#include <string>

#include "cli/settle.h"

namespace unwrite::cli {

/// What is to be discarded.
struct Discardable {
    std::string since;    ///< everything since this node; "" for the whole task
    std::string session;  ///< of the run that `since` began; "" for the whole task
    std::string run;      ///< the session of the run that has ended; "" where none has
    Act act;              ///< the discard of everything
    bool whole = false;   ///< all of it or nothing
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
/// run's changes alone where other agents made some of the rest, or for the agents' alone where the
/// user did. Discards nothing.
Result<Discarding> ask_to_discard(Context& context, Workspace& workspace, const Discardable& what);

/// Takes back `part`, kRun or kAgents: what agents changed in the whole task, or in the run alone.
/// What others changed too so that it cannot be told apart: of the whole task it is kConflict, and
/// nothing is done; of a run it stays, and is in `left`.
Result<overlay::Moved> discard_part(overlay::Operations& operations, const Discardable& what,
                                    Discarding part, bool dry_run);

}  // namespace unwrite::cli
