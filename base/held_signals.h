// HeldSignals: while it lives, SIGINT, SIGTERM and SIGHUP to this thread wait; what came meanwhile
// takes effect at its end. For work that must not be left half-done by a Ctrl-C. A process with
// other threads holds them there, too, or they end it. May be nested.
#pragma once

#include <csignal>

namespace unwrite {

class HeldSignals {
 public:
    HeldSignals() {
        sigset_t held;
        sigemptyset(&held);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP})
            sigaddset(&held, signal);
        pthread_sigmask(SIG_BLOCK, &held, &before_);
    }
    ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;

 private:
    sigset_t before_ = {};
};

}  // namespace unwrite
