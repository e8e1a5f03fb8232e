// What a workspace does about a full disk.
#include <cerrno>

#include "base/reflink.h"
#include "overlay/workspace.h"

namespace unwrite::overlay {

using journal::Ballast;
using journal::Store;

namespace {

/// For the rows, the log and the directories of a restore.
constexpr std::uint64_t kBeside = std::uint64_t{256} << 10;

std::string in_megabytes(std::uint64_t bytes) {
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

// Before anything is sealed: while the step is open, deleting what is new in it makes room.
Result<> Workspace::refuse_without_room(std::uint64_t copied) {
    Ballast& ballast = journal_->ballast();
    const std::uint64_t wanted = copied + kBeside;
    if (ballast.free() >= wanted) return {};
    ballast.give(Ballast::Part::kHalf);
    const std::uint64_t free = ballast.free();
    if (free >= wanted) return {};
    if (copied == 0) return {};                                        // the other half will do
    if (sys::can_share_blocks(journal_->state_dir().fd())) return {};  // copies take nothing
    ballast.fill(Ballast::When::kNow);
    return Error(ErrorKind::kSystem, ENOSPC,
                 "the disk is too full: what this changes is copied first, so that it can be "
                 "taken back, and needs " +
                     in_megabytes(wanted) + "; " + in_megabytes(free) +
                     " are free. Nothing was changed",
                 "make room and try again; `unwrite gc` drops states that nothing leads to");
}

// Small, and all that a restore, a commit or the end of a run hangs on.
Result<Store::Changed> Workspace::apply_in_any_room(const Store::Change& change) {
    Store& store = journal_->store();
    Result<Store::Changed> changed = store.apply(change);
    if (!changed && sys::is_out_of_room(changed.error()) &&
        journal_->ballast().give(Ballast::Part::kAll))
        changed = store.apply(change);
    return changed;
}

// Going back after a failure is what the other half is for.
void Workspace::make_room_after(const Error& why) {
    if (sys::is_out_of_room(why)) journal_->ballast().give(Ballast::Part::kAll);
}

}  // namespace unwrite::overlay
