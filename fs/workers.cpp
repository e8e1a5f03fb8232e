#include "fs/workers.h"

#include <cstdlib>
#include <utility>

#include "base/log.h"
#include "base/syscalls.h"
#include "fs/held.h"
#include "fs/server.h"
#include "fs/threads.h"
#include "fs/tuning.h"

namespace unwrite::fs {

Workers::Workers(Server& server, unsigned most, bool spin, Event stopping, Event ended,
                 Doorbell doorbell)
    : server_(server),
      session_(server.session),
      most_(most),
      stopping_(std::move(stopping)),
      ended_(std::move(ended)),
      // One looking thread is enough on two processors, and too many on one.
      attendance_(std::move(doorbell),
                  spin ? std::min(2U, std::thread::hardware_concurrency() / 2) : 0) {}

Result<std::unique_ptr<Workers>> Workers::make(Server& server, unsigned most, Idle idle,
                                               bool spin) {
    TRY_ASSIGN(auto stopping, Event::make());
    TRY_ASSIGN(auto ended, Event::make());
    const int device = fuse_session_fd(server.session);
    const int flags = ::fcntl(device, F_GETFL);
    if (flags < 0 || ::fcntl(device, F_SETFL, flags | O_NONBLOCK) < 0) return sys::last_error();
    TRY_ASSIGN(Doorbell doorbell, Doorbell::make(device, stopping.fd()));
    std::unique_ptr<Workers> workers(new Workers(server, most, spin, std::move(stopping),
                                                 std::move(ended), std::move(doorbell)));
    workers->awake_ = Awake::make(idle);
    return Result<std::unique_ptr<Workers>>(std::move(workers));
}

Workers::~Workers() {
    stop();
    join();
}

Result<> Workers::start() {
    for (unsigned i = 0; i < std::min(tuning::kFirstWorkers, most_); ++i)
        TRY(add());
    return {};
}

void Workers::stop() {
    stop_ = true;
    stopping_.set();
}

void Workers::join() {
    for (;;) {
        std::vector<std::thread> threads;
        {
            const std::scoped_lock lock(mutex_);
            threads.swap(threads_);
        }
        if (threads.empty()) return;
        for (std::thread& thread : threads)
            thread.join();
    }
}

Result<> Workers::add() {
    const std::scoped_lock lock(mutex_);
    if (stop_) return {};
    idle_.fetch_add(1);
    auto started = start_thread("unwrite-fs", [this] { work(); });
    if (!started) {
        idle_.fetch_sub(1);
        return std::move(started).error();
    }
    threads_.push_back(std::move(*started));
    count_.fetch_add(1);
    return {};
}

void Workers::grow() {
    if (count_.load() >= most_) return;
    // Without a new thread the next request waits for one of the busy ones: slower, not wrong.
    if (const auto added = add(); !added) log::warning("mount: " + added.error().message());
}

/// One look at the device. What is counted of a request is counted before this worker is seen to
/// have looked.
int Workers::receive(fuse_buf& buffer) {
    server_.write_back.receiving.fetch_add(1);
    const int got = fuse_session_receive_buf(session_, &buffer);
    if (got > 0) {
        raw_flags() = decode_raw_flags(buffer.mem, buffer.size);
        server_.write_back.count_taken(raw_flags());
    }
    server_.write_back.receiving.fetch_sub(1);
    return got;
}

/// The length of the next request, 0 at the end, or the device's error. `streak`: how many this
/// worker took without having slept between.
int Workers::next_request(Attendance::Turn& turn, unsigned& streak) const {
    while (!stop_) {
        const int got = turn.next();
        if (got != -EAGAIN && got != -EINTR) return got;
        turn.sleep();
        streak = 0;
    }
    return 0;
}

void Workers::process(const fuse_buf& buffer) {
    if (raw_flags().interrupts && server_.held != nullptr) {
        server_.held->interrupt(buffer);
    } else {
        fuse_session_process_buf(session_, &buffer);
    }
}

void Workers::work() {
    fuse_buf buffer = {};
    int got = 0;
    unsigned streak = 0;
    Attendance::Turn turn(
        attendance_, [&] { return receive(buffer); }, stop_);
    while (!stop_) {
        got = next_request(turn, streak);
        if (got <= 0) break;
        if (++streak > tuning::kBurst && awake_) awake_->came();
        if (idle_.fetch_sub(1) == 1) grow();
        process(buffer);
        server_.write_back.count_answered(raw_flags());
        idle_.fetch_add(1);
    }
    std::free(buffer.mem);
    if (got < 0) {
        log::error("mount: reading requests: " + Error(-got).message());
        fuse_session_exit(session_);  // nobody answers: nothing may be asked through the mount
    }
    if (got < 0 || !stop_) {
        ended_.set();
        stop();  // the others find out by themselves, but may sleep
    }
}

}  // namespace unwrite::fs
