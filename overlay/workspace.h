// Workspace: the parts of the overlay put together, and the operations on them. operations.h has
// the contracts.
//   workspace_open.cpp     open, recovery, close
//   workspace_flow.cpp     sealing an interval, crossing edges, going to a node
//   workspace_steps.cpp    what a step is, and where one begins and ends
//   workspace_restore.cpp  moving the live state; rollback, discard
//   workspace_undo.cpp     undo, redo
//   workspace_revert.cpp   taking back one part and keeping the rest; single paths
//   workspace_decide.cpp   keeping one part for good and taking back another
//   workspace_states.cpp   revert_to_state
//   workspace_nodes.cpp    checkpoint, runs, commit, check, marks of files
//   workspace_gc.cpp       which abandoned states go
//   workspace_oversight.cpp  what the user sees and decides of the policy
// What is only looked at goes to the Inspector.
//
// Locks, in this order: operation_mutex_ (one operation that moves the live state at a time), the
// gate, the locks of the parts, journal.store_mutex(). The kernel is told with none of the parts'
// locks held (tree.h, KernelCaches).
#pragma once

#include "overlay/auditor.h"
#include "overlay/captured_proof.h"
#include "overlay/checksummer.h"
#include "overlay/committer.h"
#include "overlay/compressor.h"
#include "overlay/history.h"
#include "overlay/inspector.h"
#include "overlay/janitor.h"
#include "overlay/live_tree.h"
#include "overlay/outside.h"
#include "overlay/policed_tree.h"
#include "overlay/questions.h"
#include "overlay/restorer.h"
#include "overlay/revert_selection.h"
#include "overlay/reverts.h"
#include "overlay/room.h"
#include "overlay/session.h"
#include "overlay/steps.h"
#include "overlay/tally.h"
#include "overlay/vanished.h"

namespace unwrite::overlay {

class LaterChanges;

struct RevertPlan;
struct WaitingRevert;

class Workspace final : public Session, public Operations, public Oversight, public Reverts {
 public:
    static Result<std::unique_ptr<Workspace>> open(UniqueFd directory,
                                                   const SessionOptions& options);
    ~Workspace() override;

    Tree& tree() override { return policed_ ? static_cast<Tree&>(*policed_) : tree_; }
    Operations& operations() override { return *this; }
    Oversight& oversight() override { return *this; }
    Waiting& waiting() override { return questions_; }
    const Found& found() const override { return found_; }
    bool is_agent(std::int64_t pid) const override { return origins_->is_agent(pid); }

    Result<Node> checkpoint(const Asker& asker, NodeKind kind, const std::string& name,
                            const std::string& text) override;
    Result<Node> begin_run(const Asker& asker, const std::string& text) override;
    Result<> end_run(NodeNumber run) override;
    Result<Moved> rollback(const Asker& asker, const std::string& node, bool pop,
                           Consent consent) override;
    Result<Moved> undo(const Asker& asker, unsigned count, Consent consent) override;
    Result<Moved> revert(const Asker& asker, const std::string& what, bool dry_run) override;
    Result<Moved> redo(const Asker& asker, unsigned count, Consent consent) override;
    Result<Moved> discard(const Asker& asker, bool purge, Consent consent) override;
    Result<Node> commit(const Asker& asker, const std::string& text, bool keep_history) override;
    Result<Decided> decide(const Asker& asker, const Decision& decision, bool dry_run) override;
    Result<Moved> restore_paths(const Asker& asker, const std::vector<std::string>& paths,
                                const std::string& node, bool dry_run) override;
    Result<std::string> request_revert(const Asker& asker, const std::string& arguments,
                                       bool for_agent) override;
    Result<std::vector<std::string>> apply_reverts(const Asker& asker) override;
    Result<Status> status(const std::string& since, bool count_lines) override;
    Result<Counted> count() override;
    Result<NodeNumber> marked() override;
    Result<Log> log(const std::string& path, bool all, bool changes) override;
    Result<std::vector<Node>> trunk(NodeNumber from, std::size_t most) override;
    Result<std::vector<FileDiff>> diff(const std::string& from, const std::string& to,
                                       const std::vector<std::string>& paths, bool text) override;
    Result<std::vector<std::string>> marks(const std::vector<std::string>& paths) override;
    Result<Collected> gc(const Retention& retention) override;
    Result<Checked> check(bool repair) override;
    Result<> recover() override;

