#include "cli/screen/task_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/digest.h"
#include "base/paths.h"
#include "base/syscalls.h"
#include "cli/heaps.h"
#include "cli/render.h"
#include "cli/screen/diff_page.h"
#include "cli/text.h"
#include "overlay/changes.h"

namespace unwrite::cli::screen {

using overlay::Change;
using overlay::ChangeKind;

namespace {

/// A directory that holds no more than this is shown file by file from the beginning.
constexpr std::uint64_t kMostUnfolded = 50;
/// What is read at once: the files ahead of the one that is looked at.
constexpr std::size_t kMostAhead = 64;
constexpr std::uint64_t kMostBytesAhead = std::uint64_t{4} << 20;

/// Many files in one line: made, removed, or changed.
bool is_folded(const Change& change) {
    return S_ISDIR(change.type) && change.below > 0;
}

/// Two changes may have one path: a file went, and a directory came.
std::string key_of(const Change& change) {
    return static_cast<char>('0' + static_cast<int>(change.kind)) + change.path;
}

bool lies_in(const Change& change, const Change& directory) {
    return is_below(change.path, directory.path) &&
           (is_heap(directory) || change.kind == directory.kind);
}

std::uint64_t count_below(const std::vector<Change>& changes, const std::string& directory) {
    return static_cast<std::uint64_t>(
        std::count_if(changes.begin(), changes.end(),
                      [&](const Change& change) { return is_below(change.path, directory); }));
}

// What tells one state of a file from another without reading it.
std::string print_of(const std::string& path) {
    const auto found = sys::stat_at(AT_FDCWD, path);
    if (!found) return "none";
    if (S_ISDIR(found->st_mode)) return "directory";
    return fmt::format("{} {} {} {}.{:09}", found->st_ino, found->st_mode, found->st_size,
                       found->st_mtim.tv_sec, found->st_mtim.tv_nsec);
}

std::string words_for(const Change& change) {
    if (is_heap(change)) {
        return fmt::format("A directory in which {} changed.\n\nEnter lists what.\n",
                           counted(change.below, "object", "objects"));
    }
    if (is_folded(change)) {
        return fmt::format("A directory that was {}: {}, {}.\n\nEnter lists what is in it.\n",
                           change.kind == ChangeKind::kCreated ? "made" : "removed",
                           counted(change.below, "object", "objects"), size_words(change.bytes));
    }
    switch (change.kind) {
        case ChangeKind::kRenamed:
            return "Renamed from " + quote_name(change.old_path) + "; the content is the same.\n";
        case ChangeKind::kAttributes:
            return "Only attributes differ: " + overlay::aspect_words(change) + ".\n";
        case ChangeKind::kCreated:
            return "Made; there is nothing in it to be shown.\n";
        case ChangeKind::kDeleted:
            return "Removed; there was nothing in it to be shown.\n";
        case ChangeKind::kModified:
            return "Nothing of this change can be shown.\n";
    }
    return "";
}

}  // namespace

TaskSource::TaskSource(Workspace& workspace, std::string text, Check check)
    : workspace_(workspace), text_(std::move(text)), check_(std::move(check)) {}

std::string TaskSource::full(const std::string& path) const {
    return workspace_.root() + '/' + path;
}

void TaskSource::note(const Change& change) {
    prints_[change.path] = print_of(full(change.path));
}

Result<std::vector<Item>> TaskSource::read() {
    TRY_ASSIGN(overlay::Status status, workspace_.operations().status("", false));
    changes_ = std::move(status.changes);
    std::vector<std::string> small;
    for (const Change& change : changes_) {
        note(change);
        if (is_folded(change) && change.below <= kMostUnfolded) small.push_back(change.path);
    }
    std::vector<overlay::FileDiff> unfolded;
    if (!small.empty()) {
        TRY_ASSIGN(unfolded, workspace_.operations().diff("", "", small, false));
    }
    for (const Change& change : heaped(changes_)) {
        if (is_heap(change)) heaps_[change.path] = change.below;
        bool opened = false;
        for (const overlay::FileDiff& diff : unfolded) {
            const bool small_one =
                is_folded(change) && !is_heap(change) && change.below <= kMostUnfolded;
            if (!small_one || !lies_in(diff.change, change)) continue;
            opened = true;
            note(diff.change);
            order_.push_back(diff.change);
        }
        if (!opened) order_.push_back(change);
    }
    std::vector<Item> items;
    for (const Change& change : order_)
        items.push_back({change, Verdict::kOpen, {}, {}});
    return items;
}

// The diff of this change, and of some that come after it: to compare states costs more than to
// compare some files.
Result<> TaskSource::read_from(const Change& change) {
    const auto at = std::find_if(order_.begin(), order_.end(),
                                 [&](const Change& one) { return key_of(one) == key_of(change); });
    std::vector<std::string> paths = {change.path};
    std::uint64_t bytes = change.bytes;
    for (auto next = at; next != order_.end() && paths.size() < kMostAhead; ++next) {
        bytes += next->bytes;
        if (bytes > kMostBytesAhead) break;
        // What was shown already stays what it was: a verdict may hang on it.
        if (!is_folded(*next) && !read_.contains(key_of(*next)) && next != at)
            paths.push_back(next->path);
    }
    for (const std::string& path : paths)
        prints_[path] = print_of(full(path));
    TRY_ASSIGN(auto diffs, workspace_.operations().diff("", "", paths, true));
    for (overlay::FileDiff& diff : diffs) {
        const std::string key = key_of(diff.change);
        read_.insert_or_assign(key, std::move(diff));
    }
    return {};
}

Result<Looked> TaskSource::look(const Change& change) {
    if (is_folded(change)) return Looked{words_for(change), "", 0};
    const std::string path = full(change.path);
    const std::string key = key_of(change);
    if (!read_.contains(key) || prints_[change.path] != print_of(path)) {
        read_.erase(key);
        TRY(read_from(change));
    }
    const auto found = read_.find(key);
    if (found == read_.end())
        return Looked{
            "This is no longer a change, or another one; what is said of it is refused.\n", "", 0};
    Looked looked{found->second.text, prints_[change.path], 0};
    if (looked.text.empty()) looked.text = words_for(change);
    const bool divisible = !found->second.binary && change.kind != ChangeKind::kCreated &&
                           change.kind != ChangeKind::kDeleted && S_ISREG(change.type);
    const std::size_t hunks = divisible ? DiffPage(looked.text).hunk_count() : 0;
    if (hunks < 2) return looked;
    const auto bytes = sys::read_file_at(AT_FDCWD, path);
    // Parts are counted from 1 in what was read; of another content they would be other ones.
    if (!bytes || prints_[change.path] != print_of(path)) return looked;
    looked.seen = to_text(digest_of(*bytes));
    looked.parts = hunks;
    return looked;
}

Result<std::vector<Change>> TaskSource::inside(const Change& directory) {
    TRY_ASSIGN(auto diffs, workspace_.operations().diff("", "", {directory.path}, false));
    std::vector<Change> found;
    for (overlay::FileDiff& diff : diffs) {
        if (!lies_in(diff.change, directory)) continue;
        note(diff.change);
        found.push_back(std::move(diff.change));
    }
    if (found.empty())
        return Error(ErrorKind::kNothing, ENOENT, quote_name(directory.path) + " holds no file");
    order_.insert(order_.end(), found.begin(), found.end());
    return found;
}

std::vector<std::string> TaskSource::take_changed() {
    return std::exchange(changed_, {});
}

void TaskSource::forget(const std::string& path) {
    std::erase_if(read_, [&](const auto& one) { return one.second.change.path == path; });
    prints_[path] = print_of(full(path));
}

// Whether one line's many files are what they were: as many, as large, and those that are known one
// by one the same.
bool TaskSource::is_as_it_was(const Change& many, const std::vector<Change>& now) const {
    if (!is_heap(many)) {
        return std::any_of(now.begin(), now.end(), [&](const Change& change) {
            return key_of(change) == key_of(many) && change.below == many.below &&
                   change.bytes == many.bytes;
        });
    }
    const auto known = heaps_.find(many.path);
    const bool same = std::all_of(prints_.begin(), prints_.end(), [&](const auto& one) {
        return !is_below(one.first, many.path) || one.second == print_of(full(one.first));
    });
    return same && known != heaps_.end() && known->second == count_below(now, many.path);
}

// An agreement is for what was shown.
Result<> TaskSource::check_unchanged(const std::vector<Judged>& judged) {
    std::set<std::string> changed;
    TRY_ASSIGN(const overlay::Status now, workspace_.operations().status("", false));
    for (const Judged& one : judged) {
        if (one.verdict == Verdict::kOpen) continue;
        const auto print = prints_.find(one.change.path);
        const bool other = print != prints_.end() && print->second != print_of(full(print->first));
        if (other || (is_heap(one.change) && !is_as_it_was(one.change, now.changes)))
            changed.insert(one.change.path);
    }
    for (const Change& before : changes_) {
        if (!is_folded(before) || is_as_it_was(before, now.changes)) continue;
        for (const Judged& one : judged) {
            const bool of_it =
                one.change.path == before.path || is_below(one.change.path, before.path);
            if (of_it && one.verdict != Verdict::kOpen) changed.insert(one.change.path);
        }
    }
    if (changed.empty()) return {};
    changed_.assign(changed.begin(), changed.end());
    std::string list;
    for (const std::string& path : changed_) {
        list += "\n  " + quote_name(path);
        forget(path);
        if (!heaps_.contains(path)) continue;
        heaps_[path] = count_below(now.changes, path);
        for (auto& [below, print] : prints_) {
            if (is_below(below, path)) print = print_of(full(below));
        }
    }
    changes_ = now.changes;
    return Error(ErrorKind::kConflict, EBUSY, "these files changed since they were shown:" + list,
                 "look at them again, then decide");
}

Result<overlay::Decision> TaskSource::decision_for(const std::vector<Judged>& judged) {
    TRY(check_unchanged(judged));
    overlay::Decision decision = decision_of(judged, changes_);
    decision.text = text_;
    TRY(check_(decision));
    return decision;
}

Result<std::string> TaskSource::foresee(const std::vector<Judged>& judged) {
    TRY_ASSIGN(const overlay::Decision decision, decision_for(judged));
    TRY_ASSIGN(const overlay::Decided decided,
               workspace_.operations().decide(asker(), decision, true));
    return decided_words(decided, Saying::kForeseen, Colour::kNo);
}

Result<> TaskSource::carry_out(const std::vector<Judged>& judged) {
    TRY_ASSIGN(decision_, decision_for(judged));
    TRY_ASSIGN(decided_, workspace_.operations().decide(asker(), decision_, false));
    return {};
}

}  // namespace unwrite::cli::screen
