// RunNetwork: `--network model` of a run: which endpoints its command may reach, the proxy for
// them, and what went over it.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cli/known_agents.h"
#include "cli/network/endpoint.h"
#include "cli/network/traffic.h"

namespace unwrite::cli {

class RunNetwork {
 public:
    /// `agent`: null where none is known; `named`: by --endpoint; `state`: the directory for the
    /// list of connections, or "". kUsage where there is nothing that may be reached.
    static Result<RunNetwork> of(const KnownAgent* agent, const std::vector<std::string>& named,
                                 const std::string& state);
    RunNetwork(RunNetwork&& other) noexcept = default;
    RunNetwork& operator=(RunNetwork&& other) noexcept = default;
    /// Ends the proxy.
    ~RunNetwork();

    /// One line: what the command reaches.
    std::string words() const;
    /// The end of a channel for offer_network(), and what that needs to know.
    int far_end() const { return far_.get(); }
    std::vector<std::string> forwards() const;

    /// Starts the proxy, which ends with this process. For a process with one thread, after it has
    /// handed on far_end() and before it opens what a proxy must not hold.
    Result<> start();
    /// Ends it.
    Traffic finish();

 private:
    /// -1 in what was moved from.
    struct Pid {
        pid_t number = -1;
        Pid() = default;
        Pid(Pid&& other) noexcept : number(std::exchange(other.number, -1)) {}
        Pid& operator=(Pid&& other) noexcept {
            std::swap(number, other.number);
            return *this;
        }
    };

    RunNetwork() = default;

    std::vector<Endpoint> endpoints_;
    std::string log_;
    UniqueFd near_;
    UniqueFd far_;
    UniqueFd lifeline_;
    Pid pid_;
};

}  // namespace unwrite::cli