    Result<AuditTrail> audit(std::uint64_t most) override;
    void note_refusal(const Asker& asker, const std::string& command) override;
    Result<std::vector<RuleShown>> rules() override;
    Result<Explained> explain(const std::string& path) override;
    Result<MayEdit> may_edit(const Asker& asker, const EditAttempt& attempt) override;
    Result<std::optional<PolicedTree::EditMatter>> edit_matter(const Rule& rule,
                                                               const EditAttempt& attempt);
    Result<> allow(const Asker& asker, const std::string& path, bool agents,
                   std::uint64_t seconds) override;
    Result<Questioned> questions(const Watcher& watcher) override;
    Result<Question> answer(const Asker& asker, QuestionNumber number, bool approve,
                            bool whole_rule) override;
    Result<> pass_over(QuestionNumber number, std::uint64_t watcher) override;
    Result<> answered() override;
    Result<> replace_policy(const Asker& asker, std::shared_ptr<const Policy> policy) override;

 private:
    Workspace(std::unique_ptr<journal::Journal> journal, UniqueFd directory, ObjectKey root,
              const journal::Head& head, const SessionOptions& options,
              std::unique_ptr<Origins> origins, std::unique_ptr<journal::AuditLog> audit_log);

    void attach_annex(const std::string& wanted);

    // All of these: operation_mutex_ held and the gate closed.
    Result<journal::Store::Changed> store(const journal::Store::Change& change);
    Result<journal::Store::Changed> store_sealed(const journal::Store::Change& change);
    Result<History> history();
    std::map<std::string, std::string> tags();
    /// The node that an interval becomes.
    struct Seal {
        NodeKind kind = NodeKind::kStep;
        std::string name{};
        std::string text{};
        OriginNumber origin = 0;
        std::string cause{};
        StepTags step{};
        std::map<std::string, std::string> tags{};
        bool ends_pending = false;
        /// Where redo leads from then on; kOwnNode: to this node.
        std::optional<NodeNumber> redo_tip{};
    };
    static constexpr NodeNumber kOwnNode = std::numeric_limits<NodeNumber>::max();
    // What went back, the newest first, is a chain that begins at head_.redo_tip: of nodes that
    // were left, and of the records of reverts; a node may be both, and is a record while it is on
    // the trunk. Their tags: the next one of a record, and of a node that was left; where that led
    // to (else: its parent).
    static constexpr const char* kThenTag = "step.then";
    static constexpr const char* kLeftThenTag = "step.left";
    static constexpr const char* kWentTag = "step.went";
    Result<journal::Store::Change> sealing(const Seal& seal);
    Result<> sync_if_durable();
    bool survives_cuts() const { return options_.durable || options_.ordered; }
    Result<> settle_cut(const journal::Cut& cut);
    Result<> keep_order();
    Result<NodeNumber> seal(const Seal& seal);
    /// The same for an interval that is idle and not empty.
    Result<NodeNumber> seal_idle(const Seal& seal);

