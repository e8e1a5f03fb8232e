// Checksums: those of the captured bytes of all sealed intervals, in the file checksums.log of the
// state directory. It is read whole when the journal is opened. Each interval gets its own some
// time after it ended (overlay/checksummer.h); from then on nothing is taken back with bytes that
// do not fit them.
//
// A damaged checksums.log costs proof, never data: what it does not speak of is trusted as before.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/unique_fd.h"
#include "journal/block_checksums.h"
#include "journal/images.h"

namespace unwrite::journal {

using ChecksumsPtr = std::shared_ptr<const BlockChecksums>;

/// Thread-safe.
class Checksums {
 public:
    /// `state` is the open state directory, and outlives this. Changes nothing. kRecovery for a
    /// file of a newer version.
    static Result<std::unique_ptr<Checksums>> open(int state);

    /// Null when the delta has none.
    ChecksumsPtr find(DeltaNumber delta) const;
    /// Those of a delta whose data file is that one; null when no delta has it.
    ChecksumsPtr of_file(const ObjectKey& file) const;
    /// For the writer. One write(2); not synced.
    Result<> add(DeltaNumber delta, ChecksumsPtr sums);
    /// For the writer: forgets those of all other deltas, and of `from` and all behind it, whose
    /// numbers may be given out again. The file is written anew when that is worth it, or must be.
    Result<> keep_only(const std::set<DeltaNumber>& deltas, DeltaNumber from);
    /// What of the file is damaged, in words.
    std::vector<std::string> problems() const;

 private:
    explicit Checksums(int state) : state_(state) {}
    Result<> load();
    Result<> write_anew();

    const int state_;
    mutable std::mutex mutex_;  // guards all that follows
    UniqueFd file_;             // opened by the first change
    std::uint64_t end_ = 0;     // where the next record goes; 0: not even a header
    std::uint64_t records_ = 0;
    std::vector<std::string> problems_;
    std::unordered_map<DeltaNumber, ChecksumsPtr> by_delta_;
    std::unordered_map<ObjectKey, std::weak_ptr<const BlockChecksums>> by_file_;
};

}  // namespace unwrite::journal
