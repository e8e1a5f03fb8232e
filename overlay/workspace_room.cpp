// What a workspace does about a full disk.
#include <cerrno>

#include "base/reflink.h"
#include "overlay/workspace.h"

namespace unwrite::overlay {

using journal::Ballast;
using journal::Store;

namespace {

/// For the log and the directories of a restore, and for what it must not fail for in the end.
constexpr std::uint64_t kLeast = std::uint64_t{20} << 10;

/// With less than that beside, some of the ballast is given up: it is put by again afterwards.
constexpr std::uint64_t kMargin = std::uint64_t{1} << 20;

std::string in_megabytes(std::uint64_t bytes) {
    if (bytes < 100'000) return std::to_string((bytes + 999) / 1000) + " kB";
    const std::uint64_t tenths = bytes / 100'000;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MB";
}

}  // namespace

// The sizes are those of the live state, and after each edge those that it leads to.
RoomNeeded Workspace::room_for(const Edges& edges) {
    RoomNeeded needed(locator_);
    for (const Edge& edge : edges) {
        needed.cross(edge.delta, journal::delta_bytes(journal_->state_dir().deltas(), edge.number));
    }
    return needed;
}

Error Workspace::too_full(std::uint64_t wanted) const {
    const Ballast& ballast = journal_->ballast();
    return Error(ErrorKind::kSystem, ENOSPC,
                 "the disk is too full: what this changes is noted first, so that it can be taken "
                 "back. That needs " +
                     in_megabytes(wanted) + ", and " +
                     in_megabytes(ballast.free() + ballast.held()) +
                     " are free. Nothing was changed",
                 "make room on this disk and try again: a file that is new since the newest step "
                 "in `unwrite log` frees its room at once when you delete it");
}

bool Workspace::has_room_for(std::uint64_t bytes) const {
    const Ballast& ballast = journal_->ballast();
    return ballast.free() + ballast.held() >= bytes;
}

// To a discard that was refused for want of room: what needs none, if that is so.
Error Workspace::name_purge(const Asker& asker, NodeNumber root, const Error& why) {
    const auto foreseen = foresee(asker, root, Detail::kRough);
    const std::lock_guard lock(operation_mutex_);
    if (!foreseen || foreseen->vanished || tree_.unseen().any() ||
        !has_room_for(foreseen->room.grown + foreseen->room.rows + kLeast))
        return why;
    return why.with_advice(why.advice() +
                           ". `unwrite discard --purge` needs no room, but cannot be taken back");
}

// Before anything is sealed: while the step is open, deleting what is new in it makes room.
Result<> Workspace::refuse_without_room(const RoomNeeded::Amount& needed) {
    Ballast& ballast = journal_->ballast();
    if (!ballast.has_inodes()) {
        return Error(ErrorKind::kSystem, ENOSPC,
                     "this disk can hold no more files, and what this changes is noted in files "
                     "first. Nothing was changed",
                     "delete some files on this disk and try again");
    }
    std::uint64_t wanted = needed.copied + needed.rows + kLeast;
    if (ballast.free() >= wanted + kMargin) return {};
    // There, copies take nothing.
    if (sys::can_share_blocks(journal_->state_dir().fd())) wanted -= needed.copied;
    ballast.give(Ballast::Part::kHalf);
    if (ballast.free() >= wanted) return {};
    if (has_room_for(wanted)) {
        ballast.give(Ballast::Part::kAll);
        return {};
    }
    ballast.fill(Ballast::When::kBack);
    return too_full(wanted);
}

// Small, and all that a restore, a commit or the end of a run hangs on.
Result<Store::Changed> Workspace::apply_in_any_room(const Store::Change& change) {
    Store& store = journal_->store();
    Result<Store::Changed> changed = store.apply(change);
    if (changed || !sys::is_out_of_room(changed.error())) return changed;
    if (journal_->ballast().give(Ballast::Part::kAll)) changed = store.apply(change);
    if (changed || !sys::is_out_of_room(changed.error())) return changed;
    return Error(ErrorKind::kSystem, ENOSPC,
                 "the disk is full: there is no room to note this in .unwrite/journal.db",
                 "delete something on this disk that is not in .unwrite, and try again");
}

// Going back after a failure is what the other half is for.
void Workspace::make_room_after(const Error& why) {
    if (sys::is_out_of_room(why)) journal_->ballast().give(Ballast::Part::kAll);
}

}  // namespace unwrite::overlay
