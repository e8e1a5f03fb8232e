// How much of a long random or exhaustive test is run. A sanitizer looks for kinds of mistake, not
// for states: a third of the runs, or of the points to be killed at, makes them all, and takes many
// times as long. Without one (of GCC's) everything is run, and with UNWRITE_LONG=1 in any build.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace unwrite::tests {

enum class Sanitizer { kNone, kAddress, kThread };

#if defined(__SANITIZE_ADDRESS__)
inline constexpr Sanitizer kSanitizer = Sanitizer::kAddress;
#elif defined(__SANITIZE_THREAD__)
inline constexpr Sanitizer kSanitizer = Sanitizer::kThread;
#else
inline constexpr Sanitizer kSanitizer = Sanitizer::kNone;
#endif

/// The long form of a test is asked for.
inline bool is_long() {
    return std::getenv("UNWRITE_LONG") != nullptr;
}

/// Whether the `number`th of many like it is run in this build; each sanitizer has others.
inline bool is_taken(std::size_t number) {
    if (kSanitizer == Sanitizer::kNone || is_long()) return true;
    return number % 3 == (kSanitizer == Sanitizer::kAddress ? 1 : 2);
}

}  // namespace unwrite::tests