    // Steps (workspace_steps.cpp). All of these: operation_mutex_ held and the gate closed.
    /// Who changed anything in some intervals: active runs, and others.
    struct Shares {
        std::set<NodeNumber> runs{};
        bool user = false;     ///< or what an ended run left running
        bool unknown = false;  ///< stores through mappings
        bool others() const { return user || (unknown && runs.size() != 1); }
    };
    Result<Shares> shares_of(const std::set<NodeNumber>& active,
                             const std::vector<journal::DeltaNumber>& deltas);
    /// What no listed step has yet: the open interval, and hidden ones above it.
    std::vector<journal::DeltaNumber> unlisted(const History& history);
    /// Seals what is open so that it belongs to the step that `seal` is; where runs are active
    /// their changes are left to steps of their own.
    Result<NodeNumber> seal_step(Seal seal);
    Result<NodeNumber> seal_either(const Seal& seal);
    /// Before something else begins: what is open becomes a step of whoever made it. Nothing
    /// where nothing is.
    Result<> close_step(OriginNumber origin, const std::string& cause);
    /// A hidden node: here something began.
    Result<NodeNumber> mark_begin(const std::string& text, OriginNumber origin,
                                  const std::string& cause);
    Result<NodeNumber> make_node(const Asker& asker, NodeKind kind, const std::string& name,
                                 const std::string& text, OriginNumber origin);
    /// The step of a run that has ended, if it changed anything. `active`: with it.
    Result<> finish_run(NodeNumber run, const std::set<NodeNumber>& active);
    Result<> finish_interrupted_runs();
    /// Whether what is open shows: not what was undone again, nor what git alone needs.
    Result<bool> is_changed();
    Result<bool> has_effect(const History& history, const Step& step,
                            Inspector::StepReader& reader);
    /// The steps that undo counts, the newest first: what is open, if it is anything, and those
    /// that are listed, not nested, and changed something. At least `most` when there are so many,
    /// and all that share an edge with these.
    /// `asking`: an active run whose steps are looked at one by one; `own_only`: no others.
    Result<std::vector<Step>> undoable(const History& history, std::size_t most, NodeNumber asking,
                                       bool own_only = false);
    /// What is open: of the user, and of each active run; the newest first.
    Result<std::vector<Step>> open_steps(const History& history, NodeNumber asking);
    /// The step that took back what an active run had changed so far; 0: there is none.
    NodeNumber taken_back_at(const History& history, NodeNumber run);
    /// The newest step on the trunk that this run made, or took back with; 0: there is none.
    NodeNumber newest_step_in(const History& history, NodeNumber run);
    std::vector<NodeNumber> made_since(const History& history, NodeNumber since);
    NodeNumber begin_of(const History& history, NodeNumber run);
    NodeNumber run_asking(const Asker& asker);
    RevertPart part_of(const History& history, const Step& step);
    /// Where something was changed again later: all of it or nothing, or all but that.
    enum class Extent { kWhole, kPartly };
    Result<Moved> take_back(const Asker& asker, const std::vector<Step>& chosen,
                            const std::string& text, Consent consent, Extent extent);
    /// How a revert is remembered.
    struct Record {
        std::string text{};
        std::set<NodeNumber> undoes{};  ///< the steps that it takes back; of an active run the run
        bool undoes_open = false;       ///< what is open becomes a step, and it takes that back
        NodeNumber since = 0;           ///< where its step began; 0: where it is made
        bool hidden = false;            ///< it is one of several, and not the last
        bool is_part = false;           ///< it is one of several, and may be empty: whole with them
                                        ///< or not at all, so recovery goes back to `since`
        /// Where redo leads afterwards; nothing: it takes back this revert.
        std::optional<NodeNumber> redo_tip{};
    };
    Result<> set_pending(const std::optional<journal::Pending>& pending);
    Result<> end_pending(NodeNumber redo_tip);
    /// What was written unseen while the first edge was made ready: kRefuse gives ESTALE, nothing
    /// was done; kStays leaves it there, as if it had come after, and so it is at every later edge.
    enum class Late { kRefuse, kStays };
    /// Without `redo_tip` this goes back, and redo leads to where it came from.
    Result<> go_to(NodeNumber target, std::optional<NodeNumber> redo_tip, Late late);
    Result<> cross_all(NodeNumber target, Late late);
    Result<journal::DeltaSeal> write_inverse(const journal::Delta& delta,
                                             journal::DeltaNumber number);
    Result<> cross(const Crossing& crossing, const Node& node, NodeNumber target, Late late);
    Result<> begin_applying(const journal::Pending& pending, const LayerPtr& layer, bool is_last);
    Result<> begin_interval_anew();
    Result<> stop_before_applying(const Error& why, journal::Pending pending);
    Result<> turn_back(const Error& why, const journal::Pending& pending);
    using Meanwhile = Restorer::Meanwhile;
    Result<> apply(const journal::Delta& delta, const Restorer::DataOf& data_of,
                   Meanwhile meanwhile);
    Result<> apply_delta(const journal::Delta& delta, journal::DeltaNumber number,
                         Meanwhile meanwhile);
    Result<> arrive(const Crossing& crossing, const Node& node, const journal::DeltaSeal& inverse,
                    NodeNumber target);
    Result<> finish_pending(const journal::Pending& pending);
    Result<Edges> all_edges();
    Result<> take_over_unseen();
    Result<NodeId> look_up(const std::string& path);
    Result<> mend_for_recovery();
    Result<> recover_closed();
    /// Recovery goes to `back_to` until this is sealed.
    Result<> apply_images(const RevertPlan& plan, NodeNumber back_to);
    Result<> refuse_late_writes(const journal::Delta& delta);
    Result<> take_back_images(const Error& why, NodeNumber back_to);
    Result<> drop_all_but(NodeNumber node);
    Result<> begin_purge();
    Result<> purge_steps(NodeNumber root);
    Result<> cross_for_good(const Node& node, NodeNumber root);
    Result<> leave_for_good(const Node& node, journal::DeltaNumber inverse, NodeNumber root);
    Result<> finish_purge(const journal::Pending& pending);
    Error purge_stopped(const Error& why);
    struct Weighed;
    Result<Weighed> weigh(const Asker& asker, const Decision& decision);
    Result<> anchor_live(const ObjectKey& key);
    Result<> apply_decision(const Weighed& weighed, const Decision& decision, OriginNumber origin);
    Result<> write_decision(const Weighed& weighed, const Decision& decision, OriginNumber origin);
    class StateTree;
    Result<> note_revert(const StateTree& tree, const WaitingRevert& waiting,
                         const std::string& event);

