// What the journal knows of an edit: a hidden node where it begins, whose text says what the edit
// is about to do, and a step where it ends (hidden as well, when nothing was changed). An edit that
// was killed in between is found by the first alone and taken back from the journal, so that it is
// there wholly or not at all (docs/decisions/0007-edits-are-whole.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "overlay/editing_files.h"
#include "overlay/operations.h"

namespace unwrite::overlay {

struct EditRecord {
    struct File {
        std::string path{};             ///< FileState::path
        std::optional<Digest> after{};  ///< nothing: the file is gone then
        bool existed = false;
        std::uint64_t size = 0;  ///< afterwards
    };
    std::string token{};  ///< of the temporary names, and of the step at the end
    std::vector<File> files{};
    std::vector<std::string> directories{};  ///< that the edit makes, the topmost first
};

/// "edit a, b {...}"; and back, nothing for any other text.
std::string record_text(const std::string& verb, const EditRecord& record);
std::optional<EditRecord> record_of(std::string_view text);

/// What people read of a step's text: it without the record of an edit.
std::string words_of_step(std::string_view text);

/// What was open becomes a step of its own, and the edit's begins. Errors: kUsage when the edit has
/// too many files to be recorded; those of Operations::checkpoint().
Result<> begin_edit(Operations& operations, const Asker& asker, const std::string& verb,
                    const EditRecord& record);
/// Who wrote the newest change of a file that the journal has, in words for the asker: "this
/// connection", "run-3 (vim)", "the user (git)". Empty when that is not known.
std::string last_writer(Operations& operations, const Asker& asker, const std::string& path);

/// After an edit, done or taken back: what it changed becomes its step.
Result<> end_edit(Operations& operations, const Asker& asker, const EditRecord& record,
                  const std::string& outcome);

/// Takes back what killed edits left half done: each file that holds what its edit wrote becomes
/// what it was, and keeps what was appended since. A file that somebody changed in another way
/// stays, and so does what another session than the edit's has changed. The caller holds
/// EditFiles::lock(), so that no edit is on its way; `files` may be below the mount or the raw
/// directory. Answers with the paths that were taken back.
Result<std::vector<std::string>> finish_killed_edits(Operations& operations, const Asker& asker,
                                                     EditFiles& files);

}  // namespace unwrite::overlay
