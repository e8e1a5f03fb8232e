// Moves: a session under random operations, with a snapshot kept for every node. Whenever a move
// says that the live state is at a node, the live tree must equal that node's snapshot exactly.
#pragma once

#include <map>
#include <optional>

#include "tests/model/operation.h"
#include "tests/support/world.h"

namespace unwrite::tests {

class Moves {
 public:
    Moves(const std::string& directory, pid_t agent);

    /// Does one operation. What is wrong, or "".
    std::string step(const Operation& operation);
    std::size_t snapshots() const { return snapshots_.size(); }

 private:
    using Node = journal::NodeNumber;
    std::string act(const Operation& operation);
    std::string change(const Operation& operation);
    std::string checkpoint(const Operation& operation);
    std::string rollback(const Operation& operation);
    std::string discard(bool purge);
    std::string commit(bool keep_history);
    std::string gc(std::uint64_t limits);
    std::string check();
    std::string reopen();
    std::string revert(const Operation& operation);
    std::string restore_path(const Operation& operation);
    std::string look(const Operation& operation);

    /// The end of every restore: `before` is what `moved.from` was, and the live state is what
    /// `moved.to` is.
    std::string arrived(const Result<overlay::Moved>& moved, const Snapshot& before,
                        const char* verb);
    /// `node` is this state: remembered, or compared with what is remembered.
    std::string is(Node node, const Snapshot& state, const char* why);
    std::vector<journal::Node> nodes();
    void forget_gone_nodes();
    std::string begin_session();

    World world_;
    pid_t agent_;
    std::map<Node, Snapshot> snapshots_;
    std::uint64_t names_ = 0;
};

}  // namespace unwrite::tests
