#include "overlay/flusher.h"

#include <vector>

#include "base/write_back.h"

namespace unwrite::overlay {

namespace {

// Whoever writes a file in many pieces has a pass for this long at a time.
constexpr std::chrono::milliseconds kPause{10};
// So long after its last write a file counts as closed.
constexpr std::chrono::seconds kQuiet{2};

}  // namespace

Flusher::Flusher() : thread_([this] { work(); }) {}

Flusher::~Flusher() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

void Flusher::cut(const ObjectKey& key, const HandlePtr& handle) {
    const std::lock_guard lock(mutex_);
    File& file = files_[key];
    file.handle = handle;
    file.touched = Clock::now();
    count_.store(files_.size(), std::memory_order_relaxed);
}

void Flusher::note(const ObjectKey& key) {
    {
        const std::lock_guard lock(mutex_);
        const auto found = files_.find(key);
        if (found == files_.end()) return;
        found->second.touched = Clock::now();
        found->second.dirty = true;
        if (dirty_) return;
        dirty_ = true;
    }
    wake_.notify_one();
}

/// Forgets those that were not written to for long. Lock held.
std::vector<HandlePtr> Flusher::take_dirty() {
    std::vector<HandlePtr> dirty;
    const auto now = Clock::now();
    for (auto at = files_.begin(); at != files_.end();) {
        File& file = at->second;
        const bool over = !file.dirty && now - file.touched > kQuiet;
        if (file.dirty) dirty.push_back(file.handle);
        file.dirty = false;
        at = over ? files_.erase(at) : std::next(at);
    }
    count_.store(files_.size(), std::memory_order_relaxed);
    dirty_ = false;
    return dirty;
}

void Flusher::work() {
    std::unique_lock lock(mutex_);
    while (!stop_ || dirty_) {
        const auto is_due = [this] { return stop_ || dirty_; };
        if (files_.empty()) {
            wake_.wait(lock, is_due);
        } else {
            wake_.wait_for(lock, kQuiet, is_due);
        }
        const std::vector<HandlePtr> dirty = take_dirty();
        if (dirty.empty()) continue;
        lock.unlock();
        for (const HandlePtr& handle : dirty)
            ignore(sys::begin_write_back(handle->fd.get()), "the kernel does it by itself, later");
        std::this_thread::sleep_for(kPause);
        lock.lock();
    }
}

}  // namespace unwrite::overlay
