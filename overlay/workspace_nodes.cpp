#include <fcntl.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>

#include "base/clock.h"
#include "base/crash_point.h"
#include "base/open_beneath.h"
#include "overlay/closing.h"
#include "overlay/state_tags.h"
#include "overlay/unproved.h"
#include "overlay/workspace.h"

namespace unwrite::overlay {

namespace {

constexpr std::size_t kMaxName = 255;
/// Of the steps that a status counts.
constexpr std::size_t kMostCounted = 1000;

/// A name that cannot be mistaken for something else on a command line.
bool is_plain(const std::string& name) {
    const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
    const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
    const std::size_t letter = name.starts_with('n') ? 1 : 0;
    const bool is_number =
        name.size() > letter &&
        std::all_of(name.begin() + static_cast<std::ptrdiff_t>(letter), name.end(), is_digit);
    return name.size() <= kMaxName && !is_number && name != "root" && !name.starts_with('-') &&
           name.find("..") == std::string::npos &&
           std::none_of(name.begin(), name.end(), is_control);
}

Result<> check_checkpoint(const std::string& name) {
    if (is_plain(name)) return {};
    return Error(ErrorKind::kUsage, EINVAL, "checkpoint " + name + " cannot be used as a name",
                 "`unwrite checkpoint before-merge`: a name is not a number, n7 or root, does not "
                 "begin with -, and has no .. or control characters");
}

// An agent that had the user's session would be taken for the user by undo and by turns.
Result<> check_session(const std::string& name) {
    if (is_plain(name) && name != Origins::kUserName && !name.starts_with(':')) return {};
    return Error(ErrorKind::kUsage, EINVAL, "run: a session cannot be named " + name,
                 "`unwrite run --session NAME`: a name is not user, a number, n7 or root, does not "
                 "begin with - or :, and has no .. or control characters");
}

bool is_agents(const Origins& origins, OriginNumber origin) {
    const auto rows = origins.rows({origin});
    return !rows.empty() && rows.front().agent;
}

// Whoever goes back to a name of theirs does not arrive where an agent wants them.
Result<> refuse_users_name(const History& history, const Origins& origins, const std::string& name,
                           OriginNumber origin) {
    if (name.empty() || !is_agents(origins, origin)) return {};
    const auto taken = history.resolve(name, 0);
    if (!taken || is_agents(origins, history.nodes.at(*taken).origin)) return {};
    return Error(ErrorKind::kConflict, EEXIST,
                 "checkpoint " + name + ": the user has a checkpoint of that name, n" +
                     std::to_string(*taken),
                 "choose another name");
}

}  // namespace

Result<Node> Workspace::checkpoint(const Asker& asker, NodeKind kind, const std::string& name,
                                   const std::string& text) {
    TRY(check_checkpoint(name));
    const OriginNumber origin = origin_of(asker);
    Closing closing(operation_mutex_, gate_, tree_, restorer_);
    TRY(closing.refuse_if_unable("checkpoint"));
    TRY_ASSIGN(const History before, history());
    TRY(refuse_users_name(before, *origins_, name, origin));
    TRY_ASSIGN(const NodeNumber number, make_node(asker, kind, name, text, origin));
    TRY_ASSIGN(const History now, history());
    return now.nodes.at(number);
}

Result<NodeNumber> Workspace::make_node(const Asker& asker, NodeKind kind, const std::string& name,
                                        const std::string& text, OriginNumber origin) {
    if (kind == NodeKind::kBegin) {
        TRY(close_step(origin, asker.cause));
        return mark_begin(text, origin, asker.cause);
    }
    Seal seal{.kind = kind, .name = name, .text = text, .origin = origin, .cause = asker.cause};
    if (kind == NodeKind::kCheckpoint) return seal_step(std::move(seal));
    if (kind != NodeKind::kStep)
        return Error(ErrorKind::kUsage, EINVAL,
                     "cannot make a node: it is neither a checkpoint nor a step");
    TRY_ASSIGN(const bool changed, is_changed());
    if (!changed) return mark_begin(text, origin, asker.cause);
    // What was open when it began is not part of it.
    TRY_ASSIGN(const History history, this->history());
    const NodeNumber base = history.before_hidden(head_.current, 0);
    for (NodeNumber at = head_.current; at != base && seal.step.since == 0;
         at = history.parent_of(at)) {
        if (history.nodes.at(at).kind == NodeKind::kBegin) seal.step.since = at;
    }
    return seal_step(std::move(seal));
}

Result<Node> Workspace::begin_run(const Asker& asker, const std::string& text) {
    TRY(check_session(asker.session));
    const OriginNumber origin = origin_of(asker);
    const NodeNumber before = origins_->run_of_process(asker.pid);
    if (before != 0 && policed_) policed_->run_ends();
    Closing closing(operation_mutex_, gate_, tree_, restorer_);
    TRY(closing.refuse_if_unable("run"));
    locator_.begin();
    if (before != 0) TRY(finish_run(before, origins_->active_runs()));
    TRY_ASSIGN(const NodeNumber number, make_node(asker, NodeKind::kBegin, "", text, origin));
    TRY_ASSIGN(const History history, this->history());
    Node node = history.nodes.at(number);
    std::string session = asker.session;
    if (session.empty() && before != 0) session = origins_->session_of_run(before);
    if (session.empty()) session = "run-" + std::to_string(number);
    // No write comes between the two: the gate is closed.
    origins_->begin_run(asker.pid, session, number);
    if (before != 0) origins_->end_run(before);
    node.tags["session"] = session;
    journal::Store::Change change;
    change.update_nodes.push_back(node);
    TRY(store(change));
    return node;
}

Result<> Workspace::end_run(NodeNumber run) {
    if (policed_) policed_->run_ends();
    Result<> finished;
    {
        Closing closing(operation_mutex_, gate_, tree_, restorer_);
        locator_.begin();
        const std::set<NodeNumber> active = origins_->active_runs();
        if (active.contains(run) && !gate_.wounded()) finished = finish_run(run, active);
        origins_->end_run(run);
    }
    return finished ? finished : finished.error().with_context("cannot end a run");
}

// One transaction makes `node` the only one there is; what only the others needed is removed
// afterwards, in the background.
Result<> Workspace::drop_all_but(NodeNumber node) {
    TRY_ASSIGN(const History history, this->history());
    journal::Store::Change change;
    change.remove_other_nodes = true;
    change.update_nodes.push_back(history.nodes.at(node));
    Node& root = change.update_nodes.back();
    move_waiting(history.nodes.at(head_.root), root);
    root.parent = 0;
    root.delta = 0;
    root.down = false;
    root.kind = NodeKind::kRoot;
    change.head = head_;
    change.head->root = node;
    change.head->current = node;
    change.head->redo_tip = 0;
    crash_point("drop.before");
    TRY(store(change));
    crash_point("drop.after");
    std::vector<journal::DeltaNumber> dropped;
    for (const Node& row : history.nodes) {
        if (row.delta != 0 && row.delta != head_.open_delta) dropped.push_back(row.delta);
    }
    janitor_.remove_deltas(std::move(dropped));
    if (capture_.interval_is_empty()) {
        TRY_ASSIGN(Leftovers places, journal_->places().clear());
        janitor_.free({std::move(places)});
        janitor_.free(capture_.forget_all_stamps());
        knows_all_made_ = true;
    }
    janitor_.sweep();
    return {};
}

// The raw root does not hide the state directory, and a path must not lead out through a link.
std::string Workspace::mark_of(int root, const std::string& path) const {
    const std::filesystem::path parts(path);
    if (parts.empty() || *parts.begin() == journal::StateDir::kName) return "";
    for (const auto& part : parts) {
        if (part == "." || part == "..") return "";
    }
    const auto fd = sys::open_beneath(root, path, O_PATH | O_NOFOLLOW, RESOLVE_NO_SYMLINKS);
    if (!fd) return "";
    const auto there = sys::statx_at(fd->get(), "");
    if (!there || !S_ISREG(there->st.st_mode)) return "";
    const ObjectKey key = key_of(*there);
    return std::to_string(key.ino) + "-" + std::to_string(key.birth) + "-" +
           std::to_string(capture_.last_write(key));
}

Result<std::vector<std::string>> Workspace::marks(const std::vector<std::string>& paths) {
    if (KernelCaches* const caches = tree_.caches()) caches->write_back();
    tree_.end_lingering();
    TRY_ASSIGN(const HandlePtr root, objects_.open(objects_.root(), Access::kPath));
    std::vector<std::string> marks;
    for (const std::string& path : paths)
        marks.push_back(mark_of(root->fd.get(), path));
    return marks;
}

Result<Node> Workspace::commit(const Asker& asker, const std::string& text, bool keep_history) {
    const OriginNumber origin = origin_of(asker);
    Closing closing(operation_mutex_, gate_, tree_, restorer_);
    TRY(closing.refuse_if_unable("commit"));
    if (head_.current == head_.root && capture_.interval_is_empty() && !keep_history) {
        TRY_ASSIGN(const History history, this->history());
        if (history.nodes.size() == 1)
            return Error(ErrorKind::kNothing, ENOENT,
                         "commit: nothing has changed since the last commit");
    }
    TRY_ASSIGN(
        const NodeNumber number,
        seal({.kind = NodeKind::kRoot, .text = text, .origin = origin, .cause = asker.cause}));
    if (keep_history) {
        journal::Store::Change change;
        change.head = head_;
        change.head->root = number;
        change.head->redo_tip = 0;
        TRY_ASSIGN(const History history, this->history());
        change.update_nodes.push_back(history.nodes.at(number));
        move_waiting(history.nodes.at(head_.root), change.update_nodes.back());
        TRY(store(change));
    } else {
        TRY(drop_all_but(number));
    }
    TRY_ASSIGN(const History history, this->history());
    const Node& node = history.nodes.at(number);
    begin_task(node);
    put_room_by();
    return node;
}

Result<Checked> Workspace::check(bool repair) {
    Checked checked;
    {
        Closing closing(operation_mutex_, gate_, tree_, restorer_);
        TRY_ASSIGN(journal::CheckReport report, journal_->check());
        checked.problems = std::move(report.problems);
        checked.deltas = report.deltas;
        checked.records = report.records;
        checked.bytes = report.bytes;
        checked.attic_objects = report.attic_objects;
        TRY_ASSIGN(checked.lost, journal::count_lost(journal_->state_dir().fd()));
        TRY_ASSIGN(const History history, this->history());
        checked.nodes = history.nodes.size();
        for (const Node& node : history.nodes) {
            if (node.parent != 0 && !history.nodes.contains(node.parent)) {
                checked.problems.push_back("n" + std::to_string(node.number) + ": its parent n" +
                                           std::to_string(node.parent) + " is missing");
            }
        }
        if (repair && !gate_.wounded()) TRY(journal_->remove_unreferenced_deltas());
    }
    // Beside whoever writes.
    TRY_ASSIGN(const auto damaged, journal_->check_captured());
    checked.problems.insert(checked.problems.end(), damaged.begin(), damaged.end());
    if (repair) TRY(repair_audit(checked));
    if (repair && !gate_.wounded()) {
        TRY_ASSIGN(const std::uint64_t removed, janitor_.sweep_now());
        if (removed > 0)
            checked.repaired.push_back("removed " + std::to_string(removed) +
                                       " objects from the attic that nothing needs");
    }
    return checked;
}

Result<Status> Workspace::status(const std::string& since, bool count_lines) {
    const std::lock_guard lock(operation_mutex_);
    TRY_ASSIGN(Status status, inspector_.status(since, count_lines));
    status.wounded = gate_.wounded();
    status.out_of_room = policed_ && !reserve_.allows(Reserve::kNextWrite);
    if (since.empty()) tally_.expect(files_in(status.changes));
    TRY_ASSIGN(const History history, this->history());
    TRY_ASSIGN(const auto steps, undoable(history, kMostCounted, 0));
    TRY_ASSIGN(const NodeNumber from, history.resolve(since, history.head.root));
    status.steps = static_cast<std::uint64_t>(
        std::count_if(steps.begin(), steps.end(),
                      [from](const Step& step) { return step.node == 0 || step.node > from; }));
    if (since.empty()) {
        TRY_ASSIGN(status.outside, behind_since(history.head.root));
    }
    TRY_ASSIGN(status.lost, journal::count_lost(journal_->state_dir().fd()));
    status.unproved = unproved_paths(history);
    return status;
}

Result<Counted> Workspace::count() {
    const std::lock_guard lock(operation_mutex_);
    Counted counted;
    TRY_ASSIGN(counted.files, tally_.files());
    counted.wounded = gate_.wounded();
    counted.out_of_room = policed_ && !reserve_.allows(Reserve::kNextWrite);
    return counted;
}

Result<Log> Workspace::log(const std::string& path, bool all, bool changes) {
    const std::lock_guard lock(operation_mutex_);
    TRY_ASSIGN(const History history, this->history());
    TRY_ASSIGN(const auto open, open_steps(history, 0));
    return inspector_.log(path, all, changes, open);
}

Result<NodeNumber> Workspace::marked() {
    const std::lock_guard lock(operation_mutex_);
    return inspector_.marked();
}

Result<std::vector<Node>> Workspace::trunk(NodeNumber from, std::size_t most) {
    const std::lock_guard lock(operation_mutex_);
    TRY_ASSIGN(const History history, this->history());
    std::vector<Node> nodes;
    for (NodeNumber number = from == 0 ? head_.current : from; number != 0 && nodes.size() < most;
         number = history.parent_of(number)) {
        const Node* const node = history.nodes.find(number);
        if (node == nullptr) {
            return Error(ErrorKind::kNotFound, ENOENT,
                         "there is no state n" + std::to_string(number));
        }
        nodes.push_back(*node);
    }
    return nodes;
}

Result<std::vector<FileDiff>> Workspace::diff(const std::string& from, const std::string& to,
                                              const std::vector<std::string>& paths, bool text) {
    const std::lock_guard lock(operation_mutex_);
    return inspector_.diff(from, to, paths, text);
}

}  // namespace unwrite::overlay
