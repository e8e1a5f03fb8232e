// The walls around the command of a run. Its process 1 is ours: it makes the namespaces' own view
// of the machine, starts the command, hands signals on, and ends what the command leaves behind.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/granted_place.h"
#include "cli/home_layer.h"

namespace unwrite::cli {

/// What the command may reach. Paths are absolute.
struct Confinement {
    std::string root;    ///< the workspace, through the mount
    std::string raw;     ///< where the raw directory is in sight; shows the mount as well
    std::string annex;   ///< the repository outside, which the mount shows as well; empty: none
    std::string socket;  ///< the daemon's; empty: none
    std::vector<GrantedPlace> writable;  ///< further places to write in, outer ones first
    HomeView home;                       ///< the home directory, under a layer of the command's own
    bool network = true;
    bool required = false;  ///< rather nothing than less than all of it
    bool leave_running = false;
    int channel = -1;                   ///< to the proxy of `--network model`; -1: there is none
    std::vector<std::string> forwards;  ///< the endpoints on this machine that it serves
    int relay = -1;  ///< the socket to the TerminalRelay of the run; -1: there is none
};

/// The places where package managers keep what they have downloaded, as far as they are there.
std::vector<std::string> cache_directories();

/// Runs `command` in the current directory, confined, and waits for it: its exit code, as a shell
/// has it. What this machine does not allow is named on stderr, and with `required` is kRefused
/// before anything runs. For a process with one thread, whose standard streams are the command's.
Result<int> run_confined(const Confinement& confinement, const std::vector<std::string>& command);

}  // namespace unwrite::cli
