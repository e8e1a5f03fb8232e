#include "journal/delta_data.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "journal/delta_format.h"

namespace unwrite::journal {

Error captured_bytes_missing(DeltaNumber number) {
    return Error(ErrorKind::kCorrupt, EIO,
                 "delta " + std::to_string(number) + ": captured bytes are missing",
                 "run `unwrite check`");
}

std::size_t DeltaDataPool::open() const {
    const std::lock_guard lock(mutex_);
    return open_.size();
}

/// With the mutex. What it returns is closed without.
OpenData DeltaDataPool::close(DeltaData& data) {
    open_.erase(data.at_);
    return std::exchange(data.open_, nullptr);
}

void DeltaDataPool::close_outdated() {
    std::vector<OpenData> outdated;  // outlives the lock
    {
        const std::lock_guard lock(mutex_);
        for (const DeltaData* data : open_)
            outdated.push_back(data->open_);
    }
    std::erase_if(outdated, [](const OpenData& file) { return !file->is_outdated(); });
    const std::lock_guard lock(mutex_);
    for (auto at = open_.begin(); at != open_.end();) {
        DeltaData& data = **at++;
        if (std::ranges::find(outdated, data.open_) != outdated.end()) close(data);
    }
}

// In the order of open_delta_data().
Result<DeltaDataPtr> DeltaData::find(int deltas, DeltaNumber number,
                                     std::shared_ptr<DeltaDataPool> pool) {
    for (const std::string& name : {delta_data_name(number), packed_data_name(number)}) {
        const auto file = sys::statx_at(deltas, name);
        if (file) {
            const ObjectKey key{file->st.st_ino, file->birth};
            return std::make_shared<DeltaData>(deltas, number, key, std::move(pool));
        }
        if (file.error().number() != ENOENT) return file.error();
    }
    return DeltaDataPtr();
}

DeltaData::~DeltaData() {
    OpenData closed;  // outlives the lock
    const std::lock_guard lock(pool_->mutex_);
    if (open_ && !pinned_) closed = pool_->close(*this);
}

Result<OpenData> DeltaData::open_anew() const {
    ChecksumsPtr sums = pool_->sums_ == nullptr ? nullptr : pool_->sums_->find(number_);
    TRY_ASSIGN(OpenData file, open_delta_data(deltas_, number_, std::move(sums)));
    if (file) {
        TRY_ASSIGN(const bool same, file->is_of(file_));
        if (same) return file;
    }
    return Error(ErrorKind::kCorrupt, EIO,
                 "delta " + std::to_string(number_) + ": the captured bytes were removed meanwhile",
                 "try again, and run `unwrite check` if it stays");
}

Result<OpenData> DeltaData::open() {
    {
        const std::lock_guard lock(pool_->mutex_);
        if (open_) {
            if (!pinned_) pool_->open_.splice(pool_->open_.begin(), pool_->open_, at_);
            return open_;
        }
    }
    TRY_ASSIGN(OpenData opened, open_anew());
    OpenData closed;  // outlives the lock
    const std::lock_guard lock(pool_->mutex_);
    if (open_) return open_;  // another thread was faster
    if (pool_->open_.size() >= pool_->most_) closed = pool_->close(*pool_->open_.back());
    pool_->open_.push_front(this);
    at_ = pool_->open_.begin();
    open_ = opened;
    return opened;
}

Result<> DeltaData::pin() {
    TRY_ASSIGN(OpenData opened, open());
    OpenData closed;  // outlives the lock
    const std::lock_guard lock(pool_->mutex_);
    if (pinned_) return {};
    if (open_) closed = pool_->close(*this);
    open_ = std::move(opened);
    pinned_ = true;
    return {};
}

}  // namespace unwrite::journal
