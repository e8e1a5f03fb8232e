// Where unwrite keeps what belongs to a user and to no workspace.
#pragma once

#include <string>

namespace unwrite::cli {

/// `$XDG_STATE_HOME/unwrite`, or `.local/state/unwrite` below `home`. It need not be there. Empty
/// where neither is an absolute path.
std::string user_state_directory(const std::string& home);
/// The same for `$HOME`.
std::string user_state_directory();

}  // namespace unwrite::cli
