#include <algorithm>
#include <cerrno>

#include "edit/line_changes.h"
#include "edit/search.h"
#include "edit/unified_patch.h"

namespace unwrite::edit {

namespace {

// As in LP1: more than this many lines to look at is no patch that someone wrote.
constexpr std::uint64_t kMaxSteps = 20'000'000;

using Lines = std::vector<std::string_view>;

// The lines of one side of a hunk.
Lines side_of(const Hunk& hunk, char origin) {
    Lines lines;
    for (const HunkLine& line : hunk.lines) {
        if (line.origin == ' ' || line.origin == origin) lines.push_back(line.text);
    }
    return lines;
}

class Application {
 public:
    explicit Application(std::string_view bytes) : lines_(split_lines(bytes)) {}

    Result<> carry_out(const Hunk& hunk);
    Result<std::string> finish();

 private:
    Result<std::size_t> place_of(const Hunk& hunk, const Lines& older);
    bool stands_at(const Lines& older, std::size_t at) const;
    Error failed(const Hunk& hunk, const char* reason) const;
    bool append(const Lines& lines);

    Lines lines_;
    std::size_t next_ = 0;    // the first line that is not yet written
    std::int64_t shift_ = 0;  // how far the last hunk was from where it said
    std::uint64_t number_ = 0;
    std::uint64_t steps_ = 0;
    std::string bytes_;
};

Error Application::failed(const Hunk& hunk, const char* reason) const {
    return {ErrorKind::kConflict, EINVAL,
            "Hunk #" + std::to_string(number_) + " (line " + std::to_string(hunk.old_start) + ") " +
                reason};
}

bool Application::stands_at(const Lines& older, std::size_t at) const {
    if (at < next_ || at > lines_.size() || older.size() > lines_.size() - at) return false;
    return std::equal(older.begin(), older.end(), lines_.begin() + static_cast<std::ptrdiff_t>(at));
}

Result<std::size_t> Application::place_of(const Hunk& hunk, const Lines& older) {
    // Without old lines the number is that of the line before.
    const auto said = static_cast<std::int64_t>(hunk.old_start) - (older.empty() ? 0 : 1) + shift_;
    if (said >= 0 && stands_at(older, static_cast<std::size_t>(said)))
        return static_cast<std::size_t>(said);
    std::size_t count = 0;
    std::size_t place = 0;
    steps_ += lines_.size() + older.size();
    if (steps_ > kMaxSteps) return failed(hunk, "needs too many steps");
    if (!older.empty()) {
        find_all(lines_, next_, lines_.size(), older, [&](std::size_t at) {
            ++count;
            place = at;
        });
    }
    if (count == 0) return failed(hunk, "does not match");
    if (count > 1) return failed(hunk, "matches in more than one place");
    shift_ += static_cast<std::int64_t>(place) - said;
    return place;
}

// False when a line without an ending would get another one behind it.
bool Application::append(const Lines& lines) {
    for (const std::string_view line : lines) {
        if (!bytes_.empty() && bytes_.back() != '\n') return false;
        bytes_ += line;
    }
    return true;
}

Result<> Application::carry_out(const Hunk& hunk) {
    ++number_;
    if (hunk.of_nothing && !lines_.empty()) return failed(hunk, "is for an empty file");
    const Lines older = side_of(hunk, '-');
    TRY_ASSIGN(const std::size_t place, place_of(hunk, older));
    const auto first = lines_.begin() + static_cast<std::ptrdiff_t>(next_);
    const auto last = lines_.begin() + static_cast<std::ptrdiff_t>(place);
    next_ = place + older.size();
    if (!append(Lines(first, last)) || !append(side_of(hunk, '+')))
        return failed(hunk, "puts a line behind one without an ending");
    return {};
}

Result<std::string> Application::finish() {
    const auto first = lines_.begin() + static_cast<std::ptrdiff_t>(next_);
    if (!append(Lines(first, lines_.end()))) {
        return Error(
            ErrorKind::kConflict, EINVAL,
            "Hunk #" + std::to_string(number_) + " puts a line without an ending before others");
    }
    return std::move(bytes_);
}

}  // namespace

Result<std::string> apply_hunks(const std::vector<Hunk>& hunks, std::string_view bytes,
                                std::uint64_t* failed_line) {
    Application application(bytes);
    const bool to_nothing =
        std::any_of(hunks.begin(), hunks.end(), [](const Hunk& hunk) { return hunk.to_nothing; });
    for (const Hunk& hunk : hunks) {
        if (failed_line != nullptr) *failed_line = hunk.patch_line;
        TRY(application.carry_out(hunk));
    }
    auto after = application.finish();
    if (after && to_nothing && !after->empty())
        return Error(ErrorKind::kConflict, EINVAL,
                     "The patch empties the file but leaves lines in it");
    return after;
}

std::vector<Hunk> reversed(std::vector<Hunk> hunks) {
    std::uint64_t grown = 0;  // by the hunks so far, modulo 2^64
    for (Hunk& hunk : hunks) {
        const std::uint64_t older = side_of(hunk, '-').size();
        const std::uint64_t newer = side_of(hunk, '+').size();
        // Without lines the number is that of the line before.
        hunk.old_start += grown + (older == 0 ? 1 : 0) - (newer == 0 ? 1 : 0);
        grown += newer - older;
        std::swap(hunk.of_nothing, hunk.to_nothing);
        for (HunkLine& line : hunk.lines) {
            if (line.origin != ' ') line.origin = line.origin == '-' ? '+' : '-';
        }
    }
    return hunks;
}

}  // namespace unwrite::edit
