// What is typed behind `unwrite run`, and what of it concerns the sandbox.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/confine.h"

namespace unwrite::cli {

struct RunOptions {
    std::string session;
    std::string workspace;  ///< to be mounted, where nothing is mounted
    std::string on_exit = "ask";
    bool discard_on_failure = false;
    bool leave_running = false;
    bool no_confine = false;
    bool require_confinement = false;
    bool caches = false;
    bool yes = false;
    std::string agent;
    std::string network = "host";
    std::vector<std::string> endpoints;
    std::vector<std::string> write;
    bool hide_home = false;
    std::vector<std::string> show;
    std::vector<std::string> granted;  ///< by --write, --caches and the agent; never typed
    std::vector<std::string> command;
    Confinement inside;  ///< what the process between guard and command is told; never typed
};

/// Whether to confine: the options, and UNWRITE_CONFINE (yes, no, required) where they are silent.
enum class Walls { kNone, kWanted, kRequired };
/// kUsage where options contradict each other.
Result<Walls> walls_of(const RunOptions& options);

}  // namespace unwrite::cli
