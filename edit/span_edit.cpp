#include "edit/span_edit.h"

#include "edit/search.h"
#include "edit/similar_lines.h"

namespace unwrite::edit {

namespace {

constexpr const char* kStaleHash = "file_hash is not the hash of the file's current content";
constexpr const char* kBadHash =
    "Bad args: file_hash must be \"sha256:\" and 64 hexadecimal digits";
constexpr std::string_view kMark = "\xef\xbb\xbf";
constexpr const char* kJoined = "The replacement would join two line endings into one";

// Bytes of the view, `end` not included.
struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;
};

// The file as it is, with what every answer says about it.
struct Target {
    std::string_view bytes;
    CanonicalView view;
    SpanEdit edit;

    Target(EditAction action, std::string_view content, const std::optional<std::string>& region)
        : bytes(content), view(content) {
        edit.response.action = action;
        edit.response.hash_before = digest_of(content);
        edit.response.hash_after = edit.response.hash_before;
        edit.response.newline = dominant(view.newlines());
        edit.response.region_id = region;
    }

    SpanEdit ended(EditStatus status, std::string message) {
        edit.response.status = status;
        edit.response.message = std::move(message);
        return std::move(edit);
    }
};

// Where a snippet begins: all are counted, the first few are kept.
struct Matches {
    std::vector<std::size_t> at{};
    std::size_t count = 0;
};

Matches find_snippet(std::string_view text, Span within, std::string_view snippet) {
    Matches matches;
    find_all(text, within.begin, within.end, snippet, [&](std::size_t at) {
        if (matches.count++ < kMaxCandidates) matches.at.push_back(at);
    });
    return matches;
}

std::vector<std::uint64_t> lines_between(std::uint64_t first, std::uint64_t last) {
    std::vector<std::uint64_t> lines;
    for (std::uint64_t line = first; line <= last; ++line)
        lines.push_back(line);
    return lines;
}

// Nothing when the file is the one that the asker means.
std::optional<SpanEdit> stale(Target& target, const std::optional<std::string>& file_hash) {
    if (!file_hash) return std::nullopt;
    const auto expected = digest_from(*file_hash);
    if (!expected) return target.ended(EditStatus::kError, kBadHash);
    if (expected == target.edit.response.hash_before) return std::nullopt;
    return target.ended(EditStatus::kStaleFile, kStaleHash);
}

std::string lines_text(const LineRange& lines) {
    if (lines.start == lines.end) return "line " + std::to_string(lines.start);
    return "lines " + std::to_string(lines.start) + "-" + std::to_string(lines.end);
}

// A CR before the span and an LF after it (or the like) would become one ending when they meet:
// the text would lose a line that nobody asked to remove.
bool joins_endings(std::string_view before, std::string_view middle, std::string_view after) {
    const auto meet = [](std::string_view left, std::string_view right) {
        return !left.empty() && !right.empty() && left.back() == '\r' && right.front() == '\n';
    };
    if (middle.empty()) return meet(before, after);
    return meet(before, middle) || meet(middle, after);
}

// `replacement` has LF only. `lines` are the numbers that the answer names.
SpanEdit replace(Target& target, Span span, const LineRange& lines, std::string_view replacement,
                 const LineCheck& may_edit) {
    if (may_edit) {
        if (auto allowed = may_edit(lines_between(lines.start, lines.end)); !allowed)
            return target.ended(EditStatus::kStaleFile, allowed.error().message());
    }
    EditResponse& response = target.edit.response;
    const std::string written = with_newlines(replacement, *response.newline);
    const std::size_t begin = target.view.original_offset(span.begin);
    const std::size_t end = target.view.original_offset(span.end);
    const std::string_view before = target.bytes.substr(0, begin);
    const std::string_view after = target.bytes.substr(end);
    if (joins_endings(before, written, after)) {
        response.next = "Replace the whole lines around it as well, with their endings.";
        return target.ended(EditStatus::kError, kJoined);
    }
    target.edit.bytes.reserve(before.size() + written.size() + after.size());
    target.edit.bytes.append(before).append(written).append(after);
    response.hash_after = digest_of(target.edit.bytes);
    response.bytes_written = written.size();
    response.lines = lines;
    response.replaced = ByteRange{begin, end};
    const bool same = target.edit.bytes == target.bytes;
    return target.ended(EditStatus::kOk,
                        same ? std::string(kNoChanges) : "Replaced " + lines_text(lines) + ".");
}

LineRange lines_of(const CanonicalView& view, Span span) {
    return {view.line_of(span.begin),
            view.line_of(span.end > span.begin ? span.end - 1 : span.end)};
}

// The bytes of the hinted lines; all when there is no hint.
Span hinted(const CanonicalView& view, const std::optional<LineRange>& hint) {
    if (!hint) return {0, view.text().size()};
    if (hint->start > view.line_count()) return {0, 0};
    const std::uint64_t last = std::min<std::uint64_t>(hint->end, view.line_count());
    return {view.line_begin(hint->start), view.line_end(last)};
}

// Lines that hold one of the matches alone; nothing when none of the first ones is alone.
std::optional<LineRange> hint_for(const CanonicalView& view, const Matches& matches,
                                  std::string_view wanted) {
    for (const std::size_t at : matches.at) {
        const LineRange lines = lines_of(view, {at, at + wanted.size()});
        if (find_snippet(view.text(), hinted(view, lines), wanted).count == 1) return lines;
    }
    return std::nullopt;
}

std::string say_which(const std::optional<LineRange>& lines) {
    const std::string longer = "Make old_snippet longer until it occurs once";
    if (!lines) return longer + ".";
    return longer + ", or say which lines are meant, for example match_hint: {\"start_line\": " +
           std::to_string(lines->start) + ", \"end_line\": " + std::to_string(lines->end) + "}.";
}

SpanEdit not_unique(Target& target, const Matches& matches, std::string_view wanted,
                    const std::string& where) {
    for (const std::size_t at : matches.at)
        target.edit.response.candidates.push_back(
            candidate_at(target.view, target.view.line_of(at), 1.0));
    target.edit.response.next = say_which(hint_for(target.view, matches, wanted));
    return target.ended(
        EditStatus::kError,
        "Match is not unique (" + std::to_string(matches.count) + " matches" + where + ")");
}

SpanEdit beyond(Target& target, const LineRange& lines) {
    const std::string count = std::to_string(target.view.line_count());
    target.edit.response.next = count == "0"
                                    ? "The file is empty. Give start_line 1 and end_line 1."
                                    : "Give lines from 1 to " + count +
                                          ". To add lines at the end, replace line " + count +
                                          " with its own text and the new lines.";
    return target.ended(EditStatus::kError, "Bad args: " + lines_text(lines) +
                                                (lines.start == lines.end ? " is" : " are") +
                                                " not in the file, which has " + count +
                                                (count == "1" ? " line" : " lines"));
}

}  // namespace

