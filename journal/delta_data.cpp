#include "journal/delta_data.h"

#include <fcntl.h>

#include <cerrno>

#include "journal/delta_format.h"

namespace unwrite::journal {

namespace {

ObjectKey key_of(const sys::StatX& x) {
    return {x.st.st_ino, x.birth};
}

}  // namespace

std::size_t DeltaDataPool::open() const {
    const std::lock_guard lock(mutex_);
    return open_.size();
}

Result<DeltaDataPtr> DeltaData::find(int deltas, DeltaNumber number,
                                     std::shared_ptr<DeltaDataPool> pool) {
    const auto file = sys::statx_at(deltas, delta_data_name(number));
    if (!file) {
        if (file.error().number() == ENOENT) return DeltaDataPtr();
        return file.error();
    }
    return std::make_shared<DeltaData>(deltas, number, key_of(*file), std::move(pool));
}

DeltaData::~DeltaData() {
    const std::lock_guard lock(pool_->mutex_);
    if (fd_ && !pinned_) pool_->open_.erase(at_);
}

Error DeltaData::is_gone() const {
    return Error(ErrorKind::kCorrupt, EIO,
                 "delta " + std::to_string(number_) + ": the captured bytes were removed meanwhile",
                 "try again, and run `unwrite check` if it stays");
}

Result<UniqueFd> DeltaData::open_anew() const {
    auto fd = sys::open_at(deltas_, delta_data_name(number_), O_RDONLY);
    if (!fd) {
        if (fd.error().number() == ENOENT) return is_gone();
        return std::move(fd).error();
    }
    TRY_ASSIGN(const sys::StatX x, sys::statx_at(fd->get(), ""));
    if (key_of(x) != file_) return is_gone();
    return fd;
}

Result<OpenData> DeltaData::open() {
    {
        const std::lock_guard lock(pool_->mutex_);
        if (fd_) {
            if (!pinned_) pool_->open_.splice(pool_->open_.begin(), pool_->open_, at_);
            return fd_;
        }
    }
    TRY_ASSIGN(UniqueFd fd, open_anew());
    OpenData opened = std::make_shared<const UniqueFd>(std::move(fd));
    OpenData closed;  // outlives the lock
    const std::lock_guard lock(pool_->mutex_);
    if (fd_) return fd_;  // another thread was faster
    if (pool_->open_.size() >= pool_->most_) {
        closed = std::move(pool_->open_.back()->fd_);
        pool_->open_.back()->fd_ = nullptr;
        pool_->open_.pop_back();
    }
    pool_->open_.push_front(this);
    at_ = pool_->open_.begin();
    fd_ = opened;
    return opened;
}

Result<> DeltaData::pin() {
    TRY_ASSIGN(const OpenData opened, open());
    const std::lock_guard lock(pool_->mutex_);
    if (pinned_) return {};
    if (fd_) pool_->open_.erase(at_);
    fd_ = opened;
    pinned_ = true;
    return {};
}

}  // namespace unwrite::journal