    // Without the gate.
    /// False when nothing was in the interval, or nothing may be changed.
    Result<bool> divide(const Who& who);
    /// Anything between the root and the live state.
    bool has_changes(const History& history) const;
    void tidy_up();
    /// Nothing is written to the data of that delta from now on.
    void is_sealed(journal::DeltaNumber delta) {
        checksummer_.add(delta);
        compressor_.add(delta);
    }
    Result<> take_sealed();
    void begin_task(const Node& root) {
        if (policed_) policed_->begin_task(root.time_ns);
    }
    Result<> repair_audit(Checked& checked);
    std::string mark_of(int root, const std::string& path) const;
    bool is_empty_delta(journal::DeltaNumber delta) const;
    Result<bool> is_as_in(const LayerPtr& layer, const ObjectKey& key);
    /// The open interval holds nothing, or nothing but what may change unseen and did not.
    Result<bool> is_idle();
    Result<bool> looks_idle();  ///< the same, with the gate open
    /// Before the live state moves: the open interval becomes a state, unless it is idle, and what
    /// is changed unseen is carried from there. Gate closed.
    Result<> end_interval(const std::string& cause);
    /// `redo_tip`: where redo leads afterwards, when the caller knows.
    Result<Moved> move(const Asker& asker, NodeNumber target, Consent consent, bool refuse_behind,
                       std::optional<NodeNumber> redo_tip = std::nullopt);
    Result<Edges> edges_to(NodeNumber target);
    RoomNeeded room_for(const Edges& edges);
    Error too_full(std::uint64_t wanted) const;
    bool has_room_for(std::uint64_t bytes) const;
    /// Between two operations: what they gave up of the ballast is put by again, as far as it goes.
    void put_room_by() { journal_->ballast().fill(journal::Ballast::When::kCalm); }
    /// Gate open.
    Result<Moved> purge_in_place(const Asker& asker, const Error& why);
    Error name_purge(const Asker& asker, NodeNumber root, const Error& why);
    Result<> refuse_without_room(const RoomNeeded::Amount& needed);
    /// Of what the edges, or the plan, need of captured bytes: kCorrupt where it is not what it
    /// was.
    template <typename Needed>
    Result<> refuse_damaged(const Needed& needed) {
        CapturedProof proof(locator_);
        TRY(proof.need(needed));
        return proof.refuse();
    }
    Result<journal::Store::Changed> apply_in_any_room(const journal::Store::Change& change);
    void make_room_after(const Error& why);
    bool is_written_behind(const ObjectKey& key);
    std::vector<std::string> written_behind(const Edges& edges);
    /// What would go although it did not come through the mount: nothing where that is not known.
    Result<std::vector<std::string>> put_outside(const WantedNames& wanted);
    Result<> learn_what_was_made(const journal::LeftTraces& left);
    Result<> book_vanished(NodeNumber target);
    struct Foreseen {
        Moved moved{};
        bool vanished = false;  ///< anything behind the mount
        RoomNeeded::Amount room{};
    };
    /// What was changed behind the mount on the way.
    Result<> find_behind(const Edges& edges, Foreseen& foreseen);
    Result<> find_behind_surely(const Edges& edges, Foreseen& foreseen);
    Result<std::vector<std::string>> behind_since(NodeNumber node);
    Result<Foreseen> foresee(const Asker& asker, NodeNumber target, Detail detail);
    std::vector<journal::Origin> others_in(const std::vector<Change>& changes,
                                           OriginNumber asking) const;
    /// others and own, from the changes.
    void name_owners(Moved& moved, OriginNumber asking) const;
    std::optional<std::set<NodeNumber>> steps_on_the_way(const History& history,
                                                         NodeNumber target) const;
    void name_who_went_back(const History& history, const std::set<NodeNumber>& gone, Moved& moved,
                            OriginNumber asking) const;
    Result<> check_written_behind(const RevertPlan& plan);
    Result<Moved> carry_out(const Asker& asker, const RevertPlan& plan, const Record& record,
                            bool dry_run);
    Result<Moved> revert_parts(const Asker& asker, const RevertSelection& selection,
                               const Record& record, Consent consent);
    struct Redo;
    Result<Redo> plan_redo(const History& history);
    Result<Moved> redo_once(const Asker& asker, Consent consent);
    struct RedoWay {
        NodeNumber target = 0;
        NodeNumber tip = 0;        ///< before
        NodeNumber tip_after = 0;  ///< when `count` have come again
        unsigned count = 0;        ///< as many as there are, at most those asked for
        bool is_plain = false;     ///< one move to `target` is all of them
    };
    Result<RedoWay> redo_way(const History& history, unsigned count);
    Result<Moved> cross_again(const Asker& asker, const Redo& redo, Consent consent);
    Result<> cross_edge_again(const Asker& asker, const LayerPtr& layer, const LaterChanges& later,
                              const Record& record, Consent consent, Moved& moved);
    Result<std::optional<Step>> step_called(const std::string& what);
    std::set<NodeNumber> steps_of_session(const std::string& session);
    OriginNumber origin_of(const Asker& asker);

    std::unique_ptr<journal::Journal> journal_;
    SessionOptions options_;
    std::unique_ptr<Origins> origins_;
    std::unique_ptr<journal::AuditLog> audit_log_;
    Auditor auditor_;
    Questions questions_;
    Objects objects_;
    Capture capture_;
    Gate gate_;
    Janitor janitor_;
    Compressor compressor_;
    Checksummer checksummer_;
    LiveTree tree_;
    Reserve reserve_;
    Locator locator_;
    Beginning beginning_;
    std::unique_ptr<PolicedTree> policed_;  // null: everything is allowed
    Restorer restorer_;
    Inspector inspector_;
    Tally tally_;  // guarded by operation_mutex_
    Committer committer_;
    std::mutex operation_mutex_;
    journal::Head head_;  // guarded by operation_mutex_; what the store says
    Found found_;
    bool opened_ = false;
    bool knows_all_made_ = true;  // what was made through the mount; guarded by operation_mutex_
};

}  // namespace unwrite::overlay
