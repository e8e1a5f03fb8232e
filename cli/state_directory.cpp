#include "cli/state_directory.h"

#include <cstdlib>

namespace unwrite::cli {

std::string user_state_directory(const std::string& home) {
    const char* state = std::getenv("XDG_STATE_HOME");
    if (state != nullptr && state[0] == '/') return std::string(state) + "/unwrite";
    return home.starts_with('/') ? home + "/.local/state/unwrite" : std::string();
}

std::string user_state_directory() {
    const char* home = std::getenv("HOME");
    return user_state_directory(home != nullptr ? home : "");
}

}  // namespace unwrite::cli
