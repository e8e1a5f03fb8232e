// The tree of states in SQLite: nodes, origins, the pending operation. SQLite is used here alone,
// never on the path of a read or a write of the mount. The database is opened through a VFS of our
// own, because SQLite's resolves "/proc/self/fd/N/journal.db" to a path that leads into the mount
// (xFullPathname keeps the string).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "journal/node_tree.h"
#include "journal/seals.h"

namespace unwrite::journal {

struct Origin {
    OriginNumber number = 0;
    std::uint32_t uid = 0;
    std::int64_t pid = 0;
    std::string executable{};  ///< bytes; as /proc/<pid>/exe says
    std::string session{};     ///< "user", "run-<id>", or what UNWRITE_SESSION names
    NodeNumber step = 0;       ///< the node made for the run, 0 for the user
    bool agent = false;
    std::int64_t time_ns = 0;
};

/// What was begun and must be finished by recovery.
struct Pending {
    enum class Verb { kRestore, kCommit, kPurge } verb = Verb::kRestore;
    NodeNumber target = 0;  ///< restore: where to; commit: unused
    NodeNumber edge = 0;    ///< restore: the node whose edge is being crossed, 0 between two
    DeltaNumber inverse =
        0;  ///< restore: the delta that becomes the edge's when the crossing is done
    bool applying = false;  ///< the inverse is complete; the live state is being changed
};

/// Everything about the live state that is not a node.
struct Head {
    NodeNumber root = 0;
    NodeNumber current = 0;      ///< the node that the open interval began at
    DeltaNumber open_delta = 0;  ///< of the open interval (images of `current`)
    NodeNumber redo_tip = 0;  ///< the node that undo/rollback/discard came from, 0: nothing to redo
    std::string
        mode{};  ///< "idle", "task" (anything since the root?) and the like; free text of overlay
};

/// Not thread-safe: the journal serialises. Every call is one transaction, complete for any crash
/// of the process; `durable` stores also fsync at each. Errors: kCorrupt (not a database, damaged),
/// kRecovery (newer version: the text names both versions), kSystem (disk full: ENOSPC, and so on).
class Store {
 public:
    /// `state` is the open state directory. A fresh store has one node, the root n1, and an open
    /// delta 1.
    /// Without `create` a database without tables is kCorrupt.
    static Result<std::unique_ptr<Store>> open(int state, bool durable, bool create = true);
    ~Store();

    Result<Head> head();
    Result<std::vector<Node>> nodes();  ///< ordered by number, out of the database
    /// Both as the one writer knows them: read once, and kept as its own changes leave them.
    struct Known {
        Head head{};
        NodeTree nodes{};
    };
    Result<Known> known();
    Result<std::optional<Node>> node(NodeNumber number);
    Result<std::optional<Pending>> pending();
    Result<std::vector<Origin>> origins();
    /// Numbers are never used again.
    Result<OriginNumber> add_origin(const Origin& origin);

    /// A batch of changes in one transaction.
    struct Change {
        std::vector<Node> add_nodes{};  ///< `number` 0: taken from the counter, in order
        std::vector<Node> update_nodes{};
        std::vector<NodeNumber> remove_nodes{};
        std::vector<DeltaSeal> seals{};   ///< beside those that a delta has
        bool remove_other_nodes = false;  ///< all that are neither added nor updated
        std::optional<Head> head{};
        std::optional<std::optional<Pending>> pending{};  ///< engaged with nullopt: clear it
        bool take_delta_number = false;                   ///< a new DeltaNumber is returned
        bool current_is_added_node = false;  ///< head.current := the first added node's number
        /// The last added node is a child of the first one, and head.redo_tip := its number.
        bool redo_tip_is_added_node = false;
        bool open_delta_is_new = false;  ///< head.open_delta := the new delta's number
    };
    struct Changed {
        std::vector<NodeNumber> nodes{};
        DeltaNumber delta = 0;
        Head head{};  ///< as it is now
    };
    Result<Changed> apply(const Change& change);

    /// What the logs of a delta may be; empty for one that is not sealed. Out of memory.
    std::vector<DeltaSeal> seals(DeltaNumber delta) const;
    /// A state directory of an older program has no seals until this.
    bool lacks_seals() const;
    Result<> begin_seals(const std::vector<DeltaSeal>& seals);

    /// All that was changed so far survives a power cut from here on. From any thread, also while
    /// the store is used.
    Result<> sync();

    /// The number that will be given out next: no file of a delta has it, or a higher one.
    Result<DeltaNumber> next_delta();
    /// Which state directory it belongs to; 0 until that was set.
    Result<std::uint32_t> identity();
    Result<> set_identity(std::uint32_t identity);

    /// SQLite's own integrity check; empty when all is well.
    Result<std::vector<std::string>> integrity_problems();

 private:
    struct State;
    explicit Store(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// Rows that this thread has read out of databases, so that a test can show that a call reads few.
std::uint64_t rows_read();

}  // namespace unwrite::journal
