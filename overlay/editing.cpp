#include "overlay/editing.h"

#include <algorithm>
#include <cerrno>

#include "base/crash_point.h"
#include "base/held_signals.h"
#include "edit/report.h"
#include "edit/text_safety.h"

namespace unwrite::overlay {

namespace {

using edit::EditPlan;
using edit::FileKind;
using edit::FileState;
using edit::PlannedFile;

/// One Editing is one session.
const std::string kSession = "session";

Error usage(const std::string& path, const std::string& reason, std::string advice = {}) {
    return {ErrorKind::kUsage, EINVAL, edit::displayed(path) + ": " + reason, std::move(advice)};
}

std::string too_large_for_edit(std::uint64_t size, std::uint64_t most) {
    return std::to_string(size) + " bytes, and Edit takes at most " + std::to_string(most) +
           ". Change it with another program; that can be taken back as well.";
}

// The path once, whether the reason says it or not.
std::string named(const std::string& path, const Error& reason) {
    const std::string shown = edit::displayed(path) + ": ";
    const std::string text = reason.message();
    return text.starts_with(shown) ? text : shown + text;
}

bool has_lost_daemon(const Error& error) {
    const int number = error.number();
    return error.kind() == ErrorKind::kNoWorkspace || number == ENOTCONN ||
           number == ECONNABORTED || number == EPIPE;
}

// What failed, with what that means for the files. `what`: "edit" or "Undo".
Error explained(const Error& error, const std::string& what) {
    if (has_lost_daemon(error)) {
        return {
            ErrorKind::kNoWorkspace, error.number(), "The daemon of this workspace has ended",
            "Ask the user to run `unwrite mount`. Then call Read for the files: they have all of "
            "this " +
                what + " or nothing of it."};
    }
    if (sys::is_out_of_room(error) && error.kind() != ErrorKind::kRecovery) {
        return {error.kind(), error.number(), error.message() + "; nothing was changed",
                "Free some space, or ask the user to, and repeat the " + what + "."};
    }
    return error;
}

EditAnswer failure(edit::EditResponse response, const Error& error) {
    const Error told = explained(error, "edit");
    edit::fail(response, told);
    return {true, told.message(), std::move(response)};
}

std::optional<std::uint32_t> mode_of(const PlannedFile& file) {
    if (!file.executable) return std::nullopt;
    const std::uint32_t before = file.existed ? file.mode_before : 0644;
    return *file.executable ? before | ((before & 0444U) >> 2) : before & ~0111U;
}

/// Empty ones when nobody can tell: no file that was read has that mark.
std::vector<std::string> marks_of(Operations& operations, const std::vector<std::string>& paths) {
    auto marks = operations.marks(paths);
    if (!marks || marks->size() != paths.size()) return std::vector<std::string>(paths.size());
    return *std::move(marks);
}

std::string mark_of(Operations& operations, const std::string& path) {
    return marks_of(operations, {path}).front();
}

/// What will be there; null: nothing.
const std::string* left_by(const PlannedFile& file) {
    return file.remains ? &file.after : nullptr;
}

Result<> to_after(EditFiles& files, const PlannedFile& file) {
    if (!file.remains) return files.remove(file.path, file.hash_before);
    const auto expected = file.existed ? std::optional(file.hash_before) : std::nullopt;
    return files.put(file.path, expected, file.after, mode_of(file));
}

Result<> to_before(EditFiles& files, const PlannedFile& file) {
    if (!file.existed) return files.remove(file.path, file.hash_after);
    const auto expected = file.remains ? std::optional(file.hash_after) : std::nullopt;
    return files.put(file.path, expected, file.before, file.mode_before);
}

// An Undo with its record in the journal, which its first change begins.
class RecordedUndo final : public edit::UndoFiles {
 public:
    RecordedUndo(EditRoom& room, const EditRecord& record) : room_(room), record_(record) {}

