#include "journal/store.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/crash_point.h"
#include "journal/store_state.h"

namespace unwrite::journal {

namespace {

std::uint64_t to_number(std::int64_t value) {
    return static_cast<std::uint64_t>(value);
}

Error damaged(std::string_view what) {
    return Error(ErrorKind::kCorrupt, EIO, "read journal.db: " + std::string(what));
}

constexpr const char* kDatabase = "journal.db";
constexpr const char* kLog = "journal.db-wal";
// For several of our transactions, and for what they add to the database.
constexpr std::uint64_t kRoomInLog = std::uint64_t{256} << 10;
constexpr std::uint64_t kLeastInLog = std::uint64_t{32} << 10;  // for one of them
constexpr std::uint64_t kRoomBehind = std::uint64_t{128} << 10;
constexpr std::uint64_t kLeastRoom = std::uint64_t{16} << 10;
constexpr unsigned kChangesOfRoom = 32;  // after so many it is put by again
constexpr int kKeepSize = 1;             // FALLOC_FL_KEEP_SIZE

std::uint64_t free_bytes(int state) {
    const auto st = sys::statvfs_fd(state);
    return st ? static_cast<std::uint64_t>(st->f_bavail) * st->f_frsize : 0;
}

/// Blocks behind the end of a file: what it grows by needs none, then, of a full disk. Where that
/// is too much, a part of it.
void put_room_by(int file, std::uint64_t bytes) {
    const auto st = sys::stat_fd(file);
    if (!st) return;
    const auto end = static_cast<std::uint64_t>(st->st_size);
    for (; bytes >= kLeastRoom; bytes /= 2) {
        const Result<> had = sys::fallocate(file, kKeepSize, end, bytes);
        if (had || !sys::is_out_of_room(had.error())) return;
        // A full disk has given what it had.
        ignore(sys::truncate(file, end), "then less is left for others");
    }
}

}  // namespace

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}

Store::~Store() = default;

Result<std::unique_ptr<Store>> Store::open(int state, bool durable, bool create) {
    auto opened = std::make_unique<State>();
    TRY_ASSIGN(opened->directory, sys::duplicate(state));
    TRY_ASSIGN(opened->database, Database::open(opened->directory.get(), kDatabase));
    TRY_ASSIGN(opened->file, sys::open_at(state, kDatabase, O_RDWR));
    TRY_ASSIGN(const std::int64_t version, prepare_schema(opened->database, durable, create));
    opened->lacks_seals = version < 3;
    TRY(opened->prepare());
    TRY(opened->read_seals());
    const std::uint64_t free = free_bytes(state);
    // Where there is no log, SQLite has a rollback journal, and the ballast must do.
    if (const auto log = sys::open_at(state, kLog, O_RDWR))
        put_room_by(log->get(), std::clamp(free / 4, kLeastInLog, kRoomInLog));
    put_room_by(opened->file.get(), std::clamp(free / 8, kLeastRoom, kRoomBehind));
    return std::unique_ptr<Store>(new Store(std::move(opened)));
}

// Reading

Result<Store::State::Counters> Store::State::read_counters() {
    TRY(select_head.bind());
    TRY_ASSIGN(const bool row, select_head.step());
    Counters counters;
    if (row) {
        counters.head.root = to_number(select_head.number(0));
        counters.head.current = to_number(select_head.number(1));
        counters.head.open_delta = to_number(select_head.number(2));
        counters.head.redo_tip = to_number(select_head.number(3));
        counters.head.mode = select_head.text(4);
        counters.next_node = to_number(select_head.number(5));
        counters.next_delta = to_number(select_head.number(6));
    }
    select_head.rewind();
    if (!row) return damaged("it has no head");
    return counters;
}

