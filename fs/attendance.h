// Attendance: who looks for requests, and that somebody always does.
//
// Whoever has answered a request looks for the next one for a moment before he sleeps, for it is
// often there before a sleep would have begun; the doorbell is mute meanwhile. When he has found
// one, the others must hear the bell again before he carries it out, for a request that blocks must
// not keep another from being served. That costs two system calls a request. So where requests
// come one by one (none was there already when he looked, several times in turn), the bell is left
// mute until the request is answered, and a clock wakes one of those who sleep to see whether that
// takes long: then he has the bell listen.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>

#include "fs/doorbell.h"

namespace unwrite::fs {

/// Thread-safe.
class Attendance {
 public:
    /// `most`: how many may look at a time. A looking thread takes a processor from the clients.
    Attendance(Doorbell doorbell, unsigned most) : doorbell_(std::move(doorbell)), most_(most) {}

    /// One thread's part in it.
    class Turn {
     public:
        /// `look` takes a request, or returns -EAGAIN when there is none. Nobody looks longer than
        /// once when `stop` is set.
        Turn(Attendance& attendance, std::function<int()> look, const std::atomic<bool>& stop)
            : attendance_(attendance), look_(std::move(look)), stop_(stop) {}
        /// Looks for a moment. Returns what look returned last: if that is a request, it must be
        /// carried out and next() be called again soon.
        int next();
        /// Sleeps until there may be a request, or the end.
        void sleep();

     private:
        bool take_back();
        int look_on();

        Attendance& attendance_;
        const std::function<int()> look_;
        const std::atomic<bool>& stop_;
        bool rung_ = false;   // the bell rang for this one, and is mute
        bool left_ = false;   // the bell was left mute for the request at hand
        unsigned alone_ = 0;  // requests in turn before which there was none
    };

 private:
    void leave();
    void look_after();

    const Doorbell doorbell_;
    const unsigned most_;
    std::atomic<unsigned> looking_{0};
    std::atomic<std::int64_t> crowded_until_{0};  // of the steady clock, in ns
    // Since when (of the steady clock, in ns) the bell is mute though nobody looks; 0: it is not.
    std::atomic<std::int64_t> left_{0};
    std::atomic<std::uint64_t> times_left_{0};
    std::atomic<bool> clock_runs_{false};  // written under clock_mutex_
    std::mutex clock_mutex_;
    std::uint64_t seen_ = 0;  // of times_left_, when the clock went off; guarded by clock_mutex_
};

}  // namespace unwrite::fs
