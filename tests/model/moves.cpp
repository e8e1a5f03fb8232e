#include "tests/model/moves.h"

#include <unistd.h>

#include <stdexcept>

#include "tests/support/packing.h"

namespace unwrite::tests {

namespace {

std::string says(const char* verb, const Error& error) {
    return std::string(verb) + ": " + error.message();
}

}  // namespace

Moves::Moves(const std::string& directory, pid_t agent) : world_(directory), agent_(agent) {
    const std::string wrong = begin_session();
    if (!wrong.empty()) throw std::runtime_error(wrong);
}

std::string Moves::begin_session() {
    const auto status = world_.operations().status("", false);
    if (!status) return says("status", status.error());
    const Snapshot now = world_.look();
    std::string wrong = is(status->current, now, "after open");
    if (!wrong.empty()) return wrong;
    overlay::Asker asker = World::asker();
    asker.pid = agent_;
    const auto run = world_.operations().begin_run(asker, "a run");
    if (!run) return says("begin_run", run.error());
    return is(run->number, now, "begin_run");
}

std::string Moves::is(Node node, const Snapshot& state, const char* why) {
    const auto [entry, fresh] = snapshots_.emplace(node, state);
    if (fresh) return {};
    const std::string wrong = difference(entry->second, state);
    if (wrong.empty()) return {};
    return std::string(why) + ": n" + std::to_string(node) + " was a, is b:\n" + wrong;
}

std::vector<journal::Node> Moves::nodes() {
    const auto log = world_.operations().log("", true, false);
    if (!log) throw std::runtime_error(says("log", log.error()));
    std::vector<journal::Node> all;
    for (const auto& entry : log->entries)
        all.push_back(entry.node);
    return all;
}

void Moves::forget_gone_nodes() {
    std::map<Node, Snapshot> kept;
    for (const auto& node : nodes()) {
        if (auto entry = snapshots_.extract(node.number)) kept.insert(std::move(entry));
    }
    snapshots_ = std::move(kept);
}

std::string Moves::arrived(const Result<overlay::Moved>& moved, const Snapshot& before,
                           const char* verb) {
    const Snapshot now = world_.look();
    if (!moved) {
        // There may be fewer steps, and an agent's may meet the user's.
        const ErrorKind kind = moved.error().kind();
        if (kind != ErrorKind::kNothing && kind != ErrorKind::kNotFound &&
            kind != ErrorKind::kConflict)
            return says(verb, moved.error());
        const std::string wrong = difference(before, now);
        return wrong.empty() ? ""
                             : std::string(verb) +
                                   " said that there is nothing, but changed a to b:\n" + wrong;
    }
    if (!moved->behind.empty())
        return std::string(verb) + ": says that something changed behind the mount: " +
               printable(moved->behind.front());
    std::string wrong = is(moved->from, before, verb);
    if (!wrong.empty()) return "(where it came from) " + wrong;
    return is(moved->to, now, verb);
}

std::string Moves::change(const Operation& operation) {
    overlay::Caller caller;
    caller.pid = operation.agent ? agent_ : ::getpid();
    world_.actor().set_caller(caller);
    const Snapshot before = world_.look();
    const int number = apply(world_.actor(), operation);
    if (number == EIO || number == EROFS)
        return text_of(operation) + ": errno " + std::to_string(number);
    // What the other session had left is a state of its own.
    const std::string wrong = world_.compare_counts();
    if (!wrong.empty()) return wrong;
    const auto status = world_.operations().status("", false);
    if (!status) return says("status", status.error());
    snapshots_.emplace(status->current, before);
    return {};
}

std::string Moves::checkpoint(const Operation& operation) {
    const bool named = operation.x == 0;
    const auto kind = named ? journal::NodeKind::kCheckpoint : journal::NodeKind::kStep;
    const auto node = world_.operations().checkpoint(
        World::asker(), kind, named ? "c" + std::to_string(++names_ % 7) : "", "");
    if (!node) return says("checkpoint", node.error());
    return is(node->number, world_.look(), "checkpoint");
}

std::string Moves::rollback(const Operation& operation) {
    const Snapshot before = world_.look();
    std::string target;
    if (operation.y == 0) {
        target = "c" + std::to_string(operation.x % 7);
    } else if (operation.y != 1) {
        const auto all = nodes();
        target = "n" + std::to_string(all.at(operation.x % all.size()).number);
    }
    const auto moved = world_.operations().rollback(
        World::asker(), target, operation.y == 3 && operation.x % 3 == 0, overlay::Consent::kAll);
    if (!moved && moved.error().kind() == ErrorKind::kNotFound && target[0] == 'c') return {};
    return arrived(moved, before, "rollback");
}

std::string Moves::discard(bool purge) {
    const Snapshot before = world_.look();
    std::string wrong =
        arrived(world_.operations().discard(World::asker(), purge, overlay::Consent::kAll), before,
                purge ? "discard purge" : "discard");
    forget_gone_nodes();
    return wrong;
}

std::string Moves::commit(bool keep_history) {
    const Snapshot before = world_.look();
    const auto node = world_.operations().commit(World::asker(), "", keep_history);
    const std::string wrong = difference(before, world_.look());
    if (!wrong.empty()) return "commit changed a to b:\n" + wrong;
    if (!node)
        return node.error().kind() == ErrorKind::kNothing ? "" : says("commit", node.error());
    forget_gone_nodes();
    return is(node->number, before, "commit");
}

std::string Moves::gc(std::uint64_t limits) {
    overlay::Retention retention;
    if (limits % 2 == 0) retention.max_abandoned = limits + 1;
    if (limits % 4 == 3) retention.max_bytes = 100'000;
    const auto collected = world_.operations().gc(retention);
    if (!collected) return says("gc", collected.error());
    forget_gone_nodes();
    return {};
}

std::string Moves::check() {
    const auto checked = world_.operations().check(false);
    if (!checked) return says("check", checked.error());
    return checked->problems.empty() ? "" : "check: " + checked->problems.front();
}

std::string Moves::reopen() {
    const Snapshot before = world_.look();
    world_.reopen();
    const std::string wrong = difference(before, world_.look());
    if (!wrong.empty()) return "reopen changed a to b:\n" + wrong;
    return begin_session();
}

// What is left afterwards is not predicted here, but a checkpoint of it must hold, and all nodes
// from before.
std::string Moves::revert(const Operation& operation) {
    const Snapshot before = world_.look();
    const auto all = nodes();
    const std::string what = "n" + std::to_string(all.at(operation.x % all.size()).number);
    const auto moved = world_.operations().revert(World::asker(), what, false);
    if (!moved) {
        const std::string wrong = difference(before, world_.look());
        if (!wrong.empty())
            return "revert " + what + " refused (" + moved.error().message() +
                   "), but changed a to b:\n" + wrong;
        const ErrorKind kind = moved.error().kind();
        const bool fine = kind == ErrorKind::kConflict || kind == ErrorKind::kNothing ||
                          kind == ErrorKind::kUsage || kind == ErrorKind::kNotFound;
        return fine ? "" : says("revert", moved.error());
    }
    return checkpoint({.kind = Kind::kCheckpoint, .x = 1});
}

std::string Moves::restore_path(const Operation& operation) {
    const auto all = nodes();
    const std::string node = "n" + std::to_string(all.at(operation.x % all.size()).number);
    const auto moved =
        world_.operations().restore_paths(World::asker(), {operation.a}, node, false);
    if (moved) return checkpoint({.kind = Kind::kCheckpoint, .x = 1});
    const ErrorKind kind = moved.error().kind();
    const bool fine = kind == ErrorKind::kNotFound || kind == ErrorKind::kNothing ||
                      kind == ErrorKind::kConflict || kind == ErrorKind::kUsage;
    return fine ? "" : says("restore_paths", moved.error());
}

// Looking changes nothing, and fails never.
std::string Moves::look(const Operation& operation) {
    const Snapshot before = world_.look();
    const auto all = nodes();
    const std::string node = "n" + std::to_string(all.at(operation.x % all.size()).number);
    const auto status = world_.operations().status(node, false);
    if (!status) return says("status", status.error());
    const auto log = world_.operations().log("", true, true);
    if (!log) return says("log", log.error());
    const auto diff = world_.operations().diff(node, "", {}, false);
    if (!diff) return says("diff", diff.error());
    const std::string wrong = difference(before, world_.look());
    return wrong.empty() ? "" : "looking changed a to b:\n" + wrong;
}

std::string Moves::step(const Operation& operation) {
    const std::string wrong = act(operation);
    return wrong.empty() ? world_.compare_counts() : wrong;
}

std::string Moves::act(const Operation& operation) {
    if (is_change(operation.kind)) return change(operation);
    switch (operation.kind) {
        case Kind::kCheckpoint:
            return checkpoint(operation);
        case Kind::kRollback:
            return rollback(operation);
        case Kind::kUndo: {
            const Snapshot before = world_.look();
            return arrived(
                world_.operations().undo(World::asker(), static_cast<unsigned>(operation.x),
                                         overlay::Consent::kAll),
                before, "undo");
        }
        case Kind::kRedo: {
            const Snapshot before = world_.look();
            return arrived(
                world_.operations().redo(World::asker(), static_cast<unsigned>(operation.x),
                                         overlay::Consent::kAll),
                before, "redo");
        }
        case Kind::kDiscard:
            return discard(operation.x == 0);
        case Kind::kCommit:
            return commit(operation.x != 0);
        case Kind::kGc:
            return gc(operation.x);
        case Kind::kReopen:
            return reopen();
        case Kind::kRevert:
            return revert(operation);
        case Kind::kRestorePath:
            return restore_path(operation);
        case Kind::kLook:
            return look(operation);
        case Kind::kPack:
            pack_all(world_.directory());
            return check();
        default:
            return check();
    }
}

}  // namespace unwrite::tests
