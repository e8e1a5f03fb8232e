// Stamps: what files looked like after our last change of each, and which objects were made through
// the mount, so that whoever changes one behind the mount, or puts another one there, is noticed.
// They live in memory while a workspace is mounted; a clean end leaves them in the file `stamps`,
// and the next opening takes them from there. A process that is killed leaves none: what is not
// known accuses nobody.
#pragma once

#include <sys/stat.h>

#include <optional>
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
/// What is known of one object.
struct Trace {
    std::optional<Stamp> stamp{};  ///< how we left it
    bool made = false;             ///< through the mount, since the task began
    bool operator==(const Trace&) const = default;
};
using Traces = std::unordered_map<ObjectKey, Trace>;

struct LeftTraces {
    Traces traces{};
    /// Every object that was made in the task is among them. False of what version 1 left, which
    /// knew only stamps, and of a damaged file.
    bool has_all_made = false;
};

/// Writes the file anew; removes it when there are none. `state` is the open state directory, and
/// its writer's lock is held, as for take_stamps.
Result<> leave_stamps(int state, const Traces& traces);
/// Reads the file and removes it. Of a torn or damaged one what is whole counts; of an absent one,
/// or one of a later version, nothing.
Result<LeftTraces> take_stamps(int state);

}  // namespace unwrite::journal