    Result<> allowed(const std::string& path, const std::string* bytes) override {
        return room_.files.allowed(path, bytes);
    }
    Result<FileState> look(const std::string& path) override { return room_.files.look(path); }
    Result<> prepare(const std::string& path, const std::string& bytes,
                     std::optional<std::uint32_t> mode) override {
        TRY(begin());
        crash_point("undo.prepare");
        return room_.files.prepare(path, bytes, mode);
    }
    void drop_prepared() override { room_.files.drop_prepared(); }
    Result<> put(const std::string& path, const std::optional<Digest>& expected,
                 const std::string& bytes, std::optional<std::uint32_t> mode) override {
        TRY(begin());
        crash_point("undo.file");
        return room_.files.put(path, expected, bytes, mode);
    }
    Result<> remove(const std::string& path, const Digest& expected) override {
        TRY(begin());
        crash_point("undo.file");
        return room_.files.remove(path, expected);
    }
    Result<> remove_empty_directory(const std::string& path) override {
        return room_.files.remove_empty_directory(path);
    }
    Result<> end(const std::string& outcome) {
        if (!begun_) return {};
        return end_edit(room_.operations, room_.asker, record_, outcome);
    }

 private:
    Result<> begin() {
        if (begun_) return {};
        TRY(begin_edit(room_.operations, room_.asker, "undo the edit of", record_));
        begun_ = true;
        return {};
    }

