// Runs the driver in a process of its own.
#pragma once

#include <string>
#include <vector>

namespace unwrite::tests {

enum class Ended { kWell, kKilled, kFailed };

/// `crash_at` is the value of UNWRITE_CRASH_AT, empty for none; `prefix` is put before the command
/// (strace...).
Ended run_driver(const std::vector<std::string>& arguments, const std::string& crash_at,
                 const std::vector<std::string>& prefix = {});

/// An executable of that name in PATH.
bool has_program(const std::string& name);

}  // namespace unwrite::tests
