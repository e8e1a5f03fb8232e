#include "cli/screen/curses_display.h"

#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/syscalls.h"

namespace unwrite::cli::screen {

namespace {

/// How long an escape may be the beginning of a key, in milliseconds.
constexpr int kEscapeDelay = 25;

struct Look {
    Style style;
    short foreground;   ///< -1: the terminal's own
    attr_t attributes;  ///< beside the colour
    attr_t without;     ///< where there are no colours
};
constexpr std::array kLooks = {
    Look{Style::kPlain, -1, WA_NORMAL, WA_NORMAL},
    Look{Style::kDim, -1, WA_DIM, WA_DIM},
    Look{Style::kHeading, COLOR_CYAN, WA_NORMAL, WA_BOLD},
    Look{Style::kAdded, COLOR_GREEN, WA_NORMAL, WA_NORMAL},
    Look{Style::kRemoved, COLOR_RED, WA_NORMAL, WA_NORMAL},
    Look{Style::kAddedWord, COLOR_GREEN, WA_REVERSE, WA_UNDERLINE},
    Look{Style::kRemovedWord, COLOR_RED, WA_REVERSE, WA_UNDERLINE},
    Look{Style::kOdd, COLOR_MAGENTA, WA_NORMAL, WA_REVERSE},
    Look{Style::kSelected, -1, WA_REVERSE, WA_REVERSE},
    Look{Style::kBar, -1, WA_REVERSE, WA_REVERSE},
};

Key::Kind kind_of(wint_t code) {
    switch (code) {
        case KEY_UP:
            return Key::Kind::kUp;
        case KEY_DOWN:
            return Key::Kind::kDown;
        case KEY_LEFT:
            return Key::Kind::kLeft;
        case KEY_RIGHT:
            return Key::Kind::kRight;
        case KEY_PPAGE:
            return Key::Kind::kPageUp;
        case KEY_NPAGE:
            return Key::Kind::kPageDown;
        case KEY_HOME:
            return Key::Kind::kHome;
        case KEY_END:
            return Key::Kind::kEnd;
        case KEY_ENTER:
            return Key::Kind::kEnter;
        case KEY_BACKSPACE:
            return Key::Kind::kBackspace;
        case KEY_RESIZE:
            return Key::Kind::kResize;
        default:
            return Key::Kind::kOther;
    }
}

Key key_of(wint_t c) {
    switch (c) {
        case '\r':
        case '\n':
            return {Key::Kind::kEnter};
        case '\t':
            return {Key::Kind::kTab};
        case 0x1B:
            return {Key::Kind::kEscape};
        case 0x7F:
        case '\b':
            return {Key::Kind::kBackspace};
        case 'C' - '@':
            return {Key::Kind::kInterrupt};
        case 'Z' - '@':
            return {Key::Kind::kSuspend};
        case 'L' - '@':
            return {Key::Kind::kRedraw};
        default:
            return c < 0x20 ? Key{} : Key{Key::Kind::kCharacter, static_cast<char32_t>(c)};
    }
}

class Curses : public Display {
 public:
    explicit Curses(SCREEN* screen, bool colour) : screen_(screen) {
        ::set_escdelay(kEscapeDelay);
        ::raw();
        ::noecho();
        ::nonl();
        ::keypad(::stdscr, TRUE);
        ::curs_set(0);
        colour_ = colour && ::has_colors() && ::start_color() == OK && ::use_default_colors() == OK;
        for (const Look& look : kLooks) {
            if (colour_) ::init_pair(pair_of(look), look.foreground, -1);
        }
    }
    ~Curses() override {
        ::endwin();
        ::delscreen(screen_);
    }
    Curses(const Curses&) = delete;
    Curses& operator=(const Curses&) = delete;

    Size size() const override {
        return {static_cast<std::size_t>(std::max(0, ::getmaxy(::stdscr))),
                static_cast<std::size_t>(std::max(0, ::getmaxx(::stdscr)))};
    }

    void draw(const Frame& frame) override {
        ::werase(::stdscr);
        int row = 0;
        for (const Line& line : frame.lines) {
            ::wmove(::stdscr, row++, 0);
            for (const Span& span : line) {
                wear(span.style);
                ::waddnstr(::stdscr, span.text.data(), static_cast<int>(span.text.size()));
            }
        }
        ::wrefresh(::stdscr);
    }

    Key next_key() override {
        for (;;) {
            wint_t c = 0;
            const int got = ::wget_wch(::stdscr, &c);
            if (got == KEY_CODE_YES) return {kind_of(c)};
            if (got == OK) return key_of(c);
            if (sys::last_error().number() != EINTR) return {Key::Kind::kClosed};
        }
    }

    Result<> away(const std::function<Result<>()>& meanwhile) override {
        ::endwin();
        const Result<> done = meanwhile();
        redraw();
        return done;
    }

    void redraw() override {
        ::clearok(::stdscr, TRUE);
        ::wrefresh(::stdscr);
    }

 private:
    static short pair_of(const Look& look) {
        return static_cast<short>(static_cast<int>(look.style) + 1);
    }

    void wear(Style style) {
        const Look& look = kLooks.at(static_cast<std::size_t>(style));
        ::wattr_set(::stdscr, colour_ ? look.attributes : look.without,
                    static_cast<short>(colour_ ? pair_of(look) : 0), nullptr);
    }

    SCREEN* screen_;
    bool colour_ = false;
};

}  // namespace

std::unique_ptr<Display> open_curses(bool colour) {
    const char* terminal = std::getenv("TERM");
    if (terminal == nullptr || std::string_view(terminal) == "dumb" || *terminal == '\0')
        return nullptr;
    std::setlocale(LC_CTYPE, "");  // what the terminal shows, and how wide
    SCREEN* screen = ::newterm(nullptr, stderr, stdin);
    if (screen == nullptr) return nullptr;
    return std::make_unique<Curses>(screen, colour);
}

}  // namespace unwrite::cli::screen