Result<std::vector<Node>> Store::State::read_nodes(Statement& statement) {
    std::vector<Node> nodes;
    for (;;) {
        TRY_ASSIGN(const bool row, statement.step());
        if (!row) break;
        Node node;
        node.number = to_number(statement.number(0));
        node.parent = to_number(statement.number(1));
        const std::int64_t kind = statement.number(2);
        if (kind < 0 || kind > static_cast<std::int64_t>(NodeKind::kBegin)) {
            statement.rewind();
            return damaged("node " + std::to_string(node.number) + " is of no known kind");
        }
        node.kind = static_cast<NodeKind>(kind);
        node.name = statement.text(3);
        node.text = statement.text(4);
        node.time_ns = statement.number(5);
        node.origin = to_number(statement.number(6));
        node.delta = to_number(statement.number(7));
        node.down = statement.number(8) != 0;
        node.open = statement.number(9) != 0;
        nodes.push_back(std::move(node));
    }
    statement.rewind();
    return nodes;
}

Result<> Store::State::read_tags(Node& node) {
    TRY(select_tags.bind(node.number));
    for (;;) {
        TRY_ASSIGN(const bool row, select_tags.step());
        if (!row) break;
        node.tags[select_tags.text(0)] = select_tags.text(1);
    }
    select_tags.rewind();
    return {};
}

// All at once: each statement takes and gives back a lock of the file, and there may be thousands
// of nodes. `nodes` are sorted.
Result<> Store::State::read_all_tags(std::vector<Node>& nodes) {
    TRY(select_all_tags.bind());
    for (;;) {
        TRY_ASSIGN(const bool row, select_all_tags.step());
        if (!row) break;
        const auto number = to_number(select_all_tags.number(0));
        const auto node = std::lower_bound(
            nodes.begin(), nodes.end(), number,
            [](const Node& one, NodeNumber wanted) { return one.number < wanted; });
        if (node != nodes.end() && node->number == number)
            node->tags[select_all_tags.text(1)] = select_all_tags.text(2);
    }
    select_all_tags.rewind();
    return {};
}

Result<Head> Store::head() {
    TRY_ASSIGN(State::Counters counters, state_->read_counters());
    return std::move(counters.head);
}

Result<std::vector<Node>> Store::nodes() {
    TRY(state_->select_nodes.bind());
    TRY_ASSIGN(std::vector<Node> nodes, state_->read_nodes(state_->select_nodes));
    TRY(state_->read_all_tags(nodes));
    return nodes;
}

Result<Store::Known> Store::known() {
    if (!state_->known) {
        Known known;
        TRY_ASSIGN(known.head, head());
        TRY_ASSIGN(std::vector<Node> nodes, this->nodes());
        for (Node& node : nodes)
            known.nodes.put(std::move(node));
        state_->known = std::move(known);
    }
    return *state_->known;
}

Result<std::optional<Node>> Store::node(NodeNumber number) {
    TRY(state_->select_node.bind(number));
    TRY_ASSIGN(std::vector<Node> nodes, state_->read_nodes(state_->select_node));
    if (nodes.empty()) return std::optional<Node>();
    TRY(state_->read_tags(nodes.front()));
    return std::optional<Node>(std::move(nodes.front()));
}

Result<std::optional<Pending>> Store::pending() {
    Statement& statement = state_->select_pending;
    TRY(statement.bind());
    TRY_ASSIGN(const bool row, statement.step());
    if (!row) return std::optional<Pending>();
    const std::int64_t verb = statement.number(0);
    Pending pending;
    pending.verb = static_cast<Pending::Verb>(verb);
    pending.target = to_number(statement.number(1));
    pending.edge = to_number(statement.number(2));
    pending.inverse = to_number(statement.number(3));
    pending.applying = statement.number(4) != 0;
    statement.rewind();
    if (verb < 0 || verb > static_cast<std::int64_t>(Pending::Verb::kPurge)) {
        return damaged("the pending operation is of no known kind");
    }
    return std::optional<Pending>(pending);
}

