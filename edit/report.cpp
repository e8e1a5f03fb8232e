#include "edit/report.h"

#include <algorithm>

#include "edit/diff.h"
#include "edit/line_changes.h"
#include "edit/lp1.h"
#include "edit/text_safety.h"

namespace unwrite::edit {

namespace {

// A file that is created or deleted is shown whole up to this many lines.
constexpr std::size_t kShownWhole = 20;
constexpr std::size_t kShownOfMore = 5;

FileChange change_of(const PlannedFile& file) {
    if (!file.existed) return FileChange::kCreated;
    return file.remains ? FileChange::kModified : FileChange::kDeleted;
}

const char* verb_of(const PlannedFile& file) {
    switch (change_of(file)) {
        case FileChange::kCreated:
            return "created: ";
        case FileChange::kDeleted:
            return "deleted: ";
        case FileChange::kModified:
            break;
    }
    return "modified: ";
}

// Lines that end in CR alone, with LF: what compares and counts lines knows no other ending.
std::string with_lines(std::string_view bytes) {
    std::string text(bytes);
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool is_alone = at + 1 == text.size() || text[at + 1] != '\n';
        if (text[at] == '\r' && is_alone) text[at] = '\n';
    }
    return text;
}

struct Sides {
    std::string before;
    std::string after;
};

// An edit that changes such endings and nothing else is shown as it is.
Sides sides_of(const PlannedFile& file) {
    Sides sides{with_lines(file.before), with_lines(file.after)};
    return sides.before == sides.after ? Sides{file.before, file.after} : sides;
}

Result<std::string> diff_of(const PlannedFile& file) {
    const Sides sides = sides_of(file);
    if (change_of(file) == FileChange::kModified) return numbered_diff(sides.before, sides.after);
    const std::string& whole = file.existed ? sides.before : sides.after;
    const auto lines = split_lines(whole);
    if (lines.size() <= kShownWhole) return numbered_diff(sides.before, sides.after);
    const std::size_t length =
        static_cast<std::size_t>(lines[kShownOfMore].data() - lines.front().data());
    const std::string_view shown = std::string_view(whole).substr(0, length);
    TRY_ASSIGN(std::string diff,
               numbered_diff(file.existed ? shown : std::string_view(), file.existed ? "" : shown));
    return diff + "... (" + std::to_string(lines.size()) + " lines)\n";
}

// Where the new lines stand; for lines that only went, where they were.
std::vector<LineRange> new_lines(const PlannedFile& file) {
    std::vector<LineRange> ranges;
    const Sides sides = sides_of(file);
    const auto changes = line_changes(sides.before, sides.after);
    if (!changes) return ranges;
    for (const LineChange& change : *changes) {
        if (ranges.size() == kMaxRanges) break;
        const std::uint64_t first = std::max<std::uint64_t>(change.new_start, 1);
        ranges.push_back({first, first + std::max<std::uint64_t>(change.new_count, 1) - 1});
    }
    return ranges;
}

// At most kMaxSummary bytes, ended between two characters.
std::string shortened(std::string text) {
    if (text.size() <= kMaxSummary) return text;
    std::size_t end = kMaxSummary;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
        --end;
    text.resize(end);
    return text;
}

// Endings are not shown in the diff.
std::string said_of_end(const PlannedFile& file) {
    const auto is_ended = [](const std::string& text) {
        return text.ends_with('\n') || text.ends_with('\r');
    };
    const bool has_text = !file.before.empty() && !file.after.empty();
    if (!has_text || is_ended(file.before) == is_ended(file.after)) return "";
    return "The last line of \"" + displayed(file.path) +
           (is_ended(file.after) ? "\" has a newline now." : "\" has no newline any more.");
}

}  // namespace

Result<std::string> edit_report(const EditPlan& plan) {
    if (plan.files.empty()) return std::string(kNoChanges);
    std::string names;
    std::string diffs;
    for (const PlannedFile& file : plan.files) {
        names += verb_of(file) + displayed(file.path) + '\n';
        TRY_ASSIGN(const std::string diff, diff_of(file));
        const bool labelled = plan.files.size() > 1 && !diff.empty();
        diffs += (labelled ? displayed(file.path) + ":\n" : "") + diff;
    }
    if (plan.files.size() == 1 && !diffs.empty()) return diffs;
    return names + (diffs.empty() ? "" : "\n" + diffs);
}

void tell(EditResponse& response, const EditPlan& plan) {
    std::string names;
    for (const PlannedFile& file : plan.files) {
        EditedFile& told = response.files.emplace_back();
        told.path = file.path;
        told.change = change_of(file);
        names += (names.empty() ? "" : "\n") + (verb_of(file) + displayed(file.path));
        if (!file.remains) continue;
        told.hash = file.hash_after;
        told.newline = dominant(count_newlines(file.after));
        told.lines = new_lines(file);
        if (std::string end = said_of_end(file); !end.empty())
            response.remarks.push_back(std::move(end));
    }
    for (const std::string& remark : response.remarks)
        response.next += remark + " ";
    if (!response.next.empty()) response.next += "Undo takes this edit back.";
    if (response.action != EditAction::kPatch) return;
    response.message = names.empty() ? std::string(kNoChanges) : names;
    if (response.files.size() != 1) return;
    const PlannedFile& file = plan.files.front();
    response.path = file.path;
    if (file.existed) response.hash_before = file.hash_before;
    response.hash_after = response.files.front().hash;
    response.newline = response.files.front().newline;
}

std::string approval_summary(std::string_view patch) {
    const auto sections = parse_lp1(patch);
    std::vector<std::string> paths;
    if (sections) {
        for (const Lp1Section& section : *sections) {
            std::string path = displayed(section.path);
            if (std::find(paths.begin(), paths.end(), path) == paths.end())
                paths.push_back(std::move(path));
        }
    }
    if (paths.empty()) return "Apply patch (no files)";
    std::string text = "Apply patch to " + std::to_string(paths.size()) + " file(s): ";
    for (std::size_t i = 0; i < paths.size(); ++i)
        text += (i > 0 ? ", " : "") + paths[i];
    return shortened(std::move(text));
}

}  // namespace unwrite::edit
