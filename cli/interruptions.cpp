#include "cli/interruptions.h"

namespace unwrite::cli {

namespace {

volatile std::sig_atomic_t g_interrupted = 0;

}  // namespace

Interruptions::Interruptions() {
    g_interrupted = 0;
    struct sigaction note = {};
    note.sa_handler = [](int) { g_interrupted = 1; };
    for (std::size_t i = 0; i < kSignals.size(); ++i)
        ::sigaction(kSignals[i], &note, &before_[i]);
}

Interruptions::~Interruptions() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
        ::sigaction(kSignals[i], &before_[i], nullptr);
}

bool Interruptions::happened() {
    return g_interrupted != 0;
}

}  // namespace unwrite::cli
