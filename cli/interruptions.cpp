#include "cli/interruptions.h"

namespace unwrite::cli {

namespace {

volatile std::sig_atomic_t g_interruptions = 0;

}  // namespace

Interruptions::Interruptions() {
    g_interruptions = 0;
    struct sigaction note = {};
    note.sa_handler = [](int) { g_interruptions = g_interruptions + 1; };
    for (std::size_t i = 0; i < kSignals.size(); ++i)
        ::sigaction(kSignals[i], &note, &before_[i]);
}

Interruptions::~Interruptions() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
        ::sigaction(kSignals[i], &before_[i], nullptr);
}

int Interruptions::count() {
    return g_interruptions;
}

}  // namespace unwrite::cli
