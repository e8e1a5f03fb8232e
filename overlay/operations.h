// Operations: what a person or a tool can ask of a workspace. Every door (socket, command line,
// later MCP) speaks this interface and nothing below it. It needs no mount: the command line uses
// it directly on a workspace that is not mounted, the daemon on the one it serves.
//
// Thread-safe; operations that move the live state run one at a time and close the gate only for
// their core. Errors by kind: kNothing (nothing to undo...), kConflict (listed in the text, nothing
// was changed), kNotFound (no such node or path), kUsage, kRecovery (wounded: only status, log,
// check, recover), kSystem (ENOSPC...), kCorrupt.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "journal/lost_found.h"
#include "journal/store.h"

namespace unwrite::overlay {

using journal::Node;
using journal::NodeKind;
using journal::NodeNumber;
using journal::Origin;
using journal::OriginNumber;

enum class ChangeKind { kCreated, kDeleted, kModified, kRenamed, kAttributes };

/// Which attributes differ, as bits. Times count where nothing was written.
enum Aspect : std::uint32_t {
    kAspectMode = 1U << 0U,
    kAspectOwner = 1U << 1U,
    kAspectAcl = 1U << 2U,
    kAspectXattrs = 1U << 3U,  ///< others than ACLs
    kAspectTime = 1U << 4U,
};

/// One difference between two states. Paths are relative to the root, bytes, no leading slash.
struct Change {
    ChangeKind kind = ChangeKind::kModified;
    std::string path;         ///< where it is in the newer state (the older one for kDeleted)
    std::string old_path;     ///< kRenamed: where it was
    std::uint32_t type = 0;   ///< S_IFMT bits (of the newer side; the older for kDeleted)
    std::uint64_t below = 0;  ///< kCreated/kDeleted directory: how many objects it holds below
    std::uint64_t bytes = 0;  ///< their size together, or the file's
    /// How many files it stands for, which is what every door counts. Whatever is not a directory
    /// is a file. A directory that came, went or was renamed stands for the files that came, went
    /// or moved with it and are not changes of their own, or for one when it holds none.
    std::uint64_t files = 1;
    std::uint64_t ignored = 0;          ///< of these, those in trees that git ignores (ignored.h)
    bool content = false;               ///< content differs
    bool attributes = false;            ///< mode, owner, mtime alone or xattrs differ
    std::uint32_t aspects = 0;          ///< which of them: Aspect
    std::vector<OriginNumber> origins;  ///< who changed it
};

struct LineCounts {
    std::uint64_t added = 0;
    std::uint64_t removed = 0;
};

struct Status {
    NodeNumber root = 0;
    NodeNumber current = 0;
    std::string checkpoint;  ///< name of the newest open named checkpoint on the trunk, else empty
    bool wounded = false;
    bool task_open = false;                   ///< anything to commit or discard since the root
    std::map<std::string, std::string> tags;  ///< of the node that the changes are counted from
    std::vector<Change> changes;  ///< since the root (or since what was asked), sorted by path
    /// Changed outside the mount since the task began: paths, sorted. Empty when something else
    /// than the root was asked.
    std::vector<std::string> outside;
    LineCounts lines;
    std::uint64_t lines_not_counted = 0;  ///< files of which no lines are counted: lines_left_out()
    /// Since the root (or since what was asked), as undo counts them: what is open is one.
    std::uint64_t steps = 0;
    /// So little is free that agents may not change what would have to be copied (reserve.h).
    bool out_of_room = false;
    /// In lost+found of the state directory, until gc() drops it (journal/lost_found.h).
    journal::Lost lost{};
    /// What cannot be taken back after a power cut: paths.
    std::vector<std::string> unproved{};
};

/// What a shell's prompt says of a task.
struct Counted {
    std::uint64_t files = 0;  ///< those that the changes of status("", …) stand for: files_in()
    bool wounded = false;
    bool out_of_room = false;
};

/// A node and, where it is one, the step that led to it (steps.h).
struct LogEntry {
    Node node;
    bool on_trunk = false;
    bool is_step = true;   ///< else it only keeps sessions apart, or marks a beginning
    bool nested = false;   ///< part of a run that has a step of its own
    bool undone = false;   ///< a later step took it back
    bool running = false;  ///< what an active run has changed so far; `node` is its beginning
    NodeNumber since = 0;  ///< the state before the step
    std::vector<Change> changes;  ///< of the step; filled when asked for
};

struct Log {
    std::vector<LogEntry> entries;  ///< newest first; without `all` only steps, and the root
    NodeNumber current = 0;
    NodeNumber root = 0;               ///< where the task began
    std::vector<Change> open_changes;  ///< since the newest step, but for those of active runs;
                                       ///< filled when asked for
    std::vector<Origin> origins;
};

struct FileDiff {
    Change change;
    bool binary = false;
    std::string text;  ///< unified diff with git's headers, no colour; empty for pure renames etc.
    LineCounts lines;
};

/// How far a restore may go. What others did, and what changed behind the mount, is said before it
/// is touched: whoever asks begins with kOwn and repeats with kAll once that is known.
enum class Consent {
    kNone,  ///< nothing is done, only described
    kOwn,   ///< as kNone when it takes along the work of others or what changed behind the mount
    kAll,
};

/// What a restore did, or would do.
struct Moved {
    NodeNumber from = 0;  ///< the node that now stands for the state before (0: nothing was done)
    NodeNumber to = 0;
    /// As seen from the state before: what the restore does to it. Only kNone compares contents and
    /// counts what is below a directory.
    std::vector<Change> changes;
    std::vector<Origin> others;  ///< whose work is taken along, beside the asker's own
    bool own = false;            ///< the asker's own is among it
    std::vector<std::string>
        behind;            ///< paths that changed behind the mount since they were captured
    bool can_redo = true;  ///< false: it led on, or nowhere, and redo does not reverse it
    /// Texts that others changed as well, in other lines: what they changed is still there.
    std::vector<std::string> merged;
    /// What was to be taken back and was not, because others changed it later.
    std::vector<std::string> left;
};

/// What is decided about parts of a task. Paths are relative to the root; each stands for what is
/// below it, too.
struct Decision {
    std::vector<std::string> keep{};       ///< as they are: nothing takes them back any more
    std::vector<std::string> take_back{};  ///< as at the root
    /// A text file of which only some changes are kept and the others taken back.
    struct Part {
        std::string path{};
        std::vector<std::uint64_t> hunks{};  ///< kept ones, as diff() has them, counted from 1
        std::string seen{};  ///< to_text() of the digest of the file that was looked at
    };
    std::vector<Part> parts{};
    std::string text{};  ///< for the log
};

/// What was decided, or would be.
struct Decided {
    NodeNumber from = 0;  ///< the state before, when anything was taken back (0: nothing was)
    NodeNumber current = 0;
    std::vector<Change> kept{};        ///< seen from the root
    std::vector<Change> taken_back{};  ///< seen from the live state before
    /// What is kept although it was not asked for, for the kept part hangs on it.
    struct Needed {
        std::string path{};
        std::string reason{};
    };
    std::vector<Needed> needed{};
    std::vector<Origin> others{};  ///< whose work is taken back, beside the asker's own
    std::uint64_t given_up = 0;    ///< abandoned states that held other versions of what is kept
};

struct Collected {
    std::uint64_t nodes = 0;
    std::uint64_t deltas = 0;
    std::uint64_t objects = 0;  ///< removed from the attic
    journal::Lost lost{};       ///< dropped from lost+found
};

struct Checked {
    std::vector<std::string> problems;
    std::vector<std::string> repaired;
    std::uint64_t nodes = 0, deltas = 0, records = 0, bytes = 0, attic_objects = 0;
    journal::Lost lost{};  ///< as of Status; no problem of the history that is there
};

/// Limits of gc; 0 means "no limit". Abandoned nodes go first, then (never the trunk's) nothing
/// else.
struct Retention {
    std::uint64_t max_age_seconds = 0;
    std::uint64_t max_abandoned = 0;
    std::uint64_t max_bytes = 0;
    bool drop_lost = false;  ///< not a limit: what is in lost+found goes, too
};

/// Who asks: the process at the other end of the socket, or this process.
struct Asker {
    std::uint32_t uid = 0;
    std::int64_t pid = 0;
    std::string session;  ///< UNWRITE_SESSION, may be empty
    /// What the asker calls the request: a JSON object of at most kMostOfCause bytes, or nothing.
    /// Kept with the steps that the request makes, as their tag kCauseTag.
    std::string cause{};
};
inline constexpr std::size_t kMostOfCause = 2000;
inline constexpr const char* kCauseTag = "by";

class Operations {
 public:
    virtual ~Operations() = default;

