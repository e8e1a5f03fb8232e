#include "overlay/reserve.h"

#include <algorithm>
#include <ctime>

#include "base/syscalls.h"

namespace unwrite::overlay {

namespace {

constexpr std::uint64_t kUsual = std::uint64_t{64} << 20;
constexpr std::uint64_t kLeastShare = 16;  // of the filesystem: one of so many parts at most

constexpr std::int64_t kMostKnown = std::int64_t{16} << 20;
constexpr std::int64_t kLooked = 100'000'000;  // ns
// A disk can also be full of files.
constexpr std::uint64_t kFiles = 1024;

/// A tick late at most, and next to nothing to ask for.
std::int64_t coarse_now_ns() {
    struct timespec now {};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

Reserve::Reserve(int directory, std::optional<std::uint64_t> bytes, journal::Ballast* ballast)
    : directory_(directory),
      bytes_(bytes ? *bytes : sys::share_of_disk(directory, kUsual, kLeastShare)),
      ballast_(ballast) {}

bool Reserve::give_to_user() const {
    return ballast_ != nullptr && ballast_->give(journal::Ballast::Part::kHalf);
}

bool Reserve::allows(std::uint64_t more) const {
    if (bytes_ == 0) return true;
    const auto st = sys::statvfs_fd(directory_);
    if (!st) return true;
    const std::uint64_t free = st->f_bavail * st->f_frsize;
    return free >= bytes_ && free - bytes_ >= more;
}

// Two that look at the same time may both take what there is: by that much, and by what others take
// until the next look, the reserve can be fallen short of.
bool Reserve::lasts(std::uint64_t more) const {
    if (bytes_ == 0) return true;
    const auto wanted =
        static_cast<std::int64_t>(std::min<std::uint64_t>(more, std::uint64_t{1} << 62));
    const std::int64_t now = coarse_now_ns();
    if (now < until_ns_.load(std::memory_order_relaxed) &&
        known_.fetch_sub(wanted, std::memory_order_relaxed) >= wanted)
        return true;
    const auto st = sys::statvfs_fd(directory_);
    if (!st) return true;
    const std::uint64_t free = st->f_bavail * st->f_frsize;
    const bool has_files =
        st->f_files == 0 || st->f_favail >= std::min<std::uint64_t>(kFiles, st->f_files / 16);
    if (!has_files || free < bytes_ || free - bytes_ < more) {
        until_ns_.store(0, std::memory_order_relaxed);
        return false;
    }
    const auto left = static_cast<std::int64_t>(free - bytes_ - more);
    known_.store(std::min(left, kMostKnown), std::memory_order_relaxed);
    until_ns_.store(now + kLooked, std::memory_order_relaxed);
    return true;
}

}  // namespace unwrite::overlay
