// AttendedPrograms: programs that run while a person waits. An interruption ends them, and what
// takes longer than a second is named.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "git/programs.h"

namespace unwrite::git {

/// Whoever waits for the programs. Both may be empty.
struct Attendant {
    /// How many interruptions (Ctrl-C, SIGTERM) have come so far.
    std::function<int()> interruptions;
    /// Called once for each program that takes longer than a second: "git push to origin".
    std::function<void(const std::string& what)> waiting;
};

/// After an interruption no program is started any more and the one that runs is ended; both fail
/// with ECANCELED. During a Cleanup only a further interruption does that.
class AttendedPrograms : public Programs {
 public:
    AttendedPrograms(Programs& programs, Attendant attendant)
        : programs_(programs), attendant_(std::move(attendant)) {}

    Result<ProcessOutcome> run(const ProcessRequest& request) override;
    void begin_cleanup() override;
    void end_cleanup() override;

    bool interrupted() const { return count() > allowed_; }

 private:
    int count() const { return attendant_.interruptions ? attendant_.interruptions() : 0; }

    Programs& programs_;
    Attendant attendant_;
    int cleanups_ = 0;
    int allowed_ = 0;  ///< interruptions that the current cleanup knows of
};

/// A command line as a person names it, without options: "git push to origin", "gh pr close 3".
std::string spoken(const std::vector<std::string>& arguments);

}  // namespace unwrite::git
