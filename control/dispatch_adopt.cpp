// Adopting: a running process becomes an agent.
#include <cerrno>
#include <limits>

#include "base/log.h"
#include "control/dispatch.h"

namespace unwrite::control {

// A process that was adopted may ask for itself again: what it has changed so far becomes a step,
// and the next one begins. That widens nothing, because it stays the same agent. An agent adopts
// nobody else.
Result<Json> Dispatch::adopt(Call& call) {
    std::string text;
    std::int64_t pid = 0;
    TRY(Fields(call.arguments).get("text", text).get("pid", pid).done());
    if (pid <= 0 || pid > std::numeric_limits<pid_t>::max())
        return Error(ErrorKind::kUsage, EINVAL, "adopt: bad pid");
    TRY_ASSIGN(Held held, hold(static_cast<pid_t>(pid), call.client.peer));
    const std::lock_guard lock(adopting_);
    const auto before = agents_.adopted(held.process);
    if (call.client.agent) {
        const auto own = agents_.run_of(call.client.peer.pid);
        if (before && own != before) return refuse(call.client, "adopt");
        // In a run nothing is missing.
        if (!before && own && agents_.run_of(held.process.pid) == own) {
            return Error(ErrorKind::kNothing, EALREADY,
                         "adopt " + std::to_string(pid) + ": it is an agent already");
        }
        if (!before) return refuse(call.client, "adopt");
    } else if (!before && agents_.is_agent(held.process.pid)) {
        return Error(ErrorKind::kNothing, EALREADY,
                     "adopt " + std::to_string(pid) + ": it is an agent already");
    }
    const Process process = held.process;
    call.asker.pid = pid;
    // The name is the user's choice.
    if (call.client.agent) call.asker.session.clear();
    TRY_ASSIGN(const overlay::Node node, operations_.begin_run(call.asker, text));
    agents_.adopt(node.number, process);
    if (before) {
        agents_.remove(*before, 0, /*is_user=*/true);
        return encode(node);
    }
    if (const Result<> watched = adopted_.watch(std::move(held)); !watched) {
        agents_.remove(node.number, 0, /*is_user=*/true);
        ignore(operations_.end_run(node.number), "nobody watches it; that is what is reported");
        return watched.error().with_context("adopt");
    }
    return encode(node);
}

void Dispatch::gone(const Process& process, bool last) {
    {
        const std::lock_guard lock(adopting_);
        const auto run = agents_.adopted(process);
        if (!run) return;
        agents_.remove(*run, 0, /*is_user=*/true);
        const Result<> ended = operations_.end_run(*run);
        if (!ended) log::error("end an adopted session: " + ended.error().message());
    }
    if (last && service_.last_gone) service_.last_gone();
}

}  // namespace unwrite::control
