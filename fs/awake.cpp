#include "fs/awake.h"

#include "base/log.h"
#include "fs/threads.h"
#include "fs/tuning.h"

namespace unwrite::fs {

namespace {

/// In a guest the processors' sleep is the expensive kind, and nobody there saves power by it. A
/// large machine would have many of them wait in a loop for one mount.
bool gains_by_it() {
    return sys::idle_driver() == "haltpoll" &&
           std::thread::hardware_concurrency() <= tuning::kMostAwake;
}

}  // namespace

Result<> can_keep_awake() {
    if (!gains_by_it())
        return Error(ErrorKind::kSystem, ENOTSUP, "no small guest of KVM",
                     "idle = \"awake\" in the configuration does it all the same");
    auto latency = sys::IdleLatency::open();
    if (latency) return {};
    return Error(latency.error().kind(), latency.error().number(), latency.error().text(),
                 "a rule of udev lets others have it: KERNEL==\"cpu_dma_latency\", "
                 "GROUP=\"users\", MODE=\"0660\"");
}

std::unique_ptr<Awake> Awake::make(Idle idle) {
    if (idle == Idle::kAsleep || (idle == Idle::kChoose && !gains_by_it())) return nullptr;
    auto latency = sys::IdleLatency::open();
    if (!latency) {
        log::info("mount: idle processors cannot be kept awake (" + latency.error().message() +
                  ")");
        return nullptr;
    }
    auto started = start(std::move(*latency));
    if (started) return std::move(*started);
    log::warning("mount: keep processors awake: " + started.error().message());
    return nullptr;
}

Result<std::unique_ptr<Awake>> Awake::start(sys::IdleLatency latency) {
    std::unique_ptr<Awake> awake(new Awake(std::move(latency)));
    TRY_ASSIGN(awake->thread_,
               start_thread("unwrite-awake", [self = awake.get()] { self->watch(); }));
    return Result<std::unique_ptr<Awake>>(std::move(awake));
}

Awake::~Awake() {
    {
        const std::scoped_lock lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void Awake::hold() {
    const std::scoped_lock lock(mutex_);
    if (held_) return;
    if (const auto held = latency_.hold(); !held)
        log::warning("mount: keep processors awake: " + held.error().message());
    held_ = true;
    changed_.notify_all();
}

void Awake::watch() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
        changed_.wait(lock, [&] { return stop_ || held_; });
        const unsigned seen = requests_;
        changed_.wait_for(lock, tuning::kAwake, [&] { return stop_; });
        if (!held_ || requests_ != seen) continue;
        if (const auto released = latency_.release(); !released)
            log::warning("mount: let processors sleep: " + released.error().message());
        held_ = false;
    }
}

}  // namespace unwrite::fs
