#include "overlay/line_diff.h"

#include <algorithm>

#include "edit/diff.h"

namespace unwrite::overlay {

using edit::is_binary;

namespace {

bool differs_as_binary(const DiffSide& older, const DiffSide& newer) {
    return (older.as.mode != 0 && (!older.bytes || is_binary(*older.bytes))) ||
           (newer.as.mode != 0 && (!newer.bytes || is_binary(*newer.bytes)));
}

// How much of the longer side the other one kept, in lines.
unsigned similarity_of(const LineCounts& lines, std::uint64_t older_lines,
                       std::uint64_t newer_lines) {
    const std::uint64_t most = std::max(older_lines, newer_lines);
    if (most == 0) return 100;
    const std::uint64_t kept = older_lines - std::min(older_lines, lines.removed);
    return static_cast<unsigned>(std::min<std::uint64_t>(99, kept * 100 / most));
}

struct Hunks {
    std::string text{};
    LineCounts lines{};
};

Result<Hunks> find_hunks(const std::string& older, const std::string& newer, bool with_text) {
    TRY_ASSIGN(const auto found, edit::hunks_between(older, newer, with_text));
    Hunks hunks;
    for (const edit::DiffHunk& hunk : found) {
        hunks.lines.added += hunk.added;
        hunks.lines.removed += hunk.removed;
        hunks.text += hunk.text;
    }
    return hunks;
}

}  // namespace

std::uint64_t count_lines(std::string_view bytes) {
    const auto ends = static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\n'));
    return ends + (!bytes.empty() && bytes.back() != '\n' ? 1 : 0);
}

Result<LineDiff> line_diff(const DiffSide& older, const DiffSide& newer, bool same,
                           bool with_text) {
    LineDiff diff;
    if (older.as.mode == 0 && newer.as.mode == 0) return diff;
    const bool one_side = older.as.mode == 0 || newer.as.mode == 0;
    const bool only_names = same && !one_side;
    const bool git_sees =
        one_side || older.as.mode != newer.as.mode || older.as.path != newer.as.path;
    if (only_names) {
        if (git_sees) diff.text = patch_header(older.as, newer.as, 100);
        return diff;
    }
    if (differs_as_binary(older, newer)) {
        diff.binary = true;
        diff.text = patch_header(older.as, newer.as, 50) + binary_line(older.as, newer.as);
        return diff;
    }
    const std::string none;
    const std::string& was = older.as.mode != 0 ? *older.bytes : none;
    const std::string& is = newer.as.mode != 0 ? *newer.bytes : none;
    if (one_side && !with_text) {
        diff.lines = {count_lines(is), count_lines(was)};
        return diff;
    }
    TRY_ASSIGN(Hunks hunks, find_hunks(was, is, with_text));
    diff.lines = hunks.lines;
    if (!with_text) return diff;
    if (!git_sees && hunks.text.empty()) return diff;
    diff.text = patch_header(older.as, newer.as,
                             similarity_of(diff.lines, count_lines(was), count_lines(is)));
    if (!hunks.text.empty()) diff.text += hunk_header(older.as, newer.as) + hunks.text;
    return diff;
}

}  // namespace unwrite::overlay
