// The journal: the durable memory of one workspace. What it promises, and what the rest of the
// program keeps with its help:
//
//  1. Nothing in the workspace changes unless what it was is in the journal: blob written, row
//  committed,
//     then the live change.
//  2. First capture in an interval wins; later ones are no-ops.
//  3. Any prefix of the journal's writes, after kill -9 at any instruction, restores every node
//  exactly:
//     names, types, bytes, holes' contents, mode, owner, mtime (ns), xattrs and ACLs, symlink
//     targets, hard-link sharing.
//  4. Restore and commit are marked durably before they begin, are idempotent, and are finished by
//     recovery: never half.
//  5. With durability "power" the same holds after a power cut (ordered fsync, group-committed);
//  the
//     default "ordered" survives any crash of the program or of a client, and after a power cut
//     names what it can no longer prove, and refuses it (journal/watermark.h).
//  6. One writer per state directory (a lock file); readers of the journal any time.
//  7. The state directory is never visible through the mount, never captured, and never trusted
//  without
//     checking (version, integrity).
//  8. A restore never deletes what it did not see created, never follows a symlink, and reports
//  what it
//     will do before it does it.
//  9. Changes that reach the workspace behind the mount are noticed (size, times, hash) at restore:
//  undo
//     refuses, rollback and discard list them first.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "journal/attic.h"
#include "journal/ballast.h"
#include "journal/checksums.h"
#include "journal/delta_log.h"
#include "journal/lost_found.h"
#include "journal/places.h"
#include "journal/state_dir.h"
#include "journal/store.h"
#include "journal/watermark.h"

namespace unwrite::journal {

/// What check() saw. The journal is sound when `problems` is empty.
struct CheckReport {
    std::vector<std::string> problems;
    std::uint64_t deltas = 0;
    std::uint64_t records = 0;
    std::uint64_t bytes = 0;  ///< of the deltas' files, holes included
    std::uint64_t attic_objects = 0;
};

/// The parts of the state directory, opened together. The parts but the store are thread-safe;
/// whoever uses the store holds store_mutex(), as the calls below do themselves.
class Journal {
 public:
    struct Options {
        bool create = false;   ///< make what is missing
        bool durable = false;  ///< durability "power": the store syncs at every commit
        bool lock = true;  ///< take the writer's lock first (invariant 6); a mere reader says false
        bool ordered = false;  ///< durability "ordered": nothing is removed before the store's rows
                               ///< that make it unneeded are on the disk
    };
    /// `workspace` is an open directory; it is duplicated. Errors as of StateDir::open,
    /// StateDir::lock and Store::open; kRefused when the journal is of a directory of which this is
    /// a copy, and has anything to take back; kRecovery when the database is not the one that the
    /// rest of the state directory belongs to: missing, empty, of another one, or an older copy.
    /// The first writer after an unclean end (base/boot_mark.h) moves what nothing claims to
    /// lost+found.
    static Result<std::unique_ptr<Journal>> open(int workspace, Options options);

    StateDir& state_dir() { return state_dir_; }
    Store& store() { return *store_; }
    Attic& attic() { return *attic_; }
    Places& places() { return *places_; }
    Ballast& ballast() { return ballast_; }
    Checksums& checksums() { return *checksums_; }
    std::mutex& store_mutex() { return store_mutex_; }

    /// What this opening moved to lost+found.
    const Lost& lost() const { return lost_; }
    /// A power cut came before this opening, in a life with durability "ordered". Until settled()
    /// every opening says so.
    const std::optional<Cut>& cut() const { return cut_; }
    Result<> settled();

    /// After an unclean end it could not be told what the journal claims, because a delta is
    /// damaged: nothing may be removed on the strength of what nothing mentions.
    bool is_unproved() const { return unproved_; }

    /// Reads a delta whole, and compares it with its seal when its interval has ended. kCorrupt
    /// where the log is missing, shorter or another one, or captured bytes are missing.
    Result<Delta> read_delta(DeltaNumber number);
    /// What stays the log of an edge, or takes its place, as its seal; for replace_objects().
    NoteSeal note_seals();
    /// The deltas that a node, the open interval or the pending operation refers to.
    Result<std::set<DeltaNumber>> referenced_deltas();
    /// The objects that any of those mentions: what the attic must keep.
    Result<std::set<ObjectKey>> mentioned_by_all_deltas();
    /// Before something is removed because the store does not need it any more.
    Result<> sync_before_removal() { return ordered_ ? store_->sync() : Result<>(); }
    /// Removes the files of all other deltas; none while is_unproved(). For the writer, while no
    /// delta is being begun.
    Result<> remove_unreferenced_deltas();
    /// Reads everything there is and reports what does not fit. An error only when it cannot look
    /// at all.
    Result<CheckReport> check();
    /// Reads all captured bytes that have checksums; takes as long as they are many. While the
    /// writer goes on. What is damaged, in words.
    Result<std::vector<std::string>> check_captured();

 private:
    explicit Journal(StateDir state_dir)
        : state_dir_(std::move(state_dir)), ballast_(state_dir_.fd()) {}
    Result<> check_root(bool writes);
    Result<bool> is_bare();  ///< nothing to take back
    Result<bool> check_database();
    Result<> check_identity(bool writes);
    Result<> check_age(bool same_boot);
    Result<> look_at_cut();
    Result<> trim_after_cut();
    Result<> take_unclaimed();
    Result<> settle(const std::string& mark);
    Result<> drop_old_checksums();
    Result<> seal_old_deltas();
    /// Nothing for a delta that is not sealed yet.
    Result<std::optional<std::vector<DeltaSeal>>> seals_of(DeltaNumber number);

    UniqueFd workspace_;
    StateDir state_dir_;
    Ballast ballast_;
    std::unique_ptr<Store> store_;
    std::unique_ptr<Attic> attic_;
    std::unique_ptr<Places> places_;
    std::unique_ptr<Checksums> checksums_;
    std::mutex store_mutex_;
    bool ordered_ = false;
    Lost lost_;
    std::optional<Cut> cut_;
    std::string boot_mark_;  // to be written by settled()
    bool unproved_ = false;
};

}  // namespace unwrite::journal
