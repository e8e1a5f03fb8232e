#include "overlay/reserve.h"

#include <algorithm>

#include "base/syscalls.h"

namespace unwrite::overlay {

namespace {

constexpr std::uint64_t kUsual = std::uint64_t{64} << 20;
constexpr std::uint64_t kLeastShare = 16;  // of the filesystem: one of so many parts at most

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

}  // namespace unwrite::overlay