    /// Seals the open interval as a node: a kCheckpoint or a kStep of what is open, or a kBegin,
    /// before which what is open becomes a step of its own (a kStep with nothing open is hidden,
    /// too). kUsage for other kinds. O(1) in the tree and in the journal.
    virtual Result<Node> checkpoint(const Asker& asker, NodeKind kind, const std::string& name,
                                    const std::string& text) = 0;
    /// Registers `asker.pid` and its descendants as the agent of a new run. What was open becomes a
    /// step; the kBegin node that is returned is the state in which the run begins, and its number
    /// stands for the run. Its session is "run-<number>" unless asker.session names one. Where a
    /// run of exactly this process is going on, that run ends in the same moment, and its session
    /// is the default.
    virtual Result<Node> begin_run(const Asker& asker, const std::string& text) = 0;
    /// What the run changed becomes its step, a kRun node; no step where that is nothing.
    virtual Result<> end_run(NodeNumber run) = 0;

    /// `node`: "n12", a checkpoint's name (newest on the trunk, else newest anywhere), "root", or
    /// "" for the newest open checkpoint, named or not (kNotFound when there is none).
    virtual Result<Moved> rollback(const Asker& asker, const std::string& node, bool pop,
                                   Consent consent) = 0;
    /// The newest `count` steps as log() lists them, of any origin, or for an active run its own;
    /// those that changed nothing do not count. kNothing when there is none, kNotFound when there
    /// are fewer. What others changed at the same time stays.
    virtual Result<Moved> undo(const Asker& asker, unsigned count, Consent consent) = 0;
    /// One step ("n7"), or all that a session did ("run-5"): takes it back and keeps the rest;
    /// kConflict with the list when something else changed the same. kUsage for a checkpoint's
    /// name.
    virtual Result<Moved> revert(const Asker& asker, const std::string& what, bool dry_run) = 0;
    /// Reverses what went back last, be it undo(), rollback(), discard(), revert(), restore_paths()
    /// or decide(), and the `count` - 1 before that, if there are so many. What was changed since
    /// stays; kConflict where the two overlap. kNothing when nothing went back.
    virtual Result<Moved> redo(const Asker& asker, unsigned count, Consent consent) = 0;
    /// Back to the root. With `purge` nothing of the task remains to be redone.
    virtual Result<Moved> discard(const Asker& asker, bool purge, Consent consent) = 0;
    /// The live state becomes the root; the journal below it is dropped (or kept, `keep_history`).
    virtual Result<Node> commit(const Asker& asker, const std::string& text, bool keep_history) = 0;
    /// Parts of the task: some kept for good, some taken back, the rest still open. All of it or
    /// nothing. What cannot be kept alone is kept together (`needed`). kConflict, with nothing
    /// done, where the two cannot be had together, and where a file changed since it was looked at;
    /// kNotFound for a path that neither state has; kNothing when nothing changed there. What was
    /// taken back is the abandoned node `from`, where redo leads.
    virtual Result<Decided> decide(const Asker& asker, const Decision& decision, bool dry_run) = 0;
    /// Only these paths (and what is below) as they are in `node`; captured as changes of the open
    /// interval, so that undo takes it back. kNotFound for a path that neither state has.
    virtual Result<Moved> restore_paths(const Asker& asker, const std::vector<std::string>& paths,
                                        const std::string& node, bool dry_run) = 0;

