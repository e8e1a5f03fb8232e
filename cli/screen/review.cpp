#include "cli/screen/review.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "cli/characters.h"
#include "cli/screen/words.h"
#include "cli/text.h"

namespace unwrite::cli::screen {

using Kind = Key::Kind;

namespace {

constexpr std::size_t kLeastColumns = 24;
constexpr std::size_t kLeastRows = 8;
constexpr std::size_t kWide = 100;  ///< columns; from here on the list has a place beside the diff
constexpr std::size_t kSidestep = 8;

std::size_t moved(std::size_t from, std::ptrdiff_t by, std::size_t length) {
    const auto to = static_cast<std::ptrdiff_t>(from) + by;
    const auto last = static_cast<std::ptrdiff_t>(length == 0 ? 0 : length - 1);
    return static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(to, 0, last));
}

/// How far a key goes: a line, or what is seen but for one line of it.
std::ptrdiff_t lines_by(const Key& key) {
    if (key.kind == Kind::kDown || key.character == 'j') return 1;
    return key.kind == Kind::kUp || key.character == 'k' ? -1 : 0;
}
std::ptrdiff_t pages_by(const Key& key, std::size_t rows) {
    const auto page = std::max<std::ptrdiff_t>(1, static_cast<std::ptrdiff_t>(rows) - 1);
    if (key.kind == Kind::kPageDown || key.character == ' ') return page;
    return key.kind == Kind::kPageUp || key.character == 'b' ? -page : 0;
}

/// So that `place` is in sight of a window of so many rows that begins at `top`.
std::size_t top_for(std::size_t place, std::size_t top, std::size_t rows) {
    if (place < top) return place;
    return place >= top + rows ? place + 1 - rows : top;
}

void append_utf8(std::string& text, char32_t c) {
    const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
    if (c < 0x80) {
        put(c);
    } else if (c < 0x800) {
        put(0xC0 | c >> 6);
        put(0x80 | (c & 0x3F));
    } else {
        if (c < 0x10000) {
            put(0xE0 | c >> 12);
        } else {
            put(0xF0 | c >> 18);
            put(0x80 | (c >> 12 & 0x3F));
        }
        put(0x80 | (c >> 6 & 0x3F));
        put(0x80 | (c & 0x3F));
    }
}

void drop_last_character(std::string& text) {
    while (!text.empty()) {
        const auto last = static_cast<unsigned char>(text.back());
        text.pop_back();
        if ((last & 0xC0U) != 0x80) return;
    }
}

}  // namespace

Layout layout_of(Size size) {
    Layout layout;
    layout.too_small = size.columns < kLeastColumns || size.rows < kLeastRows;
    if (layout.too_small) return layout;
    const std::size_t body = size.rows - 2;  // without the bars above and below
    layout.beside = size.columns >= kWide;
    if (layout.beside) {
        const std::size_t list = std::clamp<std::size_t>(size.columns / 3, 34, 60);
        layout.list = {body, list};
        layout.diff = {body, size.columns - list - 1};
    } else {
        const std::size_t list = std::max<std::size_t>(2, (body - 1) / 3);
        layout.list = {list, size.columns};
        layout.diff = {body - 1 - list, size.columns};
    }
    return layout;
}

Review::Review(Source& source, std::vector<Item> items, Size size)
    : source_(source), model_(std::move(items)), size_(size) {
    look();
}

bool Review::is_side_by_side() const {
    return sight_.side_by_side.value_or(layout_of(size_).diff.columns >= kSideBySide);
}

std::size_t Review::diff_length() const {
    if (!page_) return 0;
    return is_side_by_side() ? page_->pairs().size() : page_->rows().size();
}

void Review::resize(Size size) {
    const bool before = is_side_by_side();
    size_ = size;
    if (before != is_side_by_side() && page_)
        sight_.top_of_diff = page_->begin_of_hunk(sight_.hunk, is_side_by_side());
    settle();
}

