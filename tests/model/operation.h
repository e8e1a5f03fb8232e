// One operation of a random run: all that is needed to do it again, so that a run is a list of
// them.
#pragma once

#include <string>
#include <vector>

#include "tests/support/actor.h"

namespace unwrite::tests {

enum class Kind {
    // Done by an actor.
    kCreate,
    kMkdir,
    kMknod,
    kSymlink,
    kLink,
    kRename,
    kUnlink,
    kRmdir,
    kTemporary,
    kWrite,
    kAppend,
    kTruncate,
    kFallocate,
    kCopy,
    kChmod,
    kChown,
    kUtimens,
    kSetXattr,
    kRemoveXattr,
    kHold,
    kDrop,
    kWriteHeld,
    kTruncateHeld,
    kChmodHeld,
    kCreateBelowHeld,
    // Moves of the live state.
    kCheckpoint,
    kRollback,
    kUndo,
    kRedo,
    kDiscard,
    kCommit,
    kGc,
    kCheck,
    kReopen,
    kRevert,
    kRestorePath,
    kLook,
    kDecide,         ///< keeps `a` for good and takes `b` back
    kRevertToState,  ///< of category `a`, to the node of number x
    kPack,           ///< compresses what is sealed, worth it or not
};

struct Operation {
    Kind kind = Kind::kCheck;
    std::string a{};      ///< the path it is about
    std::string b{};      ///< a second path, a symlink's target, an xattr's name
    std::uint64_t x = 0;  ///< offset, size, mode, time, slot...: see apply()
    std::uint64_t y = 0;
    std::uint64_t z = 0;
    bool agent = false;  ///< in the name of the agent's process
};
using Operations = std::vector<Operation>;

inline bool is_change(Kind kind) {
    return kind < Kind::kCheckpoint;
}

/// Does one that is_change(); 0 or an errno.
int apply(Actor& actor, const Operation& operation);

/// One line.
std::string text_of(const Operation& operation);
std::string text_of(const Operations& operations);

/// `size` bytes that depend on `seed` alone.
std::string random_bytes(std::uint64_t seed, std::size_t size);
/// The n-th of some values for ACLs, in the kernel's form.
std::string some_acl(std::uint64_t n);

}  // namespace unwrite::tests
