// One line on the terminal that says how far long work is; wiped out when it is done.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "control/asking.h"

namespace unwrite::cli {

/// For Remote::be_patient(): draws on stderr, from a second on. Empty where that is no terminal, or
/// one that cannot wipe a line out.
control::Patience waiting_line(const control::MountPoint& mount);

/// The same for work of this process (base/progress.h), while it lives. Whoever writes to the
/// terminal between two pieces of work finds no line there. One for the process.
class WorkingLine {
 public:
    using Milliseconds = std::chrono::milliseconds;
    explicit WorkingLine(Milliseconds patient = Milliseconds(1000));
    ~WorkingLine();
    WorkingLine(const WorkingLine&) = delete;
    WorkingLine& operator=(const WorkingLine&) = delete;

    void show(bool shown);

 private:
    struct State;
    std::shared_ptr<State> state_;
    std::thread thread_;
};

/// "restoring  [#####---------------]  1,234 of 10,000"; how long it has been waited for where it
/// is not known how far it is.
std::string waiting_words(const std::optional<control::Busy>& busy,
                          std::chrono::milliseconds waited);

}  // namespace unwrite::cli
