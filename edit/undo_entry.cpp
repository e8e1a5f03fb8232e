#include "edit/undo_entry.h"

#include <cerrno>
#include <nlohmann/json.hpp>

#include "edit/text_safety.h"

namespace unwrite::edit {

namespace {

Error about(const std::string& path, const Error& reason) {
    const std::string shown = displayed(path);
    const std::string text = reason.message();
    const bool names_it =
        text.starts_with(shown + ":") || text.find("'" + shown + "'") != std::string::npos;
    return {reason.kind(), reason.number() != 0 ? reason.number() : EIO,
            names_it ? text : shown + ": " + text, reason.advice()};
}

Error refused(const std::string& path, const char* reason) {
    const std::string shown = displayed(path);
    return {ErrorKind::kConflict, EINVAL, shown + ": " + reason,
            "Nothing was undone, because something else changed this file since the edit. Call "
            "Read for \"" +
                shown + "\", and take back with Edit what should go."};
}

// One Undo: what stands there now is kept, so that a half-done one can go back.
class Undoing {
 public:
    Undoing(const std::vector<UndoTarget>& targets, UndoFiles& files)
        : targets_(targets), files_(files) {}

    Result<> validate();
    EditPlan plan() const;
    Result<> carry_out();
    void remove_directories();

 private:
    Result<FileState> check(const UndoTarget& target);
    Result<> prepare();
    Result<> step(const UndoTarget& target);
    Result<> step_back(const UndoTarget& target, const FileState& was);
    Error take_back(std::size_t done, const Error& reason);

    const std::vector<UndoTarget>& targets_;
    UndoFiles& files_;
    std::vector<FileState> now_;
};

Result<FileState> Undoing::check(const UndoTarget& target) {
    const std::string& path = target.path;
    const std::string* left = target.existed ? &target.before : nullptr;
    if (auto allowed = files_.allowed(path, left); !allowed) return about(path, allowed.error());
    auto looked = files_.look(path);
    if (!looked) return about(path, looked.error());
    switch (looked->kind) {
        case FileKind::kDirectory:
            return refused(path, "is a directory");
        case FileKind::kOther:
            return refused(path, "is not a regular file");
        case FileKind::kAbsent:
            if (target.remains) return refused(path, "file missing");
            break;
        case FileKind::kFile:
            if (!target.remains) return refused(path, "file exists");
            if (digest_of(looked->bytes) != target.after) return refused(path, "hash mismatch");
            break;
    }
    return looked;
}

Result<> Undoing::validate() {
    for (const UndoTarget& target : targets_) {
        TRY_ASSIGN(FileState state, check(target));
        now_.push_back(std::move(state));
    }
    return {};
}

// From what stands there now; after validate().
EditPlan Undoing::plan() const {
    EditPlan plan;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
        PlannedFile& file = plan.files.emplace_back();
        file.path = targets_[i].path;
        file.existed = targets_[i].remains;
        file.remains = targets_[i].existed;
        file.before = now_[i].bytes;
        file.after = targets_[i].before;
        file.hash_after = digest_of(file.after);
    }
    return plan;
}

Result<> Undoing::prepare() {
    for (const UndoTarget& target : targets_) {
        if (!target.existed) continue;
        if (auto done = files_.prepare(target.path, target.before, target.mode); !done) {
            files_.drop_prepared();
            return about(target.path, done.error());
        }
    }
    return {};
}

Result<> Undoing::step(const UndoTarget& target) {
    if (!target.existed) return files_.remove(target.path, target.after);
    const auto expected =
        target.remains ? std::optional<Digest>(target.after) : std::optional<Digest>{};
    return files_.put(target.path, expected, target.before, target.mode);
}

Result<> Undoing::step_back(const UndoTarget& target, const FileState& was) {
    if (was.kind == FileKind::kAbsent) return files_.remove(target.path, digest_of(target.before));
    const auto expected =
        target.existed ? std::optional<Digest>(digest_of(target.before)) : std::optional<Digest>{};
    return files_.put(target.path, expected, was.bytes, was.mode);
}

// The steps before the failed one, the newest first. Others may have changed the files meanwhile;
// those stay as they are and are named.
Error Undoing::take_back(std::size_t done, const Error& reason) {
    std::string left;
    while (done-- > 0) {
        if (auto back = step_back(targets_[done], now_[done]); !back)
            left += "\n" + about(targets_[done].path, back.error()).message();
    }
    if (left.empty()) return reason;
    return {ErrorKind::kRecovery, reason.number(),
            reason.message() + "; could not go back:" + left};
}

Result<> Undoing::carry_out() {
    TRY(prepare());
    for (std::size_t i = 0; i < targets_.size(); ++i) {
        const auto done = step(targets_[i]);
        if (done) continue;
        const bool changed = done.error().kind() == ErrorKind::kConflict;
        const Error reason = changed ? refused(targets_[i].path, "hash mismatch")
                                     : about(targets_[i].path, done.error());
        files_.drop_prepared();
        return take_back(i, reason);
    }
    return {};
}

void Undoing::remove_directories() {
    for (const UndoTarget& target : targets_) {
        for (auto path = target.directories.rbegin(); path != target.directories.rend(); ++path)
            ignore(files_.remove_empty_directory(*path), "an empty directory more does no harm");
    }
}

}  // namespace