// Everything that is to be in sight is, and nothing beyond the end.
void Review::settle() {
    const Layout layout = layout_of(size_);
    const std::size_t rows = std::max<std::size_t>(1, layout.list.rows);
    sight_.top_of_list = top_for(model_.cursor(), sight_.top_of_list, rows);
    const std::size_t length = diff_length();
    const std::size_t beyond = length - std::min(length, layout.diff.rows);
    sight_.top_of_diff = std::min(sight_.top_of_diff, beyond);
}

void Review::look() {
    const Item* item = model_.current();
    if (item == nullptr) {
        page_.reset();
        looked_at_.clear();
    } else if (!page_ || looked_at_ != item->change.path) {
        looked_at_ = item->change.path;
        sight_.top_of_diff = sight_.left = sight_.hunk = 0;
        sight_.found = kNone;
        auto looked = source_.look(item->change);
        if (looked) {
            model_.set_parts(looked->parts, looked->seen);
            page_ = std::make_unique<DiffPage>(std::move(looked->text));
        } else {
            page_ = std::make_unique<DiffPage>("This cannot be shown: " + looked.error().message());
        }
    }
    if (item == nullptr) sight_.on_diff = false;
    settle();
}

void Review::read_again() {
    if (const Item* item = model_.current()) {
        const std::string path = item->change.path;
        source_.forget(path);
        model_.reopen(path);
    }
    page_.reset();
    look();
}

void Review::show_page(const std::string& text, Mode mode) {
    const std::vector<std::string_view> lines = lines_of(text);
    sight_.page.assign(lines.begin(), lines.end());
    sight_.top_of_page = 0;
    sight_.mode = mode;
}

void Review::tell(const std::string& text) {
    if (text.find('\n') == std::string::npos) {
        sight_.message = text;
    } else {
        show_page(text, Mode::kPage);
    }
}

void Review::note_failure(const Error& error) {
    std::string text = "Nothing was done: " + error.message() + "\n";
    if (!error.advice().empty()) text += "hint: " + error.advice() + "\n";
    const std::vector<std::string> changed = source_.take_changed();
    for (const std::string& path : changed)
        model_.reopen(path);
    if (std::find(changed.begin(), changed.end(), looked_at_) != changed.end()) page_.reset();
    look();
    show_page(text, Mode::kPage);
}

Next Review::press(const Key& key) {
    if (key.kind == Kind::kRedraw) return Next::kRedraw;
    if (key.kind == Kind::kSuspend) return Next::kSuspend;
    if (key.kind == Kind::kClosed) return Next::kLeave;
    if (key.kind == Kind::kInterrupt) return press_interrupt();
    if (key.kind == Kind::kResize) return Next::kGoOn;
    sight_.message.clear();
    Next next = Next::kGoOn;
    switch (sight_.mode) {
        case Mode::kBrowse:
            next = browse(key);
            break;
        case Mode::kSearch:
        case Mode::kFilter:
            press_input(key);
            break;
        case Mode::kPage:
            press_page(key);
            break;
        case Mode::kRest:
            next = press_rest(key);
            break;
        case Mode::kConfirm:
            next = press_confirm(key);
            break;
        case Mode::kLeaving:
            next = press_leaving(key);
            break;
    }
    settle();
    return next;
}

Next Review::browse(const Key& key) {
    if (key.kind == Kind::kCharacter) return browse_character(key.character);
    if (key.kind == Kind::kTab) {
        sight_.on_diff = !sight_.on_diff && page_ != nullptr;
    } else if (key.kind == Kind::kEscape) {
        sight_.on_diff = false;
    } else if (key.kind == Kind::kEnter) {
        enter();
    } else if (!scroll(key)) {
        move(key);
    }
    return Next::kGoOn;
}

bool Review::scroll(const Key& key) {
    std::ptrdiff_t by = pages_by(key, layout_of(size_).diff.rows);
    if (by == 0 && sight_.on_diff) by = lines_by(key);
    if (by == 0) return false;
    sight_.top_of_diff = moved(sight_.top_of_diff, by, diff_length());
    return true;
}

