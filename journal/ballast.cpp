#include "journal/ballast.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "base/log.h"
#include "base/syscalls.h"

namespace unwrite::journal {

namespace {

constexpr std::uint64_t kLeastShare = 32;  // of the filesystem: one of so many parts at most
constexpr std::uint64_t kUnit = std::uint64_t{64} << 10;
constexpr std::uint64_t kStaysFree = 3;  // times its size

}  // namespace

Ballast::Ballast(int state, std::uint64_t usual)
    : state_(state), size_(sys::share_of_disk(state, usual, kLeastShare)) {
    size_ -= size_ % kUnit;
}

std::uint64_t Ballast::free() const {
    const auto st = sys::statvfs_fd(state_);
    if (!st) return std::numeric_limits<std::uint64_t>::max();
    // Some filesystems keep a last part for root.
    const auto blocks = ::geteuid() == 0 ? st->f_bfree : st->f_bavail;
    return static_cast<std::uint64_t>(blocks) * st->f_frsize;
}

void Ballast::fill(When when) {
    const std::lock_guard lock(mutex_);
    if (is_full_ || (when == When::kPlenty && free() / (kStaysFree + 1) < size_)) return;
    const auto file = sys::open_at(state_, kFile, O_RDWR | O_CREAT, 0600);
    const Result<> filled =
        file ? sys::fallocate(file->get(), 0, 0, size_) : Result<>(file.error());
    if (!filled) log::debug("no room can be put by: " + filled.error().message());
    is_full_ = true;  // or there is nothing to be had
}

bool Ballast::give(Part part) {
    const std::lock_guard lock(mutex_);
    is_full_ = false;
    const auto file = sys::open_at(state_, kFile, O_RDWR);
    const auto st = file ? sys::stat_fd(file->get()) : Result<struct stat>(file.error());
    if (!st || st->st_size == 0) return false;
    const auto has = static_cast<std::uint64_t>(st->st_size);
    const std::uint64_t left = part == Part::kHalf ? size_ / 2 : 0;
    if (has <= left) return false;
    return sys::truncate(file->get(), left).ok();
}

}  // namespace unwrite::journal
