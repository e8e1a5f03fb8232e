#include "git/report.h"

#include <fmt/format.h>

#include <algorithm>

namespace unwrite::git {

namespace {

using Lines = std::vector<std::string>;

std::string visible(const std::string& text) {
    std::string shown;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\n') {
            shown += "\\n";
        } else if (c == '\t') {
            shown += "\\t";
        } else if (byte < 0x20 || byte == 0x7f) {
            shown += fmt::format("\\{:03o}", byte);
        } else {
            shown += c;
        }
    }
    return shown;
}

void section(Lines& lines, const std::string& title, const Lines& items) {
    if (items.empty()) return;
    lines.push_back(title);
    for (const std::string& item : items)
        lines.push_back("- " + item);
    lines.emplace_back();
}

Lines commit_items(const std::vector<AgentCommit>& commits) {
    Lines items;
    for (const AgentCommit& commit : commits)
        items.push_back("`" + short_id(commit.id) + "` " + visible(commit.subject));
    return items;
}

Lines file_items(const std::vector<std::string>& files) {
    Lines items;
    for (const std::string& file : files)
        items.push_back(code_span(file));
    return items;
}

Lines nothing_text(const UndoReport& report) {
    if (report.undone_before && !report.errors.empty())
        return {"## ⚠️ Nothing to undo", "", report.errors[0]};
    return {"## ⚠️ Nothing to undo", "",
            "I haven't made any file changes on this issue yet. My previous responses were "
            "conversation-only (no code edits)."};
}

/// The manual way; after a title, or among the warnings when earlier commits were reverted.
Lines conflict_text(const UndoReport& report) {
    const std::string id = short_id(report.conflicting);
    const std::string file =
        report.in_the_way.empty() ? "path/to/file" : visible(report.in_the_way[0]);
    Lines lines = {
        "The changes from commit `" + id +
            "` have been modified by subsequent commits and can't be automatically reverted.",
        "",
        "**What you can do:**",
        "- Manually revert specific files: " + code_span("git checkout " + id + "^ -- " + file),
        "- View the original changes: `git show " + id + "`",
        "- Ask me to re-apply the changes differently"};
    return lines;
}

Lines merged_text(const UndoReport& report) {
    if (!report.revert_pull_request.empty()) {
        return {"## ⚠️ Revert PR already open", "",
                "The PR with these changes has already been merged. A PR that reverts it is open "
                "already: " +
                    report.revert_pull_request};
    }
    const std::string mainline = report.merged_is_merge ? "-m 1 " : "";
    return {"## ⚠️ Changes already merged",
            "",
            "The PR with these changes has already been merged. To undo them:",
            "1. I can create a new revert PR that undoes the merged changes",
            "2. You can manually revert: `git revert " + mainline + short_id(report.merged_commit) +
                "`",
            "",
            "Would you like me to create a revert PR?"};
}

Lines failed_text(const UndoReport& report) {
    Lines lines = {"## ⚠️ Could not undo"};
    for (const std::string& error : report.errors)
        lines.insert(lines.end(), {"", error});
    return lines;
}

Lines planned_text(const UndoReport& report) {
    Lines lines = {"## Undo (dry run)", ""};
    section(lines, fmt::format("**Would revert {} commit(s):**", report.reverted.size()),
            commit_items(report.reverted));
    section(lines,
            fmt::format("**Would push the earlier undo of {} commit(s):**", report.earlier.size()),
            commit_items(report.earlier));
    section(lines, "**Files that would be restored:**", file_items(report.files));
    section(lines, "**PRs that would be closed:**", report.closed);
    if (report.merged_number != 0)
        lines.push_back(fmt::format("Would open a PR that reverts PR #{}.", report.merged_number));
    section(lines, "**Warnings:**", report.errors);
    return lines;
}

Lines done_text(const UndoReport& report) {
    Lines lines = {"## 🔙 Undo complete", ""};
    section(lines, fmt::format("**Reverted {} commit(s):**", report.reverted.size()),
            commit_items(report.reverted));
    section(lines,
            fmt::format("**Pushed the earlier undo of {} commit(s):**", report.earlier.size()),
            commit_items(report.earlier));
    section(lines, "**Files restored:**", file_items(report.files));
    section(lines, "**PRs closed:**", report.closed);
    if (!report.revert_pull_request.empty())
        section(lines, "**Revert PR:**", {report.revert_pull_request});
    section(lines, "**Warnings:**", report.errors);
    if (!report.conflicting.empty()) {
        const Lines way = conflict_text(report);
        lines.insert(lines.end(), way.begin(), way.end());
        lines.emplace_back();
    }
    if (!report.revert_commit.empty())
        lines.push_back("Revert commit: `" + short_id(report.revert_commit) + "`");
    return lines;
}

Lines lines_of(const UndoReport& report) {
    switch (report.end) {
        case UndoEnd::kNothing:
            return nothing_text(report);
        case UndoEnd::kConflict: {
            Lines lines = {"## ⚠️ Could not cleanly undo", ""};
            const Lines way = conflict_text(report);
            lines.insert(lines.end(), way.begin(), way.end());
            return lines;
        }
        case UndoEnd::kMerged:
            return merged_text(report);
        case UndoEnd::kFailed:
            return failed_text(report);
        case UndoEnd::kPlanned:
            return planned_text(report);
        case UndoEnd::kDone:
        case UndoEnd::kPartly:
            return done_text(report);
    }
    return {};
}

}  // namespace

std::string code_span(const std::string& text) {
    const std::string shown = visible(text);
    std::size_t longest = 0;
    std::size_t run = 0;
    for (const char c : shown) {
        run = c == '`' ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    const std::string fence(longest + 1, '`');
    // A backtick at an edge would join the fence.
    return longest == 0 ? fence + shown + fence : fence + " " + shown + " " + fence;
}

std::string markdown(const UndoReport& report) {
    Lines lines = lines_of(report);
    while (!lines.empty() && lines.back().empty())
        lines.pop_back();
    return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace unwrite::git
