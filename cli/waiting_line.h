// WaitingLine: one line on the terminal that says how far the daemon is, while an answer takes
// long; wiped out when it is there.
#pragma once

#include <string>

#include "control/asking.h"

namespace unwrite::cli {

/// For Remote::be_patient(): draws on stderr, from a second on. Empty where that is no terminal, or
/// one that cannot wipe a line out.
control::Patience waiting_line(const control::MountPoint& mount);

/// "restoring  [#####---------------]  1,234 of 10,000"; how long it has been waited for where it
/// is not known how far it is.
std::string waiting_words(const std::optional<control::Busy>& busy,
                          std::chrono::milliseconds waited);

}  // namespace unwrite::cli