void Review::move(const Key& key) {
    if (key.kind == Kind::kRight) {
        if (sight_.on_diff) sight_.left += kSidestep;
        sight_.on_diff = page_ != nullptr;
        return;
    }
    if (key.kind == Kind::kLeft) {
        if (sight_.left == 0) sight_.on_diff = false;
        sight_.left -= std::min(sight_.left, kSidestep);
        return;
    }
    const bool first = key.kind == Kind::kHome || key.character == 'g';
    const bool last = key.kind == Kind::kEnd || key.character == 'G';
    if (sight_.on_diff && (first || last)) {
        sight_.top_of_diff = first ? 0 : moved(diff_length(), 0, diff_length());
        return;
    }
    if (first) model_.move_to(0);
    if (last) model_.move_to(model_.shown().size());
    if (const std::ptrdiff_t by = lines_by(key); by != 0) model_.move_by(by);
    look();
}

Next Review::browse_character(char32_t c) {
    switch (c) {
        case 'a':
            judge(Verdict::kAccept);
            break;
        case 'r':
            judge(Verdict::kReject);
            break;
        case 'o':
            judge(Verdict::kOpen);
            break;
        case 'A':
            judge_all(Verdict::kAccept);
            break;
        case 'R':
            judge_all(Verdict::kReject);
            break;
        case 'u':
            undo();
            break;
        case ']':
            go_to_hunk(1);
            break;
        case '[':
            go_to_hunk(-1);
            break;
        case 'v':
            sight_.side_by_side = !is_side_by_side();
            sight_.top_of_diff = page_ ? page_->begin_of_hunk(sight_.hunk, is_side_by_side()) : 0;
            break;
        case '/':
            sight_.mode = Mode::kSearch;
            sight_.input.clear();
            break;
        case 'f':
            sight_.mode = Mode::kFilter;
            sight_.input = model_.filter();
            break;
        case 'n':
        case 'N':
            search(c == 'N');
            break;
        case 'e':
            return model_.current() != nullptr ? Next::kEdit : Next::kGoOn;
        case 'p':
            return page_ ? Next::kPager : Next::kGoOn;
        case '?':
            show_page(help_text(), Mode::kPage);
            break;
        case 'q':
            return finish();
        default: {
            const Key key{Kind::kCharacter, c};
            if (!scroll(key)) move(key);
        }
    }
    return Next::kGoOn;
}

// On the list a verdict is on the file, and the next one comes; on the diff it is on the hunk.
void Review::judge(Verdict verdict) {
    const Item* item = model_.current();
    if (item == nullptr) return;
    if (!sight_.on_diff) {
        model_.judge(verdict);
        model_.move_by(1);
        look();
        return;
    }
    if (item->hunks.empty()) {
        model_.judge(verdict);
        sight_.message = "This file has no separate hunks, so your answer is for all of it.";
        return;
    }
    model_.judge_hunk(sight_.hunk, verdict);
    go_to_hunk(1);
}

void Review::judge_all(Verdict verdict) {
    const std::size_t count = model_.shown().size();
    const bool changed = model_.judge_shown(verdict);
    if (changed)
        sight_.message =
            fmt::format("{} {}; u takes that back", counted(count, "change", "changes"),
                        verdict == Verdict::kAccept ? "accepted" : "rejected");
}

void Review::undo() {
    if (!model_.undo()) sight_.message = "There is nothing to take back.";
    look();
}

void Review::go_to_hunk(std::ptrdiff_t steps) {
    if (!page_ || page_->hunk_count() == 0) return;
    sight_.hunk = moved(sight_.hunk, steps, page_->hunk_count());
    sight_.top_of_diff = page_->begin_of_hunk(sight_.hunk, is_side_by_side());
}

void Review::enter() {
    const Item* item = model_.current();
    if (item == nullptr) return;
    if (!S_ISDIR(item->change.type) || item->change.below == 0) {
        sight_.on_diff = true;
        return;
    }
    auto inside = source_.inside(item->change);
    if (!inside) {
        tell(inside.error().message());
        return;
    }
    model_.open_directory(std::move(*inside));
    page_.reset();
    look();
}

