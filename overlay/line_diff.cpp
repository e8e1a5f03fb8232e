#include "overlay/line_diff.h"

#include <git2.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace unwrite::overlay {

namespace {

constexpr std::size_t kBinaryLooksAt = 8000;

struct FreePatch {
    void operator()(git_patch* patch) const { git_patch_free(patch); }
};
using PatchPtr = std::unique_ptr<git_patch, FreePatch>;

Error git_error_as(const char* verb) {
    const git_error* error = git_error_last();
    return Error(ErrorKind::kSystem, EIO,
                 std::string(verb) + ": " +
                     (error != nullptr && error->message != nullptr ? error->message : "unknown"));
}

// Initialised once and for the life of the process; libgit2 keeps only tables and thread-local
// errors.
bool git_is_ready() {
    static const bool ready = git_libgit2_init() > 0;
    return ready;
}

Result<PatchPtr> make_patch(const std::string& older, const std::string& newer) {
    if (!git_is_ready()) return git_error_as("start libgit2");
    git_diff_options options;
    if (git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION) != 0)
        return git_error_as("compare lines");
    options.flags = GIT_DIFF_FORCE_TEXT | GIT_DIFF_INDENT_HEURISTIC;
    options.context_lines = 3;
    git_patch* patch = nullptr;
    if (git_patch_from_buffers(&patch, older.data(), older.size(), nullptr, newer.data(),
                               newer.size(), nullptr, &options) != 0) {
        return git_error_as("compare lines");
    }
    return PatchPtr(patch);
}

// The headers are our own: libgit2 would name its own idea of paths and modes.
int append_line(const git_diff_delta* /*delta*/, const git_diff_hunk* /*hunk*/,
                const git_diff_line* line, void* payload) {
    if (line->origin == GIT_DIFF_LINE_FILE_HDR) return 0;
    auto& text = *static_cast<std::string*>(payload);
    if (line->origin == GIT_DIFF_LINE_CONTEXT || line->origin == GIT_DIFF_LINE_ADDITION ||
        line->origin == GIT_DIFF_LINE_DELETION) {
        text += line->origin;
    }
    text.append(line->content, line->content_len);
    return 0;
}

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
    TRY_ASSIGN(const PatchPtr patch, make_patch(older, newer));
    Hunks hunks;
    std::size_t added = 0;
    std::size_t removed = 0;
    if (git_patch_line_stats(nullptr, &added, &removed, patch.get()) != 0)
        return git_error_as("count lines");
    hunks.lines = {added, removed};
    if (with_text && git_patch_print(patch.get(), append_line, &hunks.text) != 0)
        return git_error_as("print a diff");
    return hunks;
}

}  // namespace

bool is_binary(std::string_view bytes) {
    return bytes.substr(0, kBinaryLooksAt).find('\0') != std::string_view::npos;
}

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
