// The runs that are going on in a mounted workspace.
#pragma once

#include <string>
#include <vector>

#include "cli/workspace.h"

namespace unwrite::cli {

struct RunGoingOn {
    overlay::NodeNumber node = 0;  ///< where it began
    std::string session;           ///< its name: "run-5"
    std::string command;           ///< as it was typed
};

/// Of a mounted workspace, the oldest first.
std::vector<RunGoingOn> runs_going_on(Workspace& workspace);

/// "run-5 (claude -p ...)", each.
std::string run_words(const std::vector<RunGoingOn>& runs);

}  // namespace unwrite::cli