std::string undo_schema() {
    return R"({"type":"object","properties":{},"additionalProperties":false})";
}

Result<> check_undo_arguments(std::string_view arguments) {
    const auto object = nlohmann::json::parse(arguments, nullptr, /*allow_exceptions=*/false);
    if (object.is_object() && object.empty()) return {};
    return Error(ErrorKind::kUsage, EINVAL, "Bad args: Undo takes no arguments",
                 "Call Undo with {}.");
}

void UndoEntries::applied(const std::string& session, std::vector<UndoTarget> targets) {
    if (!targets.empty()) entries_[session] = std::move(targets);
}

void UndoEntries::end_session(const std::string& session) {
    entries_.erase(session);
}

std::uint64_t UndoEntries::held() const {
    std::uint64_t bytes = 0;
    for (const auto& [session, targets] : entries_) {
        for (const UndoTarget& target : targets)
            bytes += target.before.size();
    }
    return bytes;
}

Result<EditPlan> UndoEntries::foresee(const std::string& session, UndoFiles& files) const {
    const auto entry = entries_.find(session);
    if (entry == entries_.end())
        return Error(ErrorKind::kNothing, ENOENT, std::string(kNothingToUndo));
    Undoing undoing(entry->second, files);
    TRY(undoing.validate());
    return undoing.plan();
}

Result<Undone> UndoEntries::undo(const std::string& session, UndoFiles& files) {
    const auto entry = entries_.find(session);
    if (entry == entries_.end())
        return Error(ErrorKind::kNothing, ENOENT, std::string(kNothingToUndo));
    Undoing undoing(entry->second, files);
    TRY(undoing.validate());
    TRY(undoing.carry_out());
    undoing.remove_directories();
    Undone undone;
    undone.report = "Reverted " + std::to_string(entry->second.size()) + " file(s):";
    for (const UndoTarget& target : entry->second) {
        undone.report += "\n" + displayed(target.path);
        undone.paths.push_back(target.path);
    }
    entries_.erase(entry);
    return undone;
}

std::vector<UndoTarget> targets_of(const EditPlan& plan) {
    std::vector<UndoTarget> targets;
    for (const PlannedFile& file : plan.files) {
        UndoTarget target;
        target.path = file.path;
        target.existed = file.existed;
        target.remains = file.remains;
        target.before = file.before;
        target.mode = file.mode_before;
        target.after = file.hash_after;
        targets.push_back(std::move(target));
    }
    return targets;
}

}  // namespace unwrite::edit
