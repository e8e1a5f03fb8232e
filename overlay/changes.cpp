#include "overlay/changes.h"

#include <algorithm>

#include "base/paths.h"

namespace unwrite::overlay {

Result<std::vector<Change>> changes_between(View& older, View& newer, Detail detail) {
    TRY_ASSIGN(Differences differences, differences_between(older, newer, detail));
    std::vector<Change> changes;
    changes.reserve(differences.list.size());
    for (Difference& difference : differences.list)
        changes.push_back(std::move(difference.change));
    return changes;
}

std::string aspect_words(const Change& change) {
    std::string words;
    for (const AspectWord& one : kAspectWords) {
        if ((change.aspects & one.aspect) != 0)
            words += (words.empty() ? "" : ", ") + std::string(one.text);
    }
    return words;
}

bool is_whole_directory(const Change& change) {
    return S_ISDIR(change.type) &&
           (change.kind == ChangeKind::kCreated || change.kind == ChangeKind::kDeleted);
}

std::uint64_t files_in(const Change& change) {
    return change.files;
}

std::uint64_t files_in(const std::vector<Change>& changes) {
    std::uint64_t files = 0;
    for (const Change& change : changes)
        files += files_in(change);
    return files;
}

std::uint64_t lines_left_out(const Change& change) {
    const bool is_whole =
        is_whole_directory(change) || (S_ISDIR(change.type) && change.kind == ChangeKind::kRenamed);
    return is_whole && change.files > 1 ? change.files : change.ignored;
}

bool concerns(const Change& change, const std::string& path) {
    if (is_at_or_below(change.path, path)) return true;
    const bool renamed = change.kind == ChangeKind::kRenamed;
    if (renamed && is_at_or_below(change.old_path, path)) return true;
    if (!S_ISDIR(change.type) || change.kind == ChangeKind::kAttributes) return false;
    return is_at_or_below(path, change.path) || (renamed && is_at_or_below(path, change.old_path));
}

}  // namespace unwrite::overlay