    EditRoom& room_;
    const EditRecord& record_;
    bool begun_ = false;
};

// One after the other, so that it can be said which file lacks its directory.
Result<> make_directories(EditRoom& room, const EditPlan& plan, const EditRecord& record,
                          std::string& at) {
    for (const std::string& path : record.directories) {
        const auto made = room.files.make_directories({path});
        if (made) continue;
        const auto file =
            std::find_if(plan.files.begin(), plan.files.end(),
                         [&](const PlannedFile& one) { return one.path.starts_with(path + "/"); });
        if (file != plan.files.end()) at = file->path;
        return made;
    }
    return {};
}

// What an Undo of the plan does.
EditRecord undo_record(const EditPlan& plan) {
    EditRecord record;
    for (const PlannedFile& file : plan.files) {
        record.files.push_back({file.path,
                                file.existed ? std::optional(file.hash_before) : std::nullopt,
                                file.remains, file.before.size()});
    }
    return record;
}

}  // namespace

std::string facts_of(const ReadAnswer& answer) {
    return edit::displayed(answer.path) + ": lines " + std::to_string(answer.lines.start) + "-" +
           std::to_string(answer.lines.end) + " of " + std::to_string(answer.line_count) +
           ", newline_kind " + std::string(edit::name_of(answer.newline)) + ", file_hash " +
           to_text(answer.hash);
}

// A mark is asked for after the bytes were read: whoever writes them back after another write makes
// another mark, then or later.
edit::SeenCheck Editing::seen(EditRoom& room) {
    if (!must_read_) return {};
    return [this, &room](const FileState& file, const std::vector<std::uint64_t>& lines) {
        if (!lines.empty()) return observed_.check_lines(kSession, file.path, lines);
        return observed_.check(kSession, file.path, file.bytes,
                               mark_of(room.operations, file.path));
    };
}

/// Of the files as they are now, in the order of the plan.
std::vector<std::string> Editing::marks(EditRoom& room, const EditPlan& plan) const {
    std::vector<std::string> paths;
    for (const PlannedFile& file : plan.files)
        paths.push_back(file.path);
    return must_read_ ? marks_of(room.operations, paths) : std::vector<std::string>(paths.size());
}

Result<ReadAnswer> Editing::read(EditRoom& room, const std::string& path,
                                 std::optional<edit::LineRange> lines) {
    TRY_ASSIGN(const FileState file, room.files.look(path, kMaxScan));
    if (file.kind == FileKind::kAbsent)
        return Error(ErrorKind::kNotFound, ENOENT, edit::displayed(path) + ": file missing",
                     "Check the path: it is relative to the top of the workspace.");
    if (const auto wrong = edit::not_a_file(file))
        return usage(path, wrong->message(), wrong->advice());
    if (file.size > kMaxScan)
        return usage(path,
                     "File too large to be read (" + std::to_string(file.size) + " bytes > " +
                         std::to_string(kMaxScan) + ")",
                     "Read it with another program.");
    if (!edit::is_utf8(file.bytes))
        return usage(path, "Invalid UTF-8 in file", "Only UTF-8 text can be read.");
    const edit::CanonicalView view(file.bytes);
    const std::uint64_t count = view.line_count();
    const edit::LineRange all{1, count};
    const edit::LineRange range = lines.value_or(all);
    if (lines && (range.start < 1 || range.end < range.start))
        return usage(path, "start_line and end_line must be lines from 1, in order",
                     "Give end_line at least as large as start_line.");
    if (lines && range.start > count && !(count == 0 && range.start == 1))
        return usage(
            path, "the file has " + std::to_string(count) + " lines",
            "Give lines from 1 to " + std::to_string(std::max<std::uint64_t>(count, 1)) + ".");
    ReadAnswer answer;
    answer.path = file.path;
    answer.hash = digest_of(file.bytes);
    answer.size = file.bytes.size();
    answer.newline = edit::dominant(view.newlines());
    answer.line_count = count;
    answer.lines = {range.start, std::min(range.end, count)};
    if (count > 0) {
        const std::size_t begin = view.original_offset(view.line_begin(answer.lines.start));
        const std::size_t end = view.original_offset(view.line_end(answer.lines.end));
        answer.text = file.bytes.substr(begin, end - begin);
    }
    if (answer.text.size() > settings_.max_file) {
        return usage(path,
                     "too much to be read at once (" + std::to_string(answer.text.size()) +
                         " bytes > " + std::to_string(settings_.max_file) +
                         " max_file_read_bytes); give start_line and end_line",
                     "Call Read with start_line 1 and end_line " +
                         std::to_string(std::max<std::uint64_t>(count / 4, 1)) + ".");
    }
    if (!must_read_) return answer;
    if (const std::string mark = mark_of(room.operations, file.path); !mark.empty()) {
        observed_.read(kSession, file.path, file.bytes,
                       count == 0 ? edit::LineRange{1, 1} : answer.lines, mark);
    }
    return answer;
}

std::string Editing::after_read(EditRoom& room, const ReadAnswer& answer) const {
    if (!settings_.enabled) return "The tool Edit is switched off here.";
    if (answer.size > settings_.max_file)
        return "Edit does not take this file: it has " +
               too_large_for_edit(answer.size, settings_.max_file);
    const std::string rule = room.files.outlook(answer.path);
    return rule.empty() ? "Edit can change these lines." : rule;
}

Result<> Editing::change(EditRoom& room, const EditPlan& plan, std::size_t& done, std::string& at) {
    // All of it is on the disk before the first file is touched: no room is the likeliest failure.
    for (const PlannedFile& file : plan.files) {
        at = file.path;
        if (file.remains) TRY(room.files.prepare(file.path, file.after, mode_of(file)));
    }
    for (const PlannedFile& file : plan.files) {
        at = file.path;
        crash_point("edit.file");
        if (auto changed = to_after(room.files, file); !changed) return changed;
        ++done;
    }
    at.clear();
    crash_point("edit.file");
    return {};
}

Error Editing::go_back(EditRoom& room, const EditPlan& plan, const EditRecord& record,
                       std::size_t done, const Error& reason) {
    // The next mount takes it back, from the journal.
    if (has_lost_daemon(reason)) return reason;
    std::string left;
    room.files.drop_prepared();
    for (std::size_t at = done; at-- > 0;) {
        const PlannedFile& file = plan.files[at];
        if (auto back = to_before(room.files, file); !back)
            left += "\n" + named(file.path, back.error());
    }
    const std::vector<std::string> marks = this->marks(room, plan);
    for (std::size_t at = 0; at < done && left.empty(); ++at)
        observed_.put_back(kSession, plan.files[at].path, marks[at]);
    // What cannot be written again (no room, say) still lies in the journal.
    if (!left.empty() && finish_killed_edits(room.operations, room.asker, room.files))
        return reason;
    for (auto path = record.directories.rbegin(); path != record.directories.rend(); ++path)
        ignore(room.files.remove_empty_directory(*path), "what others put there stays");
    ignore(end_edit(room.operations, room.asker, record, "took back a failed edit"),
           "without this step the next edit looks again, and finds nothing to take back");
    if (left.empty()) return reason;
    return {ErrorKind::kRecovery, EIO,
            reason.message() + "; could not go back:" + left +
                "\n`unwrite recover`, or the next edit, takes it back as soon as it can",
            "Call Read for these files before you go on: they may hold a part of the edit."};
}

void Editing::remember(EditRoom& room, const EditPlan& plan,
                       const std::vector<std::string>& directories) {
    const std::vector<std::string> marks = this->marks(room, plan);
    auto mark = marks.begin();
    for (const PlannedFile& file : plan.files) {
        const std::string& its = *mark++;
        if (!file.existed) {
            observed_.read_all(kSession, file.path, file.after, its);
        } else if (!file.remains) {
            observed_.forget(file.path);
        } else {
            ignore(observed_.edited(kSession, file.path, {file.before, file.hash_before},
                                    {file.after, file.hash_after}, its),
                   "then the file counts as not read, and is to be read again");
        }
    }
    auto targets = edit::targets_of(plan);
    if (!targets.empty()) targets.back().directories = directories;
    entries_.applied(kSession, std::move(targets));
    undo_record_ = undo_record(plan);
}

Result<> Editing::carry_out(EditRoom& room, const EditPlan& plan, std::string& at) {
    if (plan.files.empty()) return {};
    EditRecord record;
    record.token = room.files.token();
    for (const PlannedFile& file : plan.files) {
        at = file.path;
        TRY(room.files.may_write(file.path, left_by(file), /*ask=*/true));
        record.files.push_back({file.path,
                                file.remains ? std::optional(file.hash_after) : std::nullopt,
                                file.existed, file.after.size()});
        if (file.existed) continue;
        TRY_ASSIGN(const auto missing, room.files.missing_directories(file.path));
        for (const std::string& path : missing) {
            if (std::find(record.directories.begin(), record.directories.end(), path) ==
                record.directories.end()) {
                TRY(room.files.may_make(path));
                record.directories.push_back(path);
            }
        }
    }
    at.clear();
    const HeldSignals whole_or_nothing;
    TRY(begin_edit(room.operations, room.asker, "edit", record));
    crash_point("edit.begun");
    std::size_t done = 0;
    Result<> changed = make_directories(room, plan, record, at);
    if (changed) changed = change(room, plan, done, at);
    if (changed) changed = end_edit(room.operations, room.asker, record, "edited");
    if (!changed) return go_back(room, plan, record, done, changed.error());
    remember(room, plan, record.directories);
    return {};
}

edit::AnsweredPlan Editing::plan(EditRoom& room, const edit::EditRequest& request) {
    if (const auto* snippet = std::get_if<edit::SnippetRequest>(&request))
        return plan_snippet(*snippet, settings_, room.files, seen(room));
    if (const auto* lines = std::get_if<edit::LineRequest>(&request))
        return plan_lines(*lines, settings_, room.files, seen(room));
    return edit::plan_patch(std::get<edit::PatchRequest>(request), settings_, room.files,
                            seen(room));
}

// A model that learns who changed the file can judge whether its own plan still holds.
void Editing::tell_who_changed(EditRoom& room, edit::EditResponse& response) const {
    const bool stale = response.status == edit::EditStatus::kStaleFile;
    if (!stale || !must_read_ || !observed_.knows(kSession, response.path)) return;
    const std::string who = last_writer(room.operations, room.asker, response.path);
    if (who.empty()) return;
    response.next = "It was last changed by " + who + ". " + next_step(response);
}

EditAnswer Editing::finish(EditRoom& room, edit::AnsweredPlan made) {
    edit::EditResponse& response = made.response;
    if (response.status != edit::EditStatus::kOk) {
        tell_who_changed(room, response);
        return {true, response.message, response};
    }
    const auto report = edit::edit_report(made.plan);
    if (!report) return failure(std::move(response), report.error());
    std::string at;
    if (auto done = carry_out(room, made.plan, at); !done) {
        if (!at.empty()) response.path = at;
        return failure(std::move(response), done.error());
    }
    response.remarks = room.files.take_remarks();
    for (const PlannedFile& file : made.plan.files) {
        if (file.after.size() <= settings_.max_file) continue;
        response.remarks.push_back("\"" + edit::displayed(file.path) + "\" now has " +
                                   too_large_for_edit(file.after.size(), settings_.max_file));
    }
    edit::tell(response, made.plan);
    const bool is_patch = response.action == edit::EditAction::kPatch;
    std::string text = response.message;
    if (is_patch) text = *report;
    if (!is_patch && !made.plan.files.empty()) text += "\n" + *report;
    return {false, std::move(text), std::move(response)};
}

Result<> Editing::begin(EditRoom& room) {
    TRY(room.files.lock());
    TRY(finish_killed_edits(room.operations, room.asker, room.files));
    return {};
}

EditAnswer Editing::edit(EditRoom& room, const edit::EditRequest& request) {
    if (auto begun = begin(room); !begun) return failure(edit::asked_for(request), begun.error());
    return finish(room, plan(room, request));
}

EditAnswer Editing::apply_unified(EditRoom& room, const std::string& patch, unsigned strip) {
    if (auto begun = begin(room); !begun)
        return failure(edit::asked_for(edit::PatchRequest{}), begun.error());
    return finish(room, edit::plan_diff(patch, strip, settings_, room.files, seen(room)));
}

edit::AnsweredPlan Editing::foresee(EditRoom& room, const edit::EditRequest& request) {
    edit::AnsweredPlan made = plan(room, request);
    if (made.response.status != edit::EditStatus::kOk) tell_who_changed(room, made.response);
    for (const PlannedFile& file : made.plan.files) {
        const auto may = room.files.may_write(file.path, left_by(file), /*ask=*/false);
        if (may) continue;
        made.response.path = file.path;
        edit::fail(made.response, may.error());
        break;
    }
    return made;
}

Result<EditPlan> Editing::foresee_undo(EditRoom& room) const {
    return entries_.foresee(kSession, room.files);
}

bool Editing::has_edit() const {
    return entries_.has(kSession);
}

Result<edit::Undone> Editing::undo(EditRoom& room) {
    if (!entries_.has(kSession))
        return Error(ErrorKind::kNothing, ENOENT, std::string(edit::kNothingToUndo));
    TRY(begin(room));
    undo_record_.token = room.files.token();
    const HeldSignals whole_or_nothing;
    RecordedUndo files(room, undo_record_);
    auto undone = entries_.undo(kSession, files);
    // The next mount takes back what is half done.
    if (!undone && has_lost_daemon(undone.error())) return explained(undone.error(), "Undo");
    if (!undone && undone.error().kind() == ErrorKind::kRecovery) {
        // What cannot be written again (no room, say) still lies in the journal.
        const auto whole = finish_killed_edits(room.operations, room.asker, room.files);
        if (!whole) return undone;
        return Error(ErrorKind::kSystem, undone.error().number(),
                     undone.error().message() + "\nIt was taken back from the journal.");
    }
    if (!undone) {
        ignore(files.end("took back a failed undo"),
               "without this step the next edit looks again, and finds nothing to take back");
        return explained(undone.error(), "Undo");
    }
    undone->remarks = room.files.take_remarks();
    for (const std::string& path : undone->paths)
        observed_.forget(path);
    if (auto ended = files.end("undid the edit of"); !ended) {
        if (has_lost_daemon(ended.error())) return explained(ended.error(), "Undo");
        return Error(
            ErrorKind::kRecovery, ended.error().number(),
            undone->report + "\nbut the journal could not note it: " + ended.error().message(),
            "the next edit takes it back if the journal has no end of it");
    }
    return undone;
}

}  // namespace unwrite::overlay
