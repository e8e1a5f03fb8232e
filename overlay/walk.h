// A walk over a directory and what is below it, past the mount and past the policy: only looks, and
// changes no access time where the system allows that.
#pragma once

#include <functional>
#include <string>

#include "base/syscalls.h"

namespace unwrite::overlay {

/// `path`: relative to the top. False ends the walk.
using Visit = std::function<bool(const std::string& path, const sys::StatX& x)>;

/// Visits each name below `top`, an open directory, once, but for a state directory at the top. No
/// symbolic link is followed, and other filesystems below are not entered. False when `visit` ended
/// it. What vanishes meanwhile, and what is in a directory that cannot be opened, is left out; an
/// error is that of the top, or of listing.
Result<bool> walk_below(UniqueFd top, const Visit& visit);

}  // namespace unwrite::overlay
