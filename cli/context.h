// What every command is given: where it was asked, how to answer, and the output it writes.
#pragma once

#include <functional>
#include <string>

#include "cli/output.h"
#include "overlay/operations.h"

namespace unwrite::cli {

enum ExitCode : int {
    kDone = 0,
    kFailed = 1,
    kUsage = 2,
    kNothingToDo = 3,
    kRefused = 4,
    kConflict = 5,
    kNoWorkspace = 6,
    kNeedsRecovery = 7,
};

int exit_code(const Error& error);

struct Context {
    std::string base;  ///< absolute: the current directory, or what -C names
    bool json = false;
    Output out;        ///< stdout
    Output notes;      ///< stderr: for people, and nothing that a script would read
    std::string verb;  ///< of the chosen command, for messages
    std::function<Result<int>()> action;
};

/// This process, as whoever asks.
overlay::Asker asker();

/// `path` from `base`, without symlinks, dots and doubled slashes; its last part need not answer (a
/// dead mount).
Result<std::string> real_path(const std::string& base, const std::string& path);
/// `path` from `base` with dots and doubled slashes taken out, without looking at the disk.
std::string absolute_path(const std::string& base, const std::string& path);

}  // namespace unwrite::cli
