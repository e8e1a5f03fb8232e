#include "overlay/compressor.h"

#include "base/background.h"
#include "base/log.h"
#include "journal/delta_format.h"
#include "journal/pack.h"

namespace unwrite::overlay {

namespace {

// What cannot be done now: another delta shares the file, or the disk is nearly full.
constexpr std::chrono::minutes kAgain{10};

}  // namespace

Compressor::Compressor(int deltas, std::optional<std::chrono::milliseconds> cold, bool durable)
    : deltas_(deltas), cold_(cold), durable_(durable), reserve_(deltas, std::nullopt) {
    if (cold_) thread_ = std::thread([this] { work(); });
}

Compressor::~Compressor() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

void Compressor::add(journal::DeltaNumber sealed) {
    if (!cold_ || sealed == 0) return;
    bool is_first = false;
    {
        const std::lock_guard lock(mutex_);
        const auto added = due_.emplace(Clock::now() + *cold_, sealed);
        is_first = added == due_.begin();
    }
    // Else the thread wakes for another one before this one is due: to wake it now takes longer
    // than all else that is done here.
    if (is_first) wake_.notify_one();
}

void Compressor::work() {
    become_background();
    std::unique_lock lock(mutex_);
    while (!stop_) {
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
        const bool again = pack(number);
        lock.lock();
        if (again) due_.emplace(Clock::now() + kAgain, number);
    }
}

bool Compressor::pack(journal::DeltaNumber number) {
    const auto raw = sys::stat_at(deltas_, journal::delta_data_name(number));
    if (!raw) return false;
    if (!reserve_.allows(static_cast<std::uint64_t>(raw->st_blocks) * 512)) return true;
    journal::PackRequest request;
    request.durable = durable_;
    request.always = cold_->count() == 0;  // tests want to meet it everywhere
    // Also when others fill the disk meanwhile: what is written here is not to be what is missing.
    request.stop = [this] {
        if (!reserve_.allows(0)) return true;
        const std::lock_guard lock(mutex_);
        return stop_;
    };
    const auto packed = journal::pack_delta_data(deltas_, number, request);
    if (packed) {
        return *packed == journal::Packed::kShared || *packed == journal::Packed::kStopped;
    }
    if (sys::is_out_of_room(packed.error())) return true;
    log::warning(packed.error().message());
    return false;
}

}  // namespace unwrite::overlay
