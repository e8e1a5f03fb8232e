// Remote: the operations of a workspace that a daemon serves, over its socket. It may be kept for
// long; it is used by one thread at a time.
#pragma once

#include <memory>

#include "control/asking.h"
#include "control/wire.h"

namespace unwrite::control {

class Remote final : public overlay::Operations, public overlay::Oversight {
 public:
    /// Asks the daemon of this mount who it is. kNoWorkspace when it does not answer.
    static Result<std::unique_ptr<Remote>> connect(const MountPoint& mount, Patience patience = {});

    const DaemonInfo& info() const { return info_; }
    /// What is done while an answer does not come; see asking.h.
    void be_patient(Patience patience) { patience_ = std::move(patience); }
    /// For several calls in a row; see Conversation::keep().
    void keep_connection() { daemon_.keep(true); }
    /// Makes the daemon unmount and end; returns when it has begun.
    Result<> stop();
    /// Makes the process `asker.pid` and its descendants agents, in the session `asker.session`,
    /// until it ends; or, for one that was adopted before, begins its next step. Errors: kNothing
    /// when it is an agent already, kRefused, kNotFound.
    Result<overlay::Node> adopt(const overlay::Asker& asker, const std::string& text);
    /// How much the state directory takes on the disk.
    Result<std::uint64_t> journal_bytes();
    /// The user has answered what becomes of an interrupted task.
    Result<> note_answered();

    Result<overlay::Node> checkpoint(const overlay::Asker& asker, overlay::NodeKind kind,
                                     const std::string& name, const std::string& text) override;
    Result<overlay::Node> begin_run(const overlay::Asker& asker, const std::string& text) override;
    Result<> end_run(overlay::NodeNumber run) override;
    Result<overlay::Moved> rollback(const overlay::Asker& asker, const std::string& node, bool pop,
                                    overlay::Consent consent) override;
    Result<overlay::Moved> undo(const overlay::Asker& asker, unsigned count,
                                overlay::Consent consent) override;
    Result<overlay::Moved> revert(const overlay::Asker& asker, const std::string& what,
                                  bool dry_run) override;
    Result<overlay::Moved> redo(const overlay::Asker& asker, unsigned count,
                                overlay::Consent consent) override;
    Result<overlay::Moved> discard(const overlay::Asker& asker, bool purge,
                                   overlay::Consent consent) override;
    Result<overlay::Node> commit(const overlay::Asker& asker, const std::string& text,
                                 bool keep_history) override;
    Result<overlay::Decided> decide(const overlay::Asker& asker, const overlay::Decision& decision,
                                    bool dry_run) override;
    Result<overlay::Moved> restore_paths(const overlay::Asker& asker,
                                         const std::vector<std::string>& paths,
                                         const std::string& node, bool dry_run) override;
    Result<overlay::Status> status(const std::string& since, bool count_lines) override;
    Result<overlay::Counted> count() override;
    /// The same without connect(), in one request.
    static Result<overlay::Counted> count(const MountPoint& mount, const Patience& patience);
    Result<overlay::Log> log(const std::string& path, bool all, bool changes) override;
    Result<overlay::NodeNumber> marked() override;
    Result<std::vector<overlay::Node>> trunk(overlay::NodeNumber from, std::size_t most) override;
    Result<std::vector<overlay::FileDiff>> diff(const std::string& from, const std::string& to,
                                                const std::vector<std::string>& paths,
                                                bool text) override;
    Result<std::vector<std::string>> marks(const std::vector<std::string>& paths) override;
    Result<overlay::Collected> gc(const overlay::Retention& retention) override;
    Result<overlay::Checked> check(bool repair) override;
    Result<> recover() override;

    Result<overlay::AuditTrail> audit(std::uint64_t most) override;
    void note_refusal(const overlay::Asker& asker, const std::string& command) override;
    Result<std::vector<overlay::RuleShown>> rules() override;
    Result<overlay::Explained> explain(const std::string& path) override;
    Result<overlay::MayEdit> may_edit(const overlay::Asker& asker,
                                      const overlay::EditAttempt& attempt) override;
    Result<> allow(const overlay::Asker& asker, const std::string& path, bool agents,
                   std::uint64_t seconds) override;
    Result<overlay::Questioned> questions(const overlay::Watcher& watcher) override;
    Result<overlay::Question> answer(const overlay::Asker& asker, overlay::QuestionNumber number,
                                     bool approve, bool whole_rule) override;
    Result<> pass_over(overlay::QuestionNumber number, std::uint64_t watcher) override;
    /// Makes the daemon read its configuration anew and, unless it is only to be checked, put the
    /// policy of it in force. Answers with the rules that are about no name there.
    Result<std::vector<overlay::RuleShown>> reload_policy(bool only_check);
    /// The text of the workspace's own configuration, which the mount hides.
    Result<std::string> config_text();
    /// Puts `text` in its place and in force; see control::Service::set_config.
    Result<std::vector<overlay::RuleShown>> set_config(const std::string& before,
                                                       const std::string& text);

 private:
    explicit Remote(MountPoint mount) : daemon_(std::move(mount)) {}
    Result<Json> ask(const std::string& command, Json arguments);
    template <class T>
    Result<T> ask_for(const std::string& command, Json arguments);

    Conversation daemon_;
    DaemonInfo info_;
    Patience patience_;
};

}  // namespace unwrite::control