Result<std::vector<Origin>> Store::origins() {
    Statement& statement = state_->select_origins;
    TRY(statement.bind());
    std::vector<Origin> origins;
    for (;;) {
        TRY_ASSIGN(const bool row, statement.step());
        if (!row) break;
        Origin origin;
        origin.number = to_number(statement.number(0));
        origin.uid = static_cast<std::uint32_t>(statement.number(1));
        origin.pid = statement.number(2);
        origin.executable = statement.text(3);
        origin.session = statement.text(4);
        origin.step = to_number(statement.number(5));
        origin.agent = statement.number(6) != 0;
        origin.time_ns = statement.number(7);
        origins.push_back(std::move(origin));
    }
    statement.rewind();
    return origins;
}

// Changing

/// Runs `body` in one transaction; whatever fails takes all of it back.
template <class Body>
auto Store::State::transaction(Body&& body) -> decltype(body()) {
    TRY(begin.run());
    auto result = body();
    if (result) {
        crash_point("store.commit.before");
        const auto committed = commit.run();
        if (committed) {
            crash_point("store.commit.after");
            return result;
        }
        result = committed.error();
    }
    ignore(database.execute("ROLLBACK"), "the first failure is the one to report");
    return result;
}

// What is in the log goes to the database, so that the log begins anew, in the room that it has.
template <class Attempt>
auto Store::State::in_any_room(Attempt&& attempt) -> decltype(attempt()) {
    auto result = attempt();
    if (result || !sys::is_out_of_room(result.error())) return result;
    // What fails here is found out by the attempt.
    sqlite3_wal_checkpoint_v2(database.get(), nullptr, SQLITE_CHECKPOINT_RESTART, nullptr, nullptr);
    // That cut off what is behind its end.
    put_room_by(file.get(), kRoomBehind);
    return attempt();
}

Result<OriginNumber> Store::add_origin(const Origin& origin) {
    const auto add = [&]() -> Result<OriginNumber> {
        State& s = *state_;
        TRY(s.insert_origin.run(origin.uid, origin.pid, origin.executable, origin.session,
                                origin.step, origin.agent, origin.time_ns));
        return to_number(sqlite3_last_insert_rowid(s.database.get()));
    };
    return state_->in_any_room([&] { return state_->transaction(add); });
}

Result<> Store::State::write_tags(const Node& node) {
    TRY(delete_tags.run(node.number));
    return add_tags(node);
}

Result<> Store::State::add_tags(const Node& node) {
    for (const auto& [key, value] : node.tags)
        TRY(insert_tag.run(node.number, key, value));
    return {};
}

Result<> Store::State::insert_node_row(const Node& node) {
    return insert_node.run(node.number, node.parent, static_cast<std::uint32_t>(node.kind),
                           node.name, node.text, node.time_ns, node.origin, node.delta, node.down,
                           node.open);
}

Result<> Store::State::update_node_row(const Node& node) {
    TRY(update_node.run(node.parent, static_cast<std::uint32_t>(node.kind), node.name, node.text,
                        node.time_ns, node.origin, node.delta, node.down, node.open, node.number));
    if (database.changes() != 1) {
        return Error(ErrorKind::kNotFound, ENOENT,
                     "update node n" + std::to_string(node.number) + ": there is none");
    }
    return {};
}

Result<> Store::State::remove_node(NodeNumber number) {
    TRY(delete_tags.run(number));
    return delete_node.run(number);
}

Result<> Store::State::write_pending(const std::optional<Pending>& pending) {
    TRY(delete_pending.run());
    if (!pending) return {};
    return insert_pending.run(static_cast<std::uint32_t>(pending->verb), pending->target,
                              pending->edge, pending->inverse, pending->applying);
}

Result<> Store::State::write_counters(const Counters& counters) {
    const Head& head = counters.head;
    return update_head.run(head.root, head.current, head.open_delta, head.redo_tip, head.mode,
                           counters.next_node, counters.next_delta);
}

