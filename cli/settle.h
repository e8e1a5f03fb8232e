// What becomes of a task: the questions after a run and at a mount that finds one unfinished, and
// the saying of what a restore did or would do.
#pragma once

#include <string>

#include "cli/context.h"
#include "cli/git_words.h"
#include "cli/workspace.h"

namespace unwrite::cli {

enum class Ending { kAsk, kKeep, kCommit, kDiscard };

/// `option`: whose word it is, for the error: "run: --on-exit".
Result<Ending> parse_ending(const std::string& option, const std::string& word);

/// Which changes the question is about, and what discarding them means.
struct Question {
    std::string since;       ///< the changes since this node are shown; "" for the root
    std::string discard_to;  ///< discarding is a rollback to this node; "" for the whole task
    std::string choices;     ///< "[C]ommit  [D]iscard  [R]eview", to which "[K]eep" is added
    /// Whose work the question is about: discarding it takes along nobody else's. "" for the whole
    /// task.
    std::string session;
};

/// Does what `ending` says; kAsk asks on a terminal and keeps (saying how to go on) elsewhere.
/// False when nobody answered: there is no terminal, its input ended, or Ctrl-C was pressed.
Result<bool> settle(Context& context, Workspace& workspace, Ending ending,
                    const Question& question);

/// Whether a daemon was killed in this task and nobody has answered since. `status`: since the
/// root.
bool was_interrupted(const overlay::Status& status);
/// Says that a task is open which an earlier mount left, when there is one. False: there is none.
Result<bool> tell_unfinished(Context& context, Workspace& workspace);
/// The same, and its question. Once somebody has answered, the task no longer counts as
/// interrupted.
Result<> settle_unfinished(Context& context, Workspace& workspace, Ending ending);

/// What a command that goes back has done, or would do: "Undid 1 step", "undo 1 step".
struct Said {
    std::string done;
    std::string would;
    bool can_redo = true;  ///< the last line says that redo reverses it
    bool is_return =
        false;  ///< to a state that was named, so the last line says which one was left
    overlay::Operations* marked_by = nullptr;  ///< whose log says how the state is called
};
/// What a restore did, or would do: as JSON or as text.
void print_moved(Context& context, const overlay::Moved& moved, const Said& said, bool dry_run);
/// What going back did to the git repository of the workspace: branch, HEAD, index, stash.
class GitBefore {
 public:
    explicit GitBefore(const Workspace& workspace);
    /// One line after a restore, nothing where git stands as before, or with --json.
    void print_difference(Context& context) const;

 private:
    std::string root_;
    git::GitState before_;
};
/// Which files an undo would put together with others' changes, and which it would leave.
void print_kept(Output& to, const overlay::Moved& moved);
/// Whose work beside the asker's a restore takes along, and what changed behind the mount. On
/// notes.
void warn_of_moved(Context& context, const overlay::Moved& moved);
/// The second half of it.
void warn_of_behind(Context& context, const overlay::Moved& moved);

/// Whether what was changed outside the mount goes as well: a terminal is asked once it was listed,
/// and without one it is kConflict. kGoesToo: the user has said so.
enum class Outside { kIsAsked, kGoesToo };

/// Acts, or only says what would happen. The work of others and what changed behind the mount is
/// said before it is taken along. `act` is one of rollback, undo, redo and discard.
using Act = std::function<Result<overlay::Moved>(overlay::Consent consent)>;
Result<overlay::Moved> announce_and_act(Context& context, const Act& act,
                                        Outside outside = Outside::kIsAsked);
Result<int> restore(Context& context, bool dry_run, const Said& said, const Act& act,
                    Outside outside = Outside::kIsAsked);

}  // namespace unwrite::cli
