#include <fcntl.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/reflink.h"
#include "base/writers.h"
#include "journal/annex.h"
#include "journal/unseen_notes.h"
#include "overlay/closing.h"
#include "overlay/live_swap.h"
#include "overlay/replacing.h"
#include "overlay/unproved.h"
#include "overlay/view.h"
#include "overlay/walk.h"
#include "overlay/workspace.h"

namespace unwrite::overlay {

namespace {

constexpr const char* kRunning = "running";
constexpr const char* kIdle = "idle";

// A kill between the row of a name and the displacement leaves an object in the journal that
// nothing else knows of: it stands at its name still.
Result<> add_missing_places(Locator& locator, journal::DeltaNumber number) {
    journal::Journal& journal = locator.journal();
    TRY_ASSIGN(const journal::Delta delta,
               journal::read_delta(journal.state_dir().deltas(), number));
    for (const auto& [at, state] : delta.names) {
        if (!state.image.object || journal.attic().contains(*state.image.object) ||
            journal.places().contains(*state.image.object))
            continue;
        const auto standing = locator.standing(at);
        if (standing && *standing && (*standing)->key == *state.image.object)
            TRY(journal.places().set(*state.image.object, at));
    }
    return {};
}

}  // namespace

Result<std::unique_ptr<Session>> Session::open(UniqueFd workspace, const SessionOptions& options) {
    TRY_ASSIGN(auto opened, Workspace::open(std::move(workspace), options));
    return std::unique_ptr<Session>(std::move(opened));
}

Workspace::Workspace(std::unique_ptr<journal::Journal> journal, UniqueFd directory, ObjectKey root,
                     const journal::Head& head, const SessionOptions& options,
                     std::unique_ptr<Origins> origins, std::unique_ptr<journal::AuditLog> audit_log)
    : journal_(std::move(journal)),
      options_(options),
      origins_(std::move(origins)),
      audit_log_(std::move(audit_log)),
      auditor_(*audit_log_, *origins_),
      questions_(auditor_, options.ask_patience),
      objects_(std::move(directory), root, journal_->attic()),
      capture_(objects_, *journal_, head.open_delta, options.durable),
      janitor_(objects_, capture_, *journal_, gate_),
      compressor_(journal_->state_dir().deltas(), journal_->checksums(), options.compress_after,
                  options.durable),
      checksummer_(*journal_, options.checksum_after),
      tree_(objects_, capture_, *origins_, gate_, janitor_,
            [this](const Who& who) { return divide(who); }),
      reserve_(journal_->state_dir().fd(), options.reserve, &journal_->ballast()),
      locator_(objects_, *journal_),
      beginning_(locator_, *journal_),
      restorer_(locator_, tree_.unseen(), RestoreSettings{options.mtime_now}),
      inspector_(locator_, *journal_, *origins_),
      tally_(locator_, *journal_, capture_),
      committer_(*journal_, capture_, gate_),
      head_(head) {
    if (options.ordered) capture_.set_ordered();
    if (options.policy) {
        SizeCap cap = options.size_cap;
        if (cap.bytes != 0 && sys::can_share_blocks(journal_->state_dir().fd())) cap.bytes = 0;
        policed_ = std::make_unique<PolicedTree>(tree_, objects_, *origins_, capture_, auditor_,
                                                 questions_, options.policy, cap, options.breaker,
                                                 reserve_, beginning_);
    }
}

Result<std::unique_ptr<Workspace>> Workspace::open(UniqueFd directory,
                                                   const SessionOptions& options) {
    TRY_ASSIGN(const sys::StatX root, sys::statx_at(directory.get(), ""));
    const bool fresh = !sys::stat_at(directory.get(), journal::StateDir::kName).ok();
    TRY_ASSIGN(auto journal,
               journal::Journal::open(directory.get(),
                                      {options.create, options.durable, true, options.ordered}));
    if (fresh) {
        // The state directory is ours; the root's modification time stays the user's.
        const struct timespec times[2] = {{0, UTIME_OMIT}, root.st.st_mtim};
        ignore(sys::set_times(directory.get(), times),
               "a root that is not ours keeps its new time");
    }
    TRY_ASSIGN(const journal::Head head, journal->store().head());
    TRY_ASSIGN(auto origins, Origins::open(*journal));
    TRY_ASSIGN(auto audit_log, journal::AuditLog::open(journal->state_dir().fd(), options.durable));
    std::unique_ptr<Workspace> workspace(new Workspace(std::move(journal), std::move(directory),
                                                       key_of(root), head, options,
                                                       std::move(origins), std::move(audit_log)));
    workspace->attach_annex(options.annex);
    Found& found = workspace->found_;
    found.fresh = fresh;
    const journal::Lost& lost = workspace->journal_->lost();
    // With a power cut the row that says so may have gone, too.
    found.interrupted = head.mode == kRunning || lost.objects != 0 || lost.deltas != 0;
    const int state = workspace->journal_->state_dir().fd();
    TRY_ASSIGN(journal::LeftTraces left, journal::take_stamps(state));
    // Those of a life that was interrupted came back with a power cut.
    if (found.interrupted) left = {};
    workspace->capture_.begin_with(left.traces);
    const std::optional<journal::Cut> cut = workspace->journal_->cut();
    const Result<> finished = finish_in_place(state, workspace->journal_->attic());
    if (!finished) return finished.error().with_context("cannot finish an interrupted edit");
    if (cut) {
        found.interrupted = true;
        TRY_ASSIGN(const History history, workspace->history());
        TRY_ASSIGN(found.unproved, find_unproved(workspace->locator_, *cut, history));
    }
    const Result<> taken_over = workspace->take_over_unseen();
    if (!taken_over) return taken_over.error().with_context("cannot find out who has files open");
    {
        Closing closing(workspace->operation_mutex_, workspace->gate_, workspace->tree_,
                        workspace->restorer_);
        if (found.interrupted) TRY(finish_replacing(workspace->locator_));
        const Result<> recovered = workspace->recover_closed();
        if (!recovered) {
            // The files are there and can be read; every change is refused until `recover`
            // succeeds.
            log::error("finish what was begun: " + recovered.error().message());
        } else {
            TRY(workspace->journal_->remove_unreferenced_deltas());
            if (found.interrupted)
                TRY(add_missing_places(workspace->locator_, workspace->head_.open_delta));
            const Result<> ended = workspace->finish_interrupted_runs();
            if (!ended && ended.error().kind() != ErrorKind::kCorrupt) return ended.error();
            // The files are there, and `check` names what is damaged.
            if (!ended) log::error("end the interrupted runs: " + ended.error().message());
            if (cut) TRY(workspace->settle_cut(*cut));
            if (!workspace->capture_.interval_is_empty())
                TRY(workspace->seal({.kind = NodeKind::kMount}));
        }
        journal::Store::Change change;
        change.head = workspace->head_;
        change.head->mode = kRunning;
        TRY_ASSIGN(const History history, workspace->history());
        // A root without a history is the live state, whatever happened to it in between.
        if (history.nodes.size() == 1) {
            change.update_nodes.push_back(*history.nodes.begin());
            change.update_nodes.back().tags = workspace->tags();
            change.update_nodes.back().time_ns = wall_clock_ns();
        }
        found.task_open = workspace->has_changes(history);
        if (found.interrupted && found.task_open && change.update_nodes.empty()) {
            change.update_nodes.push_back(history.nodes.at(history.head.root));
            change.update_nodes.back().tags[kInterruptedTag] = "yes";
        }
        TRY(workspace->store(change));
        workspace->begin_task(change.update_nodes.empty() ? history.nodes.at(history.head.root)
                                                          : change.update_nodes.back());
        ignore(workspace->learn_what_was_made(left), "then nobody is accused");
    }
    TRY(workspace->keep_order());
    TRY(workspace->take_sealed());
    workspace->opened_ = true;
    workspace->janitor_.sweep();
    return workspace;
}

// Without it the workspace serves, and what the history has of it cannot be restored.
void Workspace::attach_annex(const std::string& wanted) {
    const int state = journal_->state_dir().fd();
    const auto attach = [&](const std::string& path,
                            const ObjectKey* key) -> Result<journal::Annex> {
        TRY_ASSIGN(UniqueFd directory,
                   sys::open_at(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_NOFOLLOW));
        TRY_ASSIGN(const sys::StatX x, sys::statx_at(directory.get(), ""));
        if (key != nullptr && key_of(x) != *key) return Error(ESTALE);
        TRY(objects_.attach(std::move(directory)));
        return journal::Annex{path, key_of(x)};
    };
    const auto noted = journal::read_annex(state);
    if (!noted) log::warning(noted.error().message());
    if (noted && *noted) {
        const auto attached = attach((*noted)->path, &(*noted)->key);
        if (attached) return;
        log::warning("the repository " + (*noted)->path + ": " + attached.error().message());
    }
    if (wanted.empty()) return;
    const auto attached = attach(wanted, nullptr);
    const Result<> written =
        attached ? journal::write_annex(state, *attached) : Result<>(attached.error());
    if (!written) log::warning("the repository " + wanted + ": " + written.error().message());
}

// The interval of the cut ends, and its node says what is not proved. States that were made behind
// the watermark are of files that may not have reached the disk.
Result<> Workspace::settle_cut(const journal::Cut& cut) {
    TRY_ASSIGN(const History history, this->history());
    journal::Store::Change change;
    for (const Node& node : history.nodes) {
        if (node.number <= cut.mark.node) continue;
        change.update_nodes.push_back(node);
        change.update_nodes.back().tags[kUnprovedStateTag] = "yes";
    }
    if (!change.update_nodes.empty()) TRY(store(change));
    if (found_.unproved.empty()) return {};
    TRY(seal({.kind = NodeKind::kMount, .tags = {{kUnprovedTag, to_tag(found_.unproved)}}}));
    return {};
}

// From here on this life answers for itself.
Result<> Workspace::keep_order() {
    if (options_.ordered || journal_->cut()) TRY(journal_->store().sync());
    if (options_.ordered) TRY(committer_.start());
    if (!gate_.wounded()) TRY(journal_->settled());
    if (!options_.ordered) TRY(journal::remove_watermark(journal_->state_dir().fd()));
    return {};
}

/// Of the branches of a history: with more it is not found out what a killed life made.
constexpr std::size_t kMostWaysLearnt = 256;

// What a life that was killed made is not known: what is there counts as made, so that at least
// what comes from now on is noticed.
Result<> Workspace::learn_what_was_made(const journal::LeftTraces& left) {
    TRY_ASSIGN(const History history, this->history());
    knows_all_made_ = left.has_all_made || history.nodes.size() == 1;
    if (knows_all_made_) return {};
    // What goes on the way to one state may be needed by none of the others.
    std::set<NodeNumber> ends{history.trunk().front()};
    for (const Node& node : history.nodes)
        ends.insert(node.number);
    for (const Node& node : history.nodes) {
        if (node.parent != 0 && node.parent != history.head.root) ends.erase(node.parent);
    }
    if (ends.size() > kMostWaysLearnt) return {};
    locator_.begin();
    for (const NodeNumber end : ends) {
        TRY_ASSIGN(const Edges edges, edges_to(end));
        TRY(take_for_made(locator_, capture_, wanted_names(edges)));
    }
    TRY(take_displaced_for_made(journal_->attic(), capture_));
    knows_all_made_ = true;
    return {};
}

namespace {

/// Which of the files below `top` somebody can write to: paths. What cannot be found out counts.
Result<std::vector<std::string>> open_for_writing(int top,
                                                  const std::unordered_set<ObjectKey>& keys) {
    std::vector<std::string> found;
    TRY_ASSIGN(UniqueFd directory, sys::open_at(top, ".", O_RDONLY | O_DIRECTORY));
    TRY(walk_below(std::move(directory), [&](const std::string& path, const sys::StatX& x) {
        if (!S_ISREG(x.st.st_mode) || !keys.contains(key_of(x))) return true;
        const auto file = sys::open_at(top, path, O_PATH | O_NOFOLLOW);
        const auto writers =
            file ? sys::is_open_for_writing(file->get()) : Result<bool>(file.error());
        if (!writers || *writers) found.push_back(path);
        return true;
    }));
    return found;
}

}  // namespace

// The kernel goes on serving who had a file open in a former life; also one that lies in the attic,
// from where a restore may fetch it.
Result<> Workspace::take_over_unseen() {
    TRY_ASSIGN(const auto keys, journal::noted_unseen(journal_->state_dir().fd()));
    if (keys.empty()) return {};
    ignore(tree_.allow_unseen(), "they are not held, then");
    for (const ObjectPtr& top : objects_.tops()) {
        TRY_ASSIGN(const HandlePtr opened, objects_.open(top, Access::kPath));
        TRY_ASSIGN(const auto in_use, open_for_writing(opened->fd.get(), keys));
        for (const std::string& path : in_use)
            found_.in_use.push_back(join_path(objects_.path_of_top(top->key()), path));
    }
    for (const std::string& path : found_.in_use) {
        TRY_ASSIGN(const NodeId id, look_up(path));
        TRY(tree_.take_over_unseen(id));
    }
    TRY_ASSIGN(const UniqueFd attic, journal_->state_dir().open_attic());
    TRY_ASSIGN(const auto displaced, open_for_writing(attic.get(), keys));
    for (const std::string& path : displaced) {
        TRY_ASSIGN(UniqueFd file, sys::open_at(attic.get(), path, O_PATH | O_NOFOLLOW));
        TRY_ASSIGN(const sys::StatX x, sys::statx_at(file.get(), ""));
        if (objects_.find(key_of(x)) != nullptr) continue;  // it has a name as well
        const ObjectPtr learned = objects_.learn(key_of(x), x.st.st_mode, nullptr, "", 1);
        objects_.keep(learned,
                      std::make_shared<const Handle>(Handle{std::move(file), Access::kPath}));
        TRY(tree_.take_over_unseen(learned->id()));
    }
    return {};
}

/// Of a path that was found just now; what it looks up stays known.
Result<NodeId> Workspace::look_up(const std::string& path) {
    const auto [top, below] = objects_.top_of(path);
    NodeId id = top->id();
    for (std::size_t begin = 0; begin < below.size();) {
        const std::size_t end = std::min(below.find('/', begin), below.size());
        TRY_ASSIGN(const Entry entry,
                   tree_.lookup(Caller{}, id, std::string_view(below).substr(begin, end - begin)));
        id = entry.id;
        begin = end + 1;
    }
    return id;
}

// In time: what an earlier life left as it was.
Result<> Workspace::take_sealed() {
    TRY_ASSIGN(const History history, this->history());
    for (const Node& node : history.nodes)
        is_sealed(node.delta);
    return {};
}

// What a commit dropped is gone. When nothing is left to go back to, nothing is left in the attic
// either: link counts are as they were.
void Workspace::tidy_up() {
    janitor_.remove_dropped_deltas();
    const auto now = history();
    if (!now || now->nodes.size() != 1 || !capture_.interval_is_empty()) return;
    janitor_.free(capture_.forget_all_stamps());
    const auto swept = janitor_.sweep_now();
    if (!swept) log::warning("empty the attic: " + swept.error().message());
}

Result<> Workspace::answered() {
    const std::lock_guard lock(operation_mutex_);
    TRY_ASSIGN(const History history, this->history());
    journal::Store::Change change;
    change.update_nodes.push_back(history.nodes.at(history.head.root));
    if (change.update_nodes.back().tags.erase(kInterruptedTag) == 0) return {};
    TRY(store(change));
    return {};
}

Workspace::~Workspace() {
    committer_.stop();
    if (!opened_) return;
    tidy_up();
    const std::lock_guard lock(operation_mutex_);
    tree_.end_lingering();
    if (!tree_.unseen().any())
        ignore(journal::forget_unseen(journal_->state_dir().fd()), "the next life looks, then");
    const auto left = journal::leave_stamps(journal_->state_dir().fd(), capture_.all_traces());
    if (!left) log::warning("note what the files look like: " + left.error().message());
    journal::Store::Change change;
    change.head = head_;
    change.head->mode = kIdle;
    const auto closed = store(change);
    if (!closed) log::warning("close the journal: " + closed.error().message());
    const auto brought = committer_.end();
    if (!brought) log::warning("bring the journal to the disk: " + brought.error().message());
}

}  // namespace unwrite::overlay