    /// `since`: a node as in rollback, "" for the root. `count_lines` costs reading the changed
    /// files.
    virtual Result<Status> status(const std::string& since, bool count_lines) = 0;
    /// For who asks after every command: costs what was changed since the last call, not what the
    /// task changed, where that can be told apart. What changed behind the mount may be missed
    /// until somebody asks for the status.
    virtual Result<Counted> count() = 0;
    /// Everything (`all`: abandoned nodes too); with `path` only nodes that changed it or below;
    /// `changes` fills them.
    virtual Result<Log> log(const std::string& path, bool all, bool changes) = 0;
    /// The state that log() marks as the present one: the newest step on the trunk that it lists.
    /// Costs nothing but reading the history.
    virtual Result<NodeNumber> marked() = 0;
    /// The nodes on the way from `from` (0: the newest one) up to the root, at most `most`: costs
    /// what it answers with, however many nodes there are. kNotFound when `from` is none.
    virtual Result<std::vector<Node>> trunk(NodeNumber from, std::size_t most) = 0;
    /// From node `from` ("" = root) to node `to` ("" = the live state); only below `paths` when
    /// given. "n7^" is the state before step n7, and from "n7^" to "n7" is what log() shows of it.
    virtual Result<std::vector<FileDiff>> diff(const std::string& from, const std::string& to,
                                               const std::vector<std::string>& paths,
                                               bool text) = 0;

    /// One for each path; empty for what is no regular file. As long as it stays the same, the same
    /// file stands there and nobody wrote to it, be it the bytes that it has: no program, through a
    /// mapping neither, and no restore. No mark outlives the mount.
    virtual Result<std::vector<std::string>> marks(const std::vector<std::string>& paths) = 0;

    virtual Result<Collected> gc(const Retention& retention) = 0;
    virtual Result<Checked> check(bool repair) = 0;
    /// Finishes what was begun (also done by Session::open); clears the wound when that succeeds.
    virtual Result<> recover() = 0;
};

}  // namespace unwrite::overlay
