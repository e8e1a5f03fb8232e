// Ballast: room on the disk that the journal has put by in a file of the state directory. On a
// full disk it is given up, so that what goes back, accepts or ends can still be written; later it
// is put by again. Thread-safe.
#pragma once

#include <cstdint>
#include <mutex>

#include "base/result.h"

namespace unwrite::journal {

class Ballast {
 public:
    static constexpr const char* kFile = "ballast";

    /// `state`: a descriptor of the state directory, which outlives this. `usual`: its size in
    /// bytes; no more than a 32nd of the filesystem.
    explicit Ballast(int state, std::uint64_t usual = std::uint64_t{8} << 20);

    std::uint64_t size() const { return size_; }
    /// Bytes of the filesystem that this process may still write.
    std::uint64_t free() const;
    enum class When {
        kPlenty,  ///< if three times the whole stays free
        kNow
    };
    /// Puts by what is missing. For the writer. Where the filesystem reserves nothing, or that
    /// fails, there is less, or none.
    void fill(When when = When::kPlenty);
    enum class Part { kHalf, kAll };
    /// Gives up room: half of the whole, or all that is left. False: it was given up already.
    bool give(Part part);

 private:
    const int state_;
    std::uint64_t size_;
    std::mutex mutex_;      // guards what follows
    bool is_full_ = false;  // nothing was given up since it was filled
};

}  // namespace unwrite::journal
