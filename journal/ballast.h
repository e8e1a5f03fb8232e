// Ballast: room on the disk that the journal has put by in a file of the state directory. On a
// full disk it is given up, so that what goes back, accepts or ends can still be written; later it
// is put by again. Where the disk is nearly full already it is a part of what is left. Thread-safe.
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
    /// Bytes that are put by now. Asks the system.
    std::uint64_t held() const;
    /// Bytes of the filesystem that this process may still write.
    std::uint64_t free() const;
    /// False where the filesystem has so few inodes left that what goes back may find none.
    bool has_inodes() const;
    enum class When {
        kPlenty,  ///< all of it, if three times the whole stays free
        kCalm,    ///< between two operations: what there is, if as much stays free
        kBack     ///< what was given up since it was filled the last time
    };
    /// Puts by what is missing. For the writer. Where the filesystem reserves nothing, or that
    /// fails, there is less, or none.
    void fill(When when = When::kPlenty);
    enum class Part { kHalf, kAll };
    /// Gives up room: half of what was put by, or all that is left. False: it was given up already.
    bool give(Part part);

 private:
    std::uint64_t wanted(When when, std::uint64_t has) const;

    const int state_;
    std::uint64_t size_;
    std::mutex mutex_;         // guards what follows
    std::uint64_t whole_ = 0;  // what it held when it was filled the last time
    bool is_full_ = false;     // nothing was given up since it was filled with all
};

}  // namespace unwrite::journal
