// Held: requests that wait until a person has answered. What is kept is a copy of the request, and
// no thread: when there is an answer it is processed once more, from the beginning, by the one
// thread that this has. The kernel has the caller sleep meanwhile; a signal to the caller is an
// interrupt of the request here, and answered with EINTR.
//
// libfuse knows nothing of a request that is kept: it was told that there is no answer to give.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "fs/library.h"
#include "fs/server.h"
#include "overlay/waiting.h"

namespace unwrite::fs {

/// Thread-safe.
class Held {
 public:
    /// `waiting` and the server outlive it.
    static Result<std::unique_ptr<Held>> start(Server& server, overlay::Waiting& waiting);
    /// Refuses what still waits. No request is processed by others any more.
    ~Held();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    /// Instead of an answer, from the callback of a request that must wait (raw_flags().question).
    /// `error`: the answer when there is no room for more of them.
    void keep(fuse_req_t request, int error);
    /// Processes an interrupt, whether or not it is about a kept request.
    void interrupt(const fuse_buf& buffer);
    /// No request waits from now on.
    void refuse_all() { waiting_.close(); }

 private:
    struct Kept {
        std::string bytes;
        overlay::QuestionNumber question = 0;
        int answer = 0;
    };

    Held(Server& server, overlay::Waiting& waiting) : server_(server), waiting_(waiting) {}
    void live();
    void process(Kept& kept);
    bool add(Kept kept);
    bool take(std::uint64_t unique, int answer);  // mutex_ held
    void release(const std::vector<overlay::Ticket>& tickets, int error);

    Server& server_;
    overlay::Waiting& waiting_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::unordered_map<std::uint64_t, Kept> kept_;  // by the kernel's number; guarded by mutex_
    std::size_t bytes_ = 0;                         // of kept_; guarded by mutex_
    std::deque<Kept> released_;                     // guarded by mutex_
    bool look_again_ = false;                       // at when questions expire; guarded by mutex_
    bool stop_ = false;                             // guarded by mutex_
    std::thread thread_;
};

}  // namespace unwrite::fs
