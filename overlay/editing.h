// Editing: the tools Read, Edit and Undo of one session, carried out on the files of a mounted
// workspace. It keeps what the session has seen and its last edit; where the files are is told at
// each call, for a mount may end and begin again meanwhile. Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "edit/observed.h"
#include "edit/plan.h"
#include "edit/undo_entry.h"
#include "overlay/editing_files.h"
#include "overlay/editing_record.h"
#include "overlay/operations.h"

namespace unwrite::overlay {

/// Where an edit happens.
struct EditRoom {
    Operations& operations;
    EditFiles& files;
    Asker asker{};
};

struct ReadAnswer {
    std::string path{};
    std::string text{};       ///< the lines as they are in the file, endings too
    edit::LineRange lines{};  ///< which these are; {1, 0} for an empty file
    std::uint64_t line_count = 0;
    Digest hash{};           ///< of the whole file
    std::uint64_t size = 0;  ///< the same
    edit::Newline newline = edit::Newline::kLf;
};

/// "main.c: lines 3-9 of 120, newline_kind LF, file_hash sha256:..."
std::string facts_of(const ReadAnswer& answer);

struct EditAnswer {
    bool failed = false;
    std::string text{};  ///< what is shown: the diff, "No changes applied.", or the reason
    edit::EditResponse response{};  ///< the same for programs, in every outcome
};

/// A file that is read has at most this many bytes, whatever part of it is asked for.
inline constexpr std::uint64_t kMaxScan = std::uint64_t{2} << 20;

class Editing {
 public:
    /// With `must_read` only files can be edited that read() has answered with, and only lines of
    /// them that it has.
    Editing(edit::Settings settings, bool must_read) : settings_(settings), must_read_(must_read) {}

    const edit::Settings& settings() const { return settings_; }

    /// Lines of a text file, all of them when `lines` is empty. They count as read until
    /// somebody else writes to the file, be it the bytes that it has. Errors: those of
    /// EditFiles::look(); kNotFound; kUsage ("Path is a directory", a range beyond the file, not
    /// UTF-8, too large).
    Result<ReadAnswer> read(EditRoom& room, const std::string& path,
                            std::optional<edit::LineRange> lines);

    /// What the asker can do with what it read, in words: whether edit() would change it.
    std::string after_read(EditRoom& room, const ReadAnswer& answer) const;

    /// All of it or nothing; the answer says what went wrong. An edit of this session that changed
    /// anything becomes its Undo entry.
    EditAnswer edit(EditRoom& room, const edit::EditRequest& request);
    /// A unified diff.
    EditAnswer apply_unified(EditRoom& room, const std::string& patch, unsigned strip);

    /// What edit() would do now: the plan, and the answer if it is not kOk. Changes nothing and
    /// asks nobody.
    edit::AnsweredPlan foresee(EditRoom& room, const edit::EditRequest& request);
    /// What undo() would do now. Errors: those that it has before its first change.
    Result<edit::EditPlan> foresee_undo(EditRoom& room) const;
    /// Whether there is an edit to take back.
    bool has_edit() const;

    /// Takes the last edit back. Errors: those of edit::UndoEntries::undo().
    Result<edit::Undone> undo(EditRoom& room);

 private:
    edit::SeenCheck seen(EditRoom& room);
    /// `at`: the file that fails, where it is one.
    Result<> carry_out(EditRoom& room, const edit::EditPlan& plan, std::string& at);
    Result<> change(EditRoom& room, const edit::EditPlan& plan, std::size_t& done, std::string& at);
    std::vector<std::string> marks(EditRoom& room, const edit::EditPlan& plan) const;
    Error go_back(EditRoom& room, const edit::EditPlan& plan, const EditRecord& record,
                  std::size_t done, const Error& reason);
    void remember(EditRoom& room, const edit::EditPlan& plan,
                  const std::vector<std::string>& directories);
    Result<> begin(EditRoom& room);
    void tell_who_changed(EditRoom& room, edit::EditResponse& response) const;
    EditAnswer finish(EditRoom& room, edit::AnsweredPlan made);
    edit::AnsweredPlan plan(EditRoom& room, const edit::EditRequest& request);

    const edit::Settings settings_;
    const bool must_read_;
    edit::Observed observed_;
    edit::UndoEntries entries_;
    EditRecord undo_record_;  ///< of the entry
};

}  // namespace unwrite::overlay
