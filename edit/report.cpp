#include "edit/report.h"

#include <algorithm>

#include "edit/diff.h"
#include "edit/lp1.h"
#include "edit/text_safety.h"

namespace unwrite::edit {

namespace {

const char* verb_of(const PlannedFile& file) {
    if (!file.existed) return "created: ";
    return file.remains ? "modified: " : "deleted: ";
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

}  // namespace

Result<std::string> edit_report(const EditPlan& plan) {
    if (plan.files.empty()) return std::string(kNoChanges);
    std::string names;
    std::string diffs;
    for (const PlannedFile& file : plan.files) {
        names += verb_of(file) + displayed(file.path) + '\n';
        TRY_ASSIGN(const std::string diff, numbered_diff(file.before, file.after));
        diffs += diff;
    }
    if (plan.files.size() == 1 && !diffs.empty()) return diffs;
    return names + (diffs.empty() ? "" : "\n" + diffs);
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
