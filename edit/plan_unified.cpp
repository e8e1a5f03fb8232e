#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "edit/line_changes.h"
#include "edit/plan.h"
#include "edit/staging.h"
#include "edit/unified_patch.h"

namespace unwrite::edit {

namespace {

// A file as the patch has left it so far.
struct Staged {
    FileState file{};
    bool exists = false;
    std::string bytes{};
    std::optional<std::string> moved{};  // what it holds where it was renamed to
    std::optional<bool> executable{};
    // Something was renamed to its place already, and it is to be renamed itself, later.
    std::optional<std::string> displaced{};
    bool displaced_executable = false;
};

// The names of a patch come from anywhere; each must lead down from the root.
bool leads_out(std::string_view path) {
    if (path.starts_with('/') || path.find('\0') != std::string_view::npos) return true;
    while (!path.empty()) {
        const std::size_t end = std::min(path.find('/'), path.size());
        const std::string_view component = path.substr(0, end);
        if (component.empty() || component == "." || component == "..") return true;
        if (end + 1 == path.size()) return true;
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return false;
}

std::string at_line(std::uint64_t line) {
    return " (line " + std::to_string(line) + " of the patch)";
}

class UnifiedPlanner {
 public:
    UnifiedPlanner(const Settings& settings, Files& files, const SeenCheck& seen,
                   EditResponse& told)
        : settings_(settings), files_(files), seen_(seen), told_(told) {}

    /// Where files are renamed from: their places become free.
    void note_renames(const std::vector<FilePatch>& patches);
    Result<> add(const FilePatch& patch);
    Result<EditPlan> finish() &&;

 private:
    struct Source {
        std::string bytes{};
        bool executable = false;
        bool stays = false;  // something else is at its place by now
    };
    Source take(std::size_t from);
    Result<std::size_t> staged(const std::string& path);
    Result<> change(const FilePatch& patch, std::size_t target, const std::string& shown);
    Result<std::string> new_bytes(const FilePatch& patch, const std::string& bytes) const;
    Result<> check_lines(const Staged& file, const std::string& after) const;

    const Settings& settings_;
    Files& files_;
    const SeenCheck& seen_;
    EditResponse& told_;
    std::map<std::string, std::size_t> by_path_;  // FileState::path -> index
    std::vector<Staged> staged_;                  // in the order of the patch
    std::multiset<std::string> renamed_;          // places that later renames leave
};

void UnifiedPlanner::note_renames(const std::vector<FilePatch>& patches) {
    for (const FilePatch& patch : patches) {
        const bool renames = patch.old_path && patch.new_path && *patch.old_path != *patch.new_path;
        if (renames && !patch.copies) renamed_.insert(*patch.old_path);
    }
}

UnifiedPlanner::Source UnifiedPlanner::take(std::size_t from) {
    Staged& one = staged_[from];
    if (one.displaced) {
        Source source{*std::move(one.displaced), one.displaced_executable, true};
        one.displaced.reset();
        return source;
    }
    return {one.bytes, one.executable.value_or(is_executable(one.file)), false};
}

Result<std::size_t> UnifiedPlanner::staged(const std::string& path) {
    if (leads_out(path)) return patch_failed(path, "Invalid path");
    TRY_ASSIGN(FileState file, look_at(path, settings_, files_));
    describe(told_, file);
    TRY(check_seen(path, file, seen_));
    const auto [known, added] = by_path_.emplace(file.path, staged_.size());
    if (added) {
        const bool exists = file.kind == FileKind::kFile;
        std::string bytes = file.bytes;
        staged_.push_back({std::move(file), exists, std::move(bytes), {}, {}});
    }
    return known->second;
}

Result<std::string> UnifiedPlanner::new_bytes(const FilePatch& patch,
                                              const std::string& bytes) const {
    std::uint64_t line = 0;
    auto after = apply_hunks(patch.hunks, bytes, &line);
    const std::string& path = patch.old_path ? *patch.old_path : *patch.new_path;
    if (after) return after;
    told_.patch_line = line;
    return Error(ErrorKind::kConflict, ESTALE,
                 patch_failed(path, after.error().message() + at_line(line)).message());
}

Result<> UnifiedPlanner::change(const FilePatch& patch, std::size_t target,
                                const std::string& shown) {
    Source source;
    std::optional<std::size_t> from;
    if (patch.old_path) {
        TRY_ASSIGN(from, staged(*patch.old_path));
        if (!staged_[*from].exists) return patch_failed(*patch.old_path, "File does not exist");
        source = take(*from);
        if (!patch.copies && !source.stays) staged_[*from].exists = false;
        if (const auto left = renamed_.find(*patch.old_path);
            !patch.copies && left != renamed_.end())
            renamed_.erase(left);
    }
    if (Staged& there = staged_[target]; there.exists) {
        // Swapped names: what is there moves on with a later rename of the same patch.
        if (!renamed_.contains(shown) || there.displaced)
            return patch_failed(shown, "File already exists");
        there.displaced = there.bytes;
        there.displaced_executable = there.executable.value_or(is_executable(there.file));
    }
    if (from) staged_[target].executable = source.executable;
    TRY_ASSIGN(staged_[target].bytes, new_bytes(patch, source.bytes));
    staged_[target].exists = true;
    if (from && !patch.copies) staged_[*from].moved = staged_[target].bytes;
    return {};
}

Result<> UnifiedPlanner::add(const FilePatch& patch) {
    const std::string& shown = patch.new_path ? *patch.new_path : *patch.old_path;
    name_file(told_, shown);
    told_.patch_line = patch.patch_line;
    TRY_ASSIGN(const std::size_t at, staged(shown));
    if (patch.new_path && (!patch.old_path || *patch.old_path != *patch.new_path)) {
        TRY(change(patch, at, shown));
    } else {
        if (!staged_[at].exists) return patch_failed(shown, "File does not exist");
        TRY_ASSIGN(staged_[at].bytes, new_bytes(patch, staged_[at].bytes));
        if (!patch.new_path && !staged_[at].bytes.empty())
            return patch_failed(shown, "The patch deletes the file but leaves lines in it");
        staged_[at].exists = patch.new_path.has_value();
    }
    if (patch.executable) staged_[at].executable = patch.executable;
    return {};
}

// Every line that is changed or removed must have been seen.
Result<> UnifiedPlanner::check_lines(const Staged& one, const std::string& after) const {
    if (!seen_ || one.file.kind != FileKind::kFile) return {};
    TRY_ASSIGN(const auto changed, line_changes(one.file.bytes, after));
    std::vector<std::uint64_t> lines;
    for (const LineChange& change : changed) {
        for (std::uint64_t i = 0; i < change.old_count; ++i)
            lines.push_back(change.old_start + i);
    }
    if (lines.empty()) return {};
    describe(told_, one.file);
    auto all = seen_(one.file, lines);
    return all ? Result<>{} : Result<>{stale_file(one.file.path, all.error())};
}

Result<EditPlan> UnifiedPlanner::finish() && {
    EditPlan plan;
    for (Staged& one : staged_) {
        if (!one.exists) one.bytes.clear();
        TRY(check_lines(one, one.exists ? one.bytes : one.moved.value_or("")));
        PlannedFile file = planned(one.file, std::move(one.bytes), one.exists);
        file.executable = one.executable;
        if (changes(one.file, file)) plan.files.push_back(std::move(file));
    }
    return plan;
}

}  // namespace

Result<EditPlan> plan_unified(std::string_view patch, unsigned strip, const Settings& settings,
                              Files& files, const SeenCheck& seen, EditResponse* told) {
    EditResponse unheard;
    EditResponse& response = told != nullptr ? *told : unheard;
    if (patch.size() > settings.max_patch)
        return Error(ErrorKind::kUsage, EINVAL, "Patch exceeds max_patch_bytes");
    std::uint64_t line = 0;
    const auto parsed = parse_unified(patch, strip, &line);
    if (!parsed) {
        response.patch_line = line;
        return patch_failed("<patch>", parsed.error().message() + at_line(line));
    }
    UnifiedPlanner planner(settings, files, seen, response);
    planner.note_renames(*parsed);
    for (const FilePatch& file : *parsed)
        TRY(planner.add(file));
    TRY_ASSIGN(EditPlan plan, std::move(planner).finish());
    TRY(check_names(plan, response));
    return plan;
}

AnsweredPlan plan_diff(std::string_view patch, unsigned strip, const Settings& settings,
                       Files& files, const SeenCheck& seen) {
    EditResponse told;
    auto plan = plan_unified(patch, strip, settings, files, seen, &told);
    return answered(std::move(plan), std::move(told));
}

}  // namespace unwrite::edit
