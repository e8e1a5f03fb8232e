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
// ext4 keeps a 50th of its blocks, and so many at most, even from root. (It does not count here
// what its own tables take, so a bit more.)
constexpr std::uint64_t kKeptShare = 40;
constexpr std::uint64_t kMostKept = 4096;
constexpr std::uint64_t kFewInodes = 16;

}  // namespace

Ballast::Ballast(int state, std::uint64_t usual)
    : state_(state), size_(sys::share_of_disk(state, usual, kLeastShare)) {
    size_ -= size_ % kUnit;
}

std::uint64_t Ballast::free() const {
    const auto st = sys::statvfs_fd(state_);
    if (!st) return std::numeric_limits<std::uint64_t>::max();
    std::uint64_t blocks = st->f_bavail;
    // Some filesystems keep a last part for root.
    const std::uint64_t kept =
        std::min<std::uint64_t>(static_cast<std::uint64_t>(st->f_blocks) / kKeptShare, kMostKept);
    if (::geteuid() == 0 && st->f_bfree > kept)
        blocks = std::max<std::uint64_t>(blocks, st->f_bfree - kept);
    return blocks * st->f_frsize;
}

bool Ballast::has_inodes() const {
    const auto st = sys::statvfs_fd(state_);
    return !st || st->f_files == 0 || st->f_ffree >= kFewInodes;
}

std::uint64_t Ballast::held() const {
    const auto st = sys::stat_at(state_, kFile);
    return st ? static_cast<std::uint64_t>(st->st_size) : 0;
}

std::uint64_t Ballast::wanted(When when, std::uint64_t has) const {
    if (when == When::kPlenty) return free() / (kStaysFree + 1) < size_ ? has : size_;
    if (when == When::kBack) return std::max(has, whole_);
    const std::uint64_t half = (std::min(free(), size_ * 2) + has) / 2;
    return std::min(size_, half - half % kUnit);
}

void Ballast::fill(When when) {
    const std::lock_guard lock(mutex_);
    if (is_full_) return;
    const std::uint64_t has = held();
    const std::uint64_t target = wanted(when, has);
    if (target > has) {
        const auto file = sys::open_at(state_, kFile, O_RDWR | O_CREAT, 0600);
        const Result<> filled =
            file ? sys::fallocate(file->get(), 0, has, target - has) : Result<>(file.error());
        if (!filled) {
            log::debug("no room can be put by: " + filled.error().message());
            // What a full disk has given of it goes back.
            if (file) ignore(sys::truncate(file->get(), has), "then there is more of it");
            is_full_ = !sys::is_out_of_room(filled.error());  // or there is nothing to be had
            return;
        }
    } else if (when == When::kPlenty) {
        return;
    }
    whole_ = std::max(has, target);
    is_full_ = whole_ >= size_;
}

bool Ballast::give(Part part) {
    const std::lock_guard lock(mutex_);
    is_full_ = false;
    const auto file = sys::open_at(state_, kFile, O_RDWR);
    const auto st = file ? sys::stat_fd(file->get()) : Result<struct stat>(file.error());
    if (!st || st->st_size == 0) return false;
    const auto has = static_cast<std::uint64_t>(st->st_size);
    if (whole_ == 0) whole_ = has;  // of an earlier life
    const std::uint64_t left = part == Part::kHalf ? whole_ / 2 : 0;
    if (has <= left) return false;
    return sys::truncate(file->get(), left).ok();
}

}  // namespace unwrite::journal