SpanEdit apply_snippet(const SnippetRequest& request, std::string_view bytes,
                       const LineCheck& may_edit) {
    Target target(EditAction::kSnippet, bytes, request.region_id);
    if (auto refused = stale(target, request.file_hash)) return *std::move(refused);
    const std::string wanted = with_newlines(request.old_snippet, Newline::kLf);
    const Matches matches =
        find_snippet(target.view.text(), hinted(target.view, request.match_hint), wanted);
    const std::string where = request.match_hint ? " in " + lines_text(*request.match_hint) : "";
    if (matches.count == 0) {
        target.edit.response.candidates = similar_lines(target.view, wanted);
        return target.ended(EditStatus::kNoMatch, "Match not found" + where);
    }
    if (matches.count > 1) return not_unique(target, matches, wanted, where);
    const Span span{matches.at.front(), matches.at.front() + wanted.size()};
    return replace(target, span, lines_of(target.view, span), request.new_snippet, may_edit);
}

SpanEdit apply_lines(const LineRequest& request, std::string_view bytes,
                     const LineCheck& may_edit) {
    Target target(EditAction::kLines, bytes, request.region_id);
    if (auto refused = stale(target, request.file_hash)) return *std::move(refused);
    const std::uint64_t last = std::max<std::uint64_t>(1, target.view.line_count());
    const LineRange lines = request.lines;
    if (lines.start < 1 || lines.end < lines.start || lines.end > last) {
        return beyond(target, lines);
    }
    Span span;
    if (target.view.line_count() > 0)
        span = {target.view.line_begin(lines.start), target.view.line_end(lines.end)};
    const std::string& text = target.view.text();
    std::string content = with_newlines(request.new_content, Newline::kLf);
    // A byte order mark belongs to the file and not to its first line.
    const bool has_mark = lines.start == 1 && text.starts_with(kMark);
    if (has_mark && !content.starts_with(kMark)) span.begin += kMark.size();
    const bool complete = span.end > 0 && text[span.end - 1] == '\n';
    if (!content.empty() && content.back() != '\n' && complete) content += '\n';
    return replace(target, span, lines, content, may_edit);
}

}  // namespace unwrite::edit
