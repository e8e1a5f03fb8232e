// The daemon's log: one line a message, to stderr or the file that was set. Thread-safe, never
// fails.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace unwrite::log {

enum class Level { kError, kWarning, kInfo, kDebug };

/// Messages above this level are dropped. UNWRITE_LOG (error|warning|info|debug) sets the first
/// value.
void set_level(Level level);
/// From now on lines are appended to this descriptor (owned by the log); stderr before.
void set_output(UniqueFd fd);
void write(Level level, std::string_view message);
inline void error(std::string_view m) {
    write(Level::kError, m);
}
inline void warning(std::string_view m) {
    write(Level::kWarning, m);
}
inline void info(std::string_view m) {
    write(Level::kInfo, m);
}
inline void debug(std::string_view m) {
    write(Level::kDebug, m);
}

}  // namespace unwrite::log
