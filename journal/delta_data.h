// The captured bytes of deltas, for whoever looks at many deltas at once: each is opened when it is
// read, and of those that were, the ones that were read last stay open. Bytes that are compressed
// meanwhile (pack.h) are found where they are then.
#pragma once

#include <list>
#include <memory>
#include <mutex>

#include "base/object_key.h"
#include "journal/data_file.h"

namespace unwrite::journal {

class DeltaData;

/// How many files are open at once, of those that were found for it; who reads one in this moment
/// or pinned it has it open beside these. Thread-safe. Lives as long as any of them.
class DeltaDataPool {
 public:
    static constexpr std::size_t kMostOpen = 64;
    /// `sums`: with which the bytes of each are compared when they are read; outlives this. Null:
    /// with none.
    explicit DeltaDataPool(const Checksums* sums, std::size_t most = kMostOpen)
        : sums_(sums), most_(most) {}
    std::size_t open() const;
    /// Of who keeps the pool for long: what was compressed meanwhile takes its space until nobody
    /// has the raw file open. It is opened again, as it is then, when it is read.
    void close_outdated();

 private:
    friend class DeltaData;
    OpenData close(DeltaData& data);

    const Checksums* const sums_;
    const std::size_t most_;
    mutable std::mutex mutex_;
    std::list<DeltaData*> open_;  // the one that was read last first; guarded by mutex_
};

/// The bytes of one delta. Thread-safe.
class DeltaData {
 public:
    /// Null (not an error) when the delta has none. `deltas` is the open directory, and outlives
    /// it.
    static Result<std::shared_ptr<DeltaData>> find(int deltas, DeltaNumber number,
                                                   std::shared_ptr<DeltaDataPool> pool);
    DeltaData(int deltas, DeltaNumber number, const ObjectKey& file,
              std::shared_ptr<DeltaDataPool> pool)
        : deltas_(deltas), number_(number), file_(file), pool_(std::move(pool)) {}
    DeltaData(const DeltaData&) = delete;
    DeltaData& operator=(const DeltaData&) = delete;
    ~DeltaData();

    /// The file that was found, or what was compressed from it since. kCorrupt when it was removed:
    /// other bytes, or none, are never taken for it.
    Result<OpenData> open();
    /// From here on it stays open, and readable when the delta is removed.
    Result<> pin();

 private:
    friend class DeltaDataPool;
    Result<OpenData> open_anew() const;

    const int deltas_;
    const DeltaNumber number_;
    const ObjectKey file_;
    const std::shared_ptr<DeltaDataPool> pool_;
    OpenData open_{};                       // null: not open; guarded by the pool's mutex
    std::list<DeltaData*>::iterator at_{};  // in the pool, while open and not pinned; likewise
    bool pinned_ = false;                   // likewise
};
using DeltaDataPtr = std::shared_ptr<DeltaData>;

/// Its images speak of bytes that are not there.
Error captured_bytes_missing(DeltaNumber number);

}  // namespace unwrite::journal
