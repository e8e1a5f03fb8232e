#include "journal/spare_files.h"

#include <fcntl.h>

#include <cerrno>

namespace unwrite::journal {

namespace {

constexpr std::size_t kMost = 4;  // a log and data, for an interval and for the inverse of one

}  // namespace

bool SpareFiles::is_full() const {
    const std::lock_guard lock(mutex_);
    return cannot_ || spare_.size() >= kMost;
}

void SpareFiles::refill() {
    while (!is_full()) {
        auto made = sys::open_at(deltas_, ".", O_RDWR | O_TMPFILE, 0600);
        const std::lock_guard lock(mutex_);
        if (!made) {
            // A full disk may have room the next time.
            cannot_ = made.error().number() == EOPNOTSUPP || made.error().number() == EISDIR;
            return;
        }
        spare_.push_back(*std::move(made));
    }
}

UniqueFd SpareFiles::take() {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) return {};
    UniqueFd file = std::move(spare_.back());
    spare_.pop_back();
    return file;
}

Result<UniqueFd> SpareFiles::open(const std::string& name) {
    if (UniqueFd file = take(); file && sys::link_fd(file.get(), deltas_, name)) return file;
    return sys::open_at(deltas_, name, O_RDWR | O_CREAT, 0600);
}

}  // namespace unwrite::journal
