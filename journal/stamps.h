// Stamps: what captured files looked like after our last change of each, so that whoever changes
// one behind the mount is noticed. They live in memory while a workspace is mounted; a clean end
// leaves them in the file `stamps`, and the next opening takes them from there. A process that is
// killed leaves none: what is not known accuses nobody.
#pragma once

#include <sys/stat.h>

#include <unordered_map>

#include "base/object_key.h"
#include "base/syscalls.h"

namespace unwrite::journal {

struct Stamp {
    std::int64_t size = 0;
    std::int64_t mtime_ns = 0;  ///< since 1970
    bool operator==(const Stamp&) const = default;

    static Stamp of(const struct stat& st) {
        return {st.st_size, st.st_mtim.tv_sec * 1'000'000'000LL + st.st_mtim.tv_nsec};
    }
};
using Stamps = std::unordered_map<ObjectKey, Stamp>;

/// Writes the file anew; removes it when there are none. `state` is the open state directory, and
/// its writer's lock is held, as for take_stamps.
Result<> leave_stamps(int state, const Stamps& stamps);
/// Reads the file and removes it. Of a torn or damaged one what is whole counts; of an absent one,
/// or one of another version, nothing.
Result<Stamps> take_stamps(int state);

}  // namespace unwrite::journal
