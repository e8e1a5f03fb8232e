#include "overlay/due_queue.h"

#include <utility>

#include "base/background.h"

namespace unwrite::overlay {

namespace {

// What cannot be done now: another delta shares the file, or the disk is nearly full.
constexpr std::chrono::minutes kAgain{10};

}  // namespace

DueQueue::DueQueue(std::optional<std::chrono::milliseconds> after, Work work)
    : after_(after), work_(std::move(work)) {
    if (after_) thread_ = std::thread([this] { run(); });
}

DueQueue::~DueQueue() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

bool DueQueue::is_ending() const {
    const std::lock_guard lock(mutex_);
    return ending_;
}

void DueQueue::add(journal::DeltaNumber number) {
    if (!after_ || number == 0) return;
    bool is_first = false;
    {
        const std::lock_guard lock(mutex_);
        const auto added = due_.emplace(Clock::now() + *after_, number);
        is_first = added == due_.begin();
    }
    // Else the thread wakes for another one before this one is due: to wake it now takes longer
    // than all else that is done here.
    if (is_first) wake_.notify_one();
}

void DueQueue::run() {
    become_background();
    std::unique_lock lock(mutex_);
    while (!ending_) {
        if (due_.empty()) {
            wake_.wait(lock);
            continue;
        }
        const auto first = due_.begin();
        if (first->first > Clock::now()) {
            const Clock::time_point until = first->first;
            wake_.wait_until(lock, until);
            continue;
        }
        const journal::DeltaNumber number = first->second;
        due_.erase(first);
        lock.unlock();
        const bool again = work_(number);
        lock.lock();
        if (again) due_.emplace(Clock::now() + kAgain, number);
    }
}

}  // namespace unwrite::overlay
