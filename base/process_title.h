// What ps(1) and pkill(1) call this process.
#pragma once

#include <string>

namespace unwrite::sys {

/// Replaces the words of the command line, as far as there is room, and the short name (15 bytes).
/// For a process of one thread. Nothing where the kernel does not say where the words are.
void set_process_title(const std::string& title);

}  // namespace unwrite::sys
