// Waiting: requests that wait until a person has answered a question. Whoever serves the tree keeps
// such a request (without a thread), and is told here when to go on with it.
//
// A request that may wait says so in its Caller; when it must, the tree refuses it, having done
// nothing, and puts the number of the question there. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace unwrite::overlay {

using QuestionNumber = std::uint64_t;  ///< from 1 on; never reused while the workspace is open
/// Whoever keeps requests tells them apart by it.
using Ticket = std::uint64_t;

class Waiting {
 public:
    using Clock = std::chrono::steady_clock;
    /// `error` 0: ask the tree again; else that errno is the answer.
    using Release = std::function<void(const std::vector<Ticket>& tickets, int error)>;

    virtual ~Waiting() = default;

    /// Who is told; called from any thread with no lock held. Empty: nobody keeps requests, and
    /// none waits.
    virtual void set_release(Release release) = 0;
    /// The request waits from now on, and is released once. False when the question is not open
    /// any more: ask the tree again.
    virtual bool await(QuestionNumber question, Ticket ticket) = 0;
    /// It waits no more. A question for which nobody waits is withdrawn.
    virtual void leave(QuestionNumber question, Ticket ticket) = 0;
    /// Refuses what nobody answered in time. When to call again; nothing when no question is open.
    virtual std::optional<Clock::time_point> expire() = 0;
    /// Refuses all that waits and all that would wait from now on.
    virtual void close() = 0;
};

}  // namespace unwrite::overlay
