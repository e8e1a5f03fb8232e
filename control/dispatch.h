// From a request to one call of the operations: the table of commands, and what an agent may not
// ask for.
#pragma once

#include <functional>

#include "control/adopted.h"
#include "control/peer.h"
#include "control/wire.h"
#include "overlay/refused.h"

namespace unwrite::control {

/// What the daemon offers besides the operations.
struct Service {
    DaemonInfo info;
    std::function<Result<>()> stop;                          ///< begins the unmount and returns
    std::function<Result<std::uint64_t>()> journal_bytes{};  ///< on the disk; null: not known
    std::function<bool()> ending;  ///< whether it began, for any reason; may be empty
    /// Reads the configuration anew and puts its policy in force, unless it is only to be checked.
    /// Answers with its rules that are about no name in the workspace.
    std::function<Result<std::vector<overlay::RuleShown>>(const overlay::Asker& asker,
                                                          bool only_check)>
        reload;
    /// The text of the workspace's own configuration.
    std::function<Result<std::string>()> config_text;
    /// Checks `text`, puts its policy in force and the text in the place of `before`; answers as
    /// reload does. kConflict when `before` is not what the file holds.
    std::function<Result<std::vector<overlay::RuleShown>>(
        const overlay::Asker& asker, const std::string& before, const std::string& text)>
        set_config;
    /// The user has answered what becomes of an interrupted task (overlay::Session::answered).
    std::function<Result<>()> answered;
    /// As overlay::refused_in() of the workspace; null: there is nothing to tell.
    std::function<Result<overlay::Refused>(std::int64_t since_ns, const std::string& session)>
        refused;
    /// The last process that was adopted has ended; may be empty.
    std::function<void()> last_gone;
    overlay::Oversight* oversight = nullptr;  ///< outlives the server; null: there is none
};

struct Client {
    Peer peer;
    bool agent = false;  ///< descends from a run
};

/// Thread-safe. The referenced objects outlive it.
class Dispatch {
 public:
    Dispatch(overlay::Operations& operations, Service& service, Agents& agents)
        : operations_(operations),
          service_(service),
          agents_(agents),
          adopted_([this](const Process& process, bool last) { gone(process, last); }) {}

    /// kRefused for what agents may not do: commit, discard, answer questions, stop, recover, gc
    /// and repairs, adopting, ending a run that is not theirs, and restores that would take other
    /// people's work along.
    Result<Json> call(const Client& client, const Request& request);

 private:
    struct Call {
        const Client& client;
        const Json& arguments;
        overlay::Asker asker;
    };
    using Handler = Result<Json> (Dispatch::*)(Call&);
    struct Command {
        const char* name;
        Handler handler;
        bool for_agents;
    };
    static const Command kCommands[];

    Result<Json> info(Call& call);
    Result<Json> size(Call& call);
    Result<Json> progress(Call& call);
    Result<Json> stop(Call& call);
    Result<Json> answered(Call& call);
    Result<Json> checkpoint(Call& call);
    Result<Json> begin_run(Call& call);
    Result<Json> end_run(Call& call);
    Result<Json> adopt(Call& call);
    void gone(const Process& process, bool last);
    Result<Json> rollback(Call& call);
    Result<Json> undo(Call& call);
    Result<Json> revert(Call& call);
    Result<Json> redo(Call& call);
    Result<Json> discard(Call& call);
    Result<Json> commit(Call& call);
    Result<Json> decide(Call& call);
    Result<Json> restore_paths(Call& call);
    Result<Json> request_revert(Call& call);
    Result<Json> apply_reverts(Call& call);
    Result<Json> status(Call& call);
    Result<Json> count(Call& call);
    Result<Json> log(Call& call);
    Result<Json> marked(Call& call);
    Result<Json> trunk(Call& call);
    Result<Json> diff(Call& call);
    Result<Json> marks(Call& call);
    Result<Json> gc(Call& call);
    Result<Json> check(Call& call);
    Result<Json> recover(Call& call);
    /// Texts of what an agent may not read are not for it.
    void withhold(const Call& call, std::vector<overlay::FileDiff>& diffs);
    Result<Json> audit(Call& call);
    Result<Json> refusals(Call& call);
    Result<std::string> session_of(const Client& agent);
    Result<Json> policy(Call& call);
    Result<Json> explain(Call& call);
    Result<Json> may_edit(Call& call);
    Result<Json> allow(Call& call);
    Result<Json> reload(Call& call);
    Result<Json> config(Call& call);
    Result<Json> set_config(Call& call);
    Result<Json> questions(Call& call);
    Result<Json> answer(Call& call);
    Result<Json> pass_over(Call& call);

    /// What an agent hears, and the audit log.
    Error refuse(const Client& client, const std::string& what);

    using Restore = std::function<Result<overlay::Moved>(overlay::Consent consent)>;
    Result<Json> restore(const Call& call, overlay::Consent consent, const Restore& act);
    using Revert = std::function<Result<overlay::Moved>(bool dry_run)>;
    Result<Json> revert(const Call& call, bool dry_run, const Revert& act);

    overlay::Operations& operations_;
    Service& service_;
    Agents& agents_;
    std::mutex adopting_;  ///< one adoption, or the end of one, at a time
    Adopted adopted_;      ///< goes first: its thread uses the others
};

}  // namespace unwrite::control
