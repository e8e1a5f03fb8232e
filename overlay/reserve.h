// Reserve: free space of the workspace's filesystem that is the user's. Agents may not make the
// journal copy anything into it: whoever rewrites files for ever does not fill the disk with what
// the files were, and there is room left to go back. Thread-safe.
#pragma once

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
    /// The user deletes something on a full disk: true when there is room now to note what it was.
    bool give_to_user() const;

 private:
    int directory_;
    std::uint64_t bytes_;
    journal::Ballast* ballast_;
};

}  // namespace unwrite::overlay
