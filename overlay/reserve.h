// Reserve: free space of the workspace's filesystem that is the user's. Agents may neither make the
// journal copy anything into it nor write anything new there: whoever rewrites or makes files for
// ever does not fill the disk, and there is room left to go back. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "journal/ballast.h"

namespace unwrite::overlay {

class Reserve {
 public:
    /// `directory`: a descriptor on that filesystem, which outlives this. `bytes`: 0 for none;
    /// without a value 64 MiB, and no more than a sixteenth of the filesystem. `ballast`, if there
    /// is one, outlives this.
    Reserve(int directory, std::optional<std::uint64_t> bytes, journal::Ballast* ballast = nullptr);

    /// What an ordinary write takes: with less room than that left, the user is told.
    static constexpr std::uint64_t kNextWrite = std::uint64_t{64} << 10;

    std::uint64_t bytes() const { return bytes_; }
    /// False when so many bytes more, copied now, would leave less than the reserve. Asks the
    /// system; where that does not answer, everything is allowed.
    bool allows(std::uint64_t more) const;
    /// The same for bytes that are new, and of new files one for each, on the path of every write:
    /// the system is asked every 16 MiB or 100 ms, whichever comes first. In between, what others
    /// take is not seen. For who is no agent, the answer says nothing.
    bool lasts(std::uint64_t more) const;
    /// What a new file, directory or link takes at least.
    static constexpr std::uint64_t kNewFile = 4096;
    /// The user deletes something on a full disk: true when there is room now to note what it was.
    bool give_to_user() const;

 private:
    int directory_;
    std::uint64_t bytes_;
    mutable std::atomic<std::int64_t> known_{0};     // so many bytes may come before the next look
    mutable std::atomic<std::int64_t> until_ns_{0};  // of the coarse clock: as long as it counts
    journal::Ballast* ballast_;
};

}  // namespace unwrite::overlay
