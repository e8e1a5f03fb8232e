#include "fs/helper.h"

#include <linux/close_range.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "base/syscalls.h"
#include "fs/threads.h"
#include "fs/tuning.h"

namespace unwrite::fs {

Result<std::unique_ptr<Helper>> Helper::start(const char* name, Descriptors descriptors) {
    std::unique_ptr<Helper> helper(new Helper);
    TRY_ASSIGN(helper->thread_,
               start_thread(name, [self = helper.get(), descriptors] { self->live(descriptors); }));
    std::unique_lock lock(helper->mutex_);
    helper->changed_.wait(lock, [&] { return helper->id_ != 0; });
    if (!helper->state_) return helper->state_.error();
    return Result<std::unique_ptr<Helper>>((lock.unlock(), std::move(helper)));
}

Helper::~Helper() {
    end();
}

void Helper::end() {
    {
        const std::scoped_lock lock(mutex_);
        stopping_ = true;
        changed_.notify_all();
    }
    const std::scoped_lock lock(ending_);
    if (thread_.joinable()) thread_.join();
}

void Helper::post(std::function<void()> job) {
    {
        const std::scoped_lock lock(mutex_);
        jobs_.push_back(std::move(job));
        ++posted_;
    }
    changed_.notify_all();  // without the lock, or who is woken would wait for it
}

// Most jobs are over sooner than a sleeping thread is awake again.
bool Helper::wait(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    const std::uint64_t target = posted_;
    lock.unlock();
    const auto spin = std::min<std::chrono::microseconds>(tuning::kSpin, patience);
    const auto end = std::chrono::steady_clock::now() + spin;
    while (done_.load() < target && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
    lock.lock();
    changed_.wait_for(lock, patience, [&] { return is_over(target); });
    return done_ >= target;
}

bool Helper::wait() {
    std::unique_lock lock(mutex_);
    const std::uint64_t target = posted_;
    changed_.wait(lock, [&] { return is_over(target); });
    return done_ >= target;
}

namespace {

Result<> separate_descriptors() {
    constexpr unsigned kFirst = STDERR_FILENO + 1;
    if (::close_range(kFirst, UINT_MAX, CLOSE_RANGE_UNSHARE) == 0) return {};
    return sys::last_error().with_context("separate the descriptor table");
}

}  // namespace

void Helper::live(Descriptors descriptors) {
    Result<> prepared;
    if (descriptors == Descriptors::kOwn) prepared = separate_descriptors();
    std::unique_lock lock(mutex_);
    state_ = std::move(prepared);
    id_ = ::gettid();
    changed_.notify_all();
    while (state_) {
        changed_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
        if (stopping_) return;
        const auto job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        job();
        lock.lock();
        ++done_;
        lock.unlock();
        changed_.notify_all();
        lock.lock();
    }
}

}  // namespace unwrite::fs
