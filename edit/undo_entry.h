// What the tool `Undo` takes back: the last applied edit of a session, and nothing before it. The
// entry lives in memory and holds the bytes of before the edit until it is undone or replaced.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "edit/plan.h"

namespace unwrite::edit {

inline constexpr std::string_view kNothingToUndo =
    "No edits have been applied to any file with this session.";

/// The JSON schema of the tool's arguments: an object without fields.
std::string undo_schema();
/// Nothing can be asked of an Undo but to be done. Errors: kUsage, "Bad args: ...".
Result<> check_undo_arguments(std::string_view arguments);

struct UndoTarget {
    std::string path{};      ///< FileState::path at the time of the edit
    bool existed = false;    ///< before the edit; false: undo removes the file
    bool remains = true;     ///< after the edit; false: undo brings the file back
    std::string before{};    ///< bytes
    std::uint32_t mode = 0;  ///< st_mode's permission bits before the edit, when it existed
    Digest after{};          ///< of what the edit wrote
    std::vector<std::string> directories{};  ///< that the edit made on the way, the topmost first
};

/// The files that an Undo works on. Paths are those of the targets; all of them are checked again.
class UndoFiles {
 public:
    virtual ~UndoFiles() = default;
    /// May the path still be written, so that it holds `bytes` (null: so that it is removed)? Else
    /// an error whose text is "outside sandbox" or "denied pattern".
    virtual Result<> allowed(const std::string& path, const std::string* bytes) = 0;
    /// Without following a symbolic link; all bytes. Its error's message is the reason.
    virtual Result<FileState> look(const std::string& path) = 0;
    /// Makes sure of the room for a put() of the same, which is to come. Leaves the file alone.
    virtual Result<> prepare(const std::string& path, const std::string& bytes,
                             std::optional<std::uint32_t> mode) = 0;
    /// What was prepared is not wanted any more.
    virtual void drop_prepared() = 0;
    /// Puts `bytes` there, atomically; `mode` when given, else the mode stays. `expected` is what
    /// must be there at that moment (nothing: no file), else kConflict and nothing is done.
    virtual Result<> put(const std::string& path, const std::optional<Digest>& expected,
                         const std::string& bytes, std::optional<std::uint32_t> mode) = 0;
    /// Removes the file if it holds `expected`, else kConflict.
    virtual Result<> remove(const std::string& path, const Digest& expected) = 0;
    /// Removes the directory if it is empty; any other is left as it is.
    virtual Result<> remove_empty_directory(const std::string& path) = 0;
};

struct Undone {
    std::vector<std::string> paths{};    ///< in the order of the edit
    std::string report{};                ///< "Reverted 2 file(s):" and a line for each
    std::vector<std::string> remarks{};  ///< what became of links, owners and modes: sentences
};

/// At most one entry for each session. Not thread-safe.
class UndoEntries {
 public:
    /// After an edit has been carried out. One that changed no file leaves the entry as it is;
    /// otherwise the old entry, and the bytes it held, are dropped.
    void applied(const std::string& session, std::vector<UndoTarget> targets);
    void end_session(const std::string& session);
    bool has(const std::string& session) const { return entries_.contains(session); }
    /// Bytes that the entries of all sessions hold.
    std::uint64_t held() const;

    /// What undo() would do now, without doing it. Errors: those of its validation.
    Result<EditPlan> foresee(const std::string& session, UndoFiles& files) const;
    /// Takes the session's last edit back, all of it or nothing. Every target is validated before
    /// anything is changed: it is allowed, no directory, there, and holds what the edit wrote; and
    /// all files are prepared before the first is put in place.
    /// When a step fails, the steps before it are taken back. Clears the entry on success.
    /// Errors: kNothing with kNothingToUndo; else "<path>: <reason>", the reason being "outside
    /// sandbox", "denied pattern", "is a directory", "is not a regular file", "file missing",
    /// "file exists", "hash mismatch", or that of the failed step. kRecovery: what was begun could
    /// not be taken back; the text lists what is left.
    Result<Undone> undo(const std::string& session, UndoFiles& files);

 private:
    std::map<std::string, std::vector<UndoTarget>> entries_;
};

/// The targets of a plan that has been carried out.
std::vector<UndoTarget> targets_of(const EditPlan& plan);

}  // namespace unwrite::edit
