// Programs: how this folder runs `git` and `gh`. Tests put another in its place.
#pragma once

#include "base/process.h"

namespace unwrite::git {

class Programs {
 public:
    virtual ~Programs() = default;
    /// As run_process: ENOENT when the program is not installed.
    virtual Result<ProcessOutcome> run(const ProcessRequest& request) = 0;
    /// What runs between these two calls puts something back in order (see Cleanup).
    virtual void begin_cleanup() {}
    virtual void end_cleanup() {}
};

/// While it lives, an interruption that came before does not keep programs from running: what an
/// interrupted command left half-done is being finished or taken back.
class Cleanup {
 public:
    explicit Cleanup(Programs& programs) : programs_(programs) { programs_.begin_cleanup(); }
    ~Cleanup() { programs_.end_cleanup(); }
    Cleanup(const Cleanup&) = delete;
    Cleanup& operator=(const Cleanup&) = delete;

 private:
    Programs& programs_;
};

/// Runs them for real.
class InstalledPrograms : public Programs {
 public:
    Result<ProcessOutcome> run(const ProcessRequest& request) override;
};

/// What both programs are given: no questions, no pager, no editor, no colour, messages in English,
/// and none of the variables by which a hook's git would point at another repository.
void quieten(ProcessRequest& request);

/// The first lines of what a program said when it failed, without trailing newlines: at most a few
/// hundred bytes.
std::string words_of(const ProcessOutcome& outcome);

}  // namespace unwrite::git
