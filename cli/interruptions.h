// Interruptions: what would end this process waits while it does something that is not to be left
// half-done.
#pragma once

#include <array>
#include <csignal>

namespace unwrite::cli {

/// While it lives, SIGINT, SIGTERM and SIGHUP are only noted. Not to be nested; for the main
/// thread.
class Interruptions {
 public:
    Interruptions();
    ~Interruptions();
    Interruptions(const Interruptions&) = delete;
    Interruptions& operator=(const Interruptions&) = delete;

    /// Whether one came since the newest was made.
    static bool happened() { return count() != 0; }
    /// How many came since the newest was made.
    static int count();

 private:
    static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
    std::array<struct sigaction, kSignals.size()> before_ = {};
};

}  // namespace unwrite::cli
