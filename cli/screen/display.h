// Display: a screen that shows frames and hands over keys.
#pragma once

#include <functional>

#include "base/result.h"
#include "cli/screen/frame.h"

namespace unwrite::cli::screen {

struct Key {
    enum class Kind {
        kCharacter,
        kUp,
        kDown,
        kLeft,
        kRight,
        kPageUp,
        kPageDown,
        kHome,
        kEnd,
        kEnter,
        kEscape,
        kTab,
        kBackspace,
        kInterrupt,  ///< Ctrl-C
        kSuspend,    ///< Ctrl-Z
        kRedraw,     ///< Ctrl-L
        kResize,
        kClosed,  ///< there will be no more
        kOther,
    };
    Kind kind = Kind::kOther;
    char32_t character = 0;
};

class Display {
 public:
    virtual ~Display() = default;
    virtual Size size() const = 0;
    virtual void draw(const Frame& frame) = 0;
    /// Waits.
    virtual Key next_key() = 0;
    /// Gives the terminal, as it was, to somebody else meanwhile.
    virtual Result<> away(const std::function<Result<>()>& meanwhile) = 0;
    virtual void redraw() = 0;
};

}  // namespace unwrite::cli::screen