/// `after` may be null: nobody keeps count of the nodes.
Result<> Store::State::apply_nodes(const Change& change, Counters& counters, Changed& changed,
                                   NodeTree* after) {
    if (change.remove_other_nodes) {
        TRY(delete_all_tags.run());
        TRY(delete_nodes.run());
        if (after != nullptr) *after = {};
    }
    for (Node node : change.add_nodes) {
        if (change.redo_tip_is_added_node && !changed.nodes.empty())
            node.parent = changed.nodes.front();
        const bool is_new = node.number == 0;
        if (is_new) node.number = counters.next_node;
        counters.next_node = std::max(counters.next_node, node.number + 1);
        changed.nodes.push_back(node.number);
        TRY(insert_node_row(node));
        TRY(is_new ? add_tags(node) : write_tags(node));
        if (after != nullptr) after->put(std::move(node));
    }
    for (const Node& node : change.update_nodes) {
        TRY(change.remove_other_nodes ? insert_node_row(node) : update_node_row(node));
        TRY(write_tags(node));
        if (after != nullptr) after->put(node);
    }
    for (const NodeNumber number : change.remove_nodes) {
        TRY(remove_node(number));
        if (after != nullptr) after->erase(number);
    }
    return {};
}

Result<Store::Changed> Store::State::apply(const Change& change, std::optional<Known>& after) {
    TRY_ASSIGN(Counters counters, read_counters());
    Changed changed;
    TRY(remove_unneeded_seals(change));
    TRY(add_seals(change.seals));
    TRY(apply_nodes(change, counters, changed, after ? &after->nodes : nullptr));
    if (change.head) counters.head = *change.head;
    if (change.take_delta_number || change.open_delta_is_new) {
        changed.delta = counters.next_delta++;
    }
    if (change.open_delta_is_new) counters.head.open_delta = changed.delta;
    if (change.current_is_added_node) {
        if (changed.nodes.empty()) return Error(ErrorKind::kUsage, EINVAL, "add no node");
        counters.head.current = changed.nodes.front();
    }
    if (change.redo_tip_is_added_node && !changed.nodes.empty())
        counters.head.redo_tip = changed.nodes.back();
    if (change.pending) TRY(write_pending(*change.pending));
    TRY(write_counters(counters));
    changed.head = counters.head;
    if (after) after->head = std::move(counters.head);
    return changed;
}

// What a failure has left in the database is read again.
Result<Store::Changed> Store::State::apply_once(const Change& change) {
    std::optional<Known> after = std::exchange(known, std::nullopt);
    auto changed = transaction([&] { return apply(change, after); });
    if (changed) known = std::move(after);
    if (changed && ++changes % kChangesOfRoom == 0) put_room_by(file.get(), kRoomBehind);
    if (!changed) ignore(read_seals(), "the first failure is the one to report");
    return changed;
}

Result<Store::Changed> Store::apply(const Change& change) {
    return state_->in_any_room([&] { return state_->apply_once(change); });
}

Result<> Store::begin_seals(const std::vector<DeltaSeal>& seals) {
    const Result<> begun = state_->transaction([&]() -> Result<> {
        TRY(state_->add_seals(seals));
        return state_->database.execute("PRAGMA user_version = 3");
    });
    if (begun) state_->lacks_seals = false;
    return begun;
}

Result<DeltaNumber> Store::next_delta() {
    TRY_ASSIGN(const State::Counters counters, state_->read_counters());
    return counters.next_delta;
}

Result<std::uint32_t> Store::identity() {
    TRY_ASSIGN(const std::int64_t number, state_->database.query_number("PRAGMA application_id"));
    return static_cast<std::uint32_t>(number);
}

Result<> Store::set_identity(std::uint32_t identity) {
    const std::string pragma = "PRAGMA application_id = " + std::to_string(identity);
    return state_->database.execute(pragma.c_str());
}

Result<std::vector<std::string>> Store::integrity_problems() {
    Statement statement;
    TRY(statement.prepare(state_->database.get(), "PRAGMA integrity_check(100)"));
    std::vector<std::string> problems;
    for (;;) {
        const auto row = statement.step();
        if (!row) {
            problems.push_back(row.error().message());
            break;
        }
        if (!*row) break;
        problems.push_back(statement.text(0));
    }
    if (problems.size() == 1 && problems.front() == "ok") problems.clear();
    return problems;
}

}  // namespace unwrite::journal
