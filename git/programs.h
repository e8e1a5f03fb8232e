// Programs: how this folder runs `git` and `gh`. Tests put another in its place.
#pragma once

#include "base/process.h"

namespace unwrite::git {

class Programs {
 public:
    virtual ~Programs() = default;
    /// As run_process: ENOENT when the program is not installed.
    virtual Result<ProcessOutcome> run(const ProcessRequest& request) = 0;
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