void Review::press_input(const Key& key) {
    if (key.kind == Kind::kEscape) {
        sight_.mode = Mode::kBrowse;
    } else if (key.kind == Kind::kBackspace) {
        drop_last_character(sight_.input);
    } else if (key.kind == Kind::kCharacter && sight_.input.size() < 200) {
        append_utf8(sight_.input, key.character);
    } else if (key.kind == Kind::kEnter) {
        const bool filter = sight_.mode == Mode::kFilter;
        sight_.mode = Mode::kBrowse;
        if (!filter) {
            sought_ = sight_.input;
            search(false);
            return;
        }
        model_.set_filter(sight_.input);
        if (model_.shown().empty()) sight_.message = "No change matches this filter.";
        look();
    }
}

// On the list among the names, on the diff among its lines.
void Review::search(bool backwards) {
    if (sought_.empty()) return;
    bool found = false;
    if (sight_.on_diff && page_) {
        const std::size_t from = sight_.found != kNone ? sight_.found : page_->rows().size() - 1;
        const std::size_t row =
            page_->rows().empty() ? kNone : page_->find(sought_, from, backwards);
        found = row != kNone;
        if (found) {
            sight_.found = row;
            sight_.top_of_diff = is_side_by_side() ? page_->pair_of(row) : row;
            if (page_->rows()[row].hunk != kNone) sight_.hunk = page_->rows()[row].hunk;
        }
    } else {
        found = model_.search(sought_, backwards);
        look();
    }
    if (!found)
        sight_.message = std::string(sight_.on_diff ? "No line" : "No name") + " holds " + sought_;
}

void Review::press_page(const Key& key) {
    // Without the bars above and below.
    const std::size_t rows = size_.rows - std::min<std::size_t>(size_.rows, 2);
    const std::ptrdiff_t by = lines_by(key) + pages_by(key, rows);
    sight_.top_of_page = moved(sight_.top_of_page, by, sight_.page.size());
    if (by == 0 && sight_.mode == Mode::kPage) sight_.mode = Mode::kBrowse;
}

Next Review::finish() {
    if (model_.tally().open == 0) return confirm();
    show_page(rest_text(model_), Mode::kRest);
    return Next::kGoOn;
}

Next Review::press_rest(const Key& key) {
    if (key.kind == Kind::kEscape || key.character == 'b') {
        sight_.mode = Mode::kBrowse;
    } else if (key.character == 'x') {
        return Next::kLeave;
    } else if (key.character == 'a' || key.character == 'r') {
        model_.judge_open(key.character == 'a' ? Verdict::kAccept : Verdict::kReject);
        return confirm();
    } else if (key.character == 'k') {
        const Tally tally = model_.tally();
        return tally.accepted + tally.rejected + tally.parts == 0 ? Next::kLeave : confirm();
    }
    return Next::kGoOn;
}

Next Review::confirm() {
    sight_.mode = Mode::kBrowse;
    const auto foreseen = source_.foresee(model_.judged());
    if (!foreseen) {
        note_failure(foreseen.error());
    } else {
        show_page(*foreseen, Mode::kConfirm);
    }
    return Next::kGoOn;
}

Next Review::press_confirm(const Key& key) {
    if (key.character == 'y') {
        sight_.mode = Mode::kBrowse;
        const Result<> done = source_.carry_out(model_.judged());
        done_ = done.ok();
        if (done_) return Next::kLeave;
        note_failure(done.error());
    } else if (key.character == 'n' || key.kind == Kind::kEscape) {
        sight_.mode = Mode::kBrowse;
        sight_.message = "Nothing was done yet.";
    } else {
        press_page(key);
    }
    return Next::kGoOn;
}

// Pressed again, it is meant.
Next Review::press_interrupt() {
    const Tally tally = model_.tally();
    if (tally.accepted + tally.rejected + tally.parts == 0 || sight_.mode == Mode::kLeaving)
        return Next::kLeave;
    show_page(leaving_text(tally), Mode::kLeaving);
    return Next::kGoOn;
}

Next Review::press_leaving(const Key& key) {
    if (key.character == 'y') return Next::kLeave;
    if (key.character == 'n' || key.kind == Kind::kEscape) sight_.mode = Mode::kBrowse;
    return Next::kGoOn;
}

}  // namespace unwrite::cli::screen
