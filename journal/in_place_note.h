// What is being written over a file in place (overlay/live_in_place.cpp). The file `in-place` in
// the state directory is made before the first byte changes and removed after the last, so a life
// that was killed in between leaves it to the next one, which knows both texts.
#pragma once

#include <optional>
#include <string>

#include "base/object_key.h"
#include "base/syscalls.h"

namespace unwrite::journal {

struct InPlace {
    ObjectKey key{};
    std::string before{};
    std::string after{};
};

/// `state` is the open state directory, and its writer's lock is held, as for the others. ENOSPC.
Result<> note_in_place(int state, const InPlace& note, sys::Durable durable);
/// Nothing when there is none, or when it was not wholly written: then no byte was changed.
Result<std::optional<InPlace>> noted_in_place(int state);
Result<> forget_in_place(int state);

/// How far `after` was written when the file held `now`: the whole when it is there and what was
/// longer was not cut off yet, too. Nothing when `now` is something else, so somebody changed it.
std::optional<std::size_t> written_in_place(const InPlace& note, std::string_view now);

}  // namespace unwrite::journal
