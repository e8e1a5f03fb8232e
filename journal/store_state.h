// What store.cpp and store_schema.cpp share: the connection and its statements.
#pragma once

#include "base/syscalls.h"
#include "base/unique_fd.h"
#include "journal/sqlite.h"
#include "journal/store.h"

namespace unwrite::journal {

/// Makes the tables of a fresh database, checks the version of an old one, sets how commits are
/// made. The version: 2 where there are no seals yet.
Result<std::int64_t> prepare_schema(Database& database, bool durable, bool may_create);

struct Store::State {
    /// The one row of `head`.
    struct Counters {
        Head head;
        NodeNumber next_node = 0;
        DeltaNumber next_delta = 0;
    };

    Result<> prepare();
    Result<Counters> read_counters();
    Result<std::vector<Node>> read_nodes(Statement& statement);
    Result<> read_tags(Node& node);
    Result<> read_all_tags(std::vector<Node>& nodes);

    template <class Body>
    auto transaction(Body&& body) -> decltype(body());
    /// Once more in the room that the log has already, where the disk has none.
    template <class Attempt>
    auto in_any_room(Attempt&& attempt) -> decltype(attempt());
    Result<Changed> apply_once(const Change& change);
    Result<Changed> apply(const Change& change, std::optional<Known>& after);
    Result<> apply_nodes(const Change& change, Counters& counters, Changed& changed,
                         NodeTree* after);
    Result<> insert_node_row(const Node& node);
    Result<> update_node_row(const Node& node);
    Result<> remove_node(NodeNumber number);
    Result<> write_tags(const Node& node);
    Result<> add_tags(const Node& node);
    Result<> write_pending(const std::optional<Pending>& pending);
    Result<> write_counters(const Counters& counters);
    Result<> read_seals();
    Result<> add_seals(const std::vector<DeltaSeal>& added);
    Result<> remove_unneeded_seals(const Change& change);

    std::optional<Known> known;
    std::unordered_map<DeltaNumber, std::vector<DeltaSeal>> seals;
    bool lacks_seals = false;
    unsigned changes = 0;
    UniqueFd directory;  // the database's path goes through it
    UniqueFd file;       // closed after the database: to close it before would give up its lock
    Database database;   // after it, the statements: they are finalized first
    Statement begin, commit;
    Statement select_head, update_head;
    Statement select_nodes, select_node, insert_node, update_node, delete_node, delete_nodes;
    Statement select_tags, select_all_tags, insert_tag, delete_tags, delete_all_tags;
    Statement select_pending, insert_pending, delete_pending;
    Statement select_origins, insert_origin;
    Statement select_seals, insert_seal, delete_seals, select_edge;
};

}  // namespace unwrite::journal
