// Running another program to its end: an argument vector and no shell, its output caught, an upper
// limit on time and on output. Thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace unwrite {

struct ProcessRequest {
    /// The program and its arguments. Without a slash it is looked for in the PATH of this process.
    std::vector<std::string> arguments;
    std::string directory;           ///< where it starts; "": where this process is
    std::vector<std::string> unset;  ///< variables that it does not inherit
    std::vector<std::pair<std::string, std::string>> set;  ///< variables that it gets, or gets anew
    std::string input;                                     ///< its standard input
    std::chrono::milliseconds timeout{60'000};
    std::size_t most_output = std::size_t{64} << 20;  ///< bytes of stdout, and as many of stderr
    /// Asked after each signal and at least five times a second; true ends it.
    std::function<bool()> cancelled{};
    /// How long it may still run after `cancelled` said true, to end by itself.
    std::chrono::milliseconds grace{0};
};

struct ProcessOutcome {
    int exit_code = 0;  ///< 128 + number of the signal that ended it
    std::string out;
    std::string err;
};

/// Returns when the program has ended; what it left behind may live on. It leads a session of its
/// own: a key pressed at the terminal does not end it half-way, and it cannot ask there. Errors:
/// ENOENT, EACCES, ... when it cannot be started; ETIMEDOUT and EFBIG after it, and what it
/// started, was ended for exceeding a limit; ECANCELED where `cancelled` wanted that.
Result<ProcessOutcome> run_process(const ProcessRequest& request);

}  // namespace unwrite
