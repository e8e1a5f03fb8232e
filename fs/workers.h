// Workers: the threads that take requests from the kernel and answer them. There are always as many
// as are busy, and one: a request that blocks (at the gate, on a slow disk) never keeps another
// from being served.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "fs/attendance.h"
#include "fs/awake.h"
#include "fs/event.h"
#include "fs/library.h"
#include "fs/server.h"

namespace unwrite::fs {

class Workers {
 public:
    /// `most`: how many threads there may be. The server's session is mounted, and outlives this.
    static Result<std::unique_ptr<Workers>> make(Server& server, unsigned most, Idle idle,
                                                 bool spin);
    ~Workers();  ///< stops and joins

    Result<> start();
    /// No further request is taken; those under way are finished.
    void stop();
    void join();
    /// Set when the session is over: unmounted, aborted, or the device failed.
    const Event& ended() const { return ended_; }
    unsigned count() const { return count_.load(); }

 private:
    Workers(Server& server, unsigned most, bool spin, Event stopping, Event ended,
            Doorbell doorbell);
    int receive(fuse_buf& buffer);
    Result<> add();
    void grow();
    void process(const fuse_buf& buffer);
    void work();
    int next_request(Attendance::Turn& turn, unsigned& streak) const;

    Server& server_;
    fuse_session* session_;
    unsigned most_;
    Event stopping_;
    Event ended_;
    Attendance attendance_;
    std::unique_ptr<Awake> awake_;  // null: processors sleep when they like
    std::atomic<bool> stop_{false};
    std::atomic<int> idle_{0};  // threads that wait for a request (or are about to)
    std::atomic<unsigned> count_{0};
    std::mutex mutex_;
    std::vector<std::thread> threads_;  // guarded by mutex_
};

}  // namespace unwrite::fs
