// The wall clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace unwrite {

/// Nanoseconds since 1970-01-01 UTC; it may be set back, so it only says when something was.
inline std::int64_t wall_clock_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

}  // namespace unwrite
