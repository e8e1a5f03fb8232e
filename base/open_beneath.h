// Opening what a path leads to beneath a directory and nowhere else (openat2), whoever changes the
// tree meanwhile. Thread-safe.
#pragma once

#include <linux/openat2.h>

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace unwrite::sys {

/// `path` is relative to `root`; empty: `root` itself. `flags` are those of open(2), without
/// O_CREAT; `resolve` (RESOLVE_*) forbids more than leaving `root` and magic links, which are
/// always forbidden: EXDEV and ELOOP.
Result<UniqueFd> open_beneath(int root, const std::string& path, int flags,
                              std::uint64_t resolve = 0);

/// An absolute path without a symbolic link in it: ELOOP where there is one.
Result<UniqueFd> open_without_links(const std::string& path, int flags);
/// Wherever the path leads, also through links.
Result<UniqueFd> open_following(const std::string& path, int flags);

}  // namespace unwrite::sys
