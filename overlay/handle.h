// Handle: a descriptor of one object, opened by name and verified by key. Thread-safe: a handle
// never changes.
#pragma once

#include <memory>
#include <string>

#include "base/object_key.h"
#include "base/result.h"
#include "base/syscalls.h"

namespace unwrite::overlay {

/// What a descriptor can do. A directory is only ever opened as a path.
enum class Access { kPath = 0, kRead = 1, kWrite = 2 };

struct Handle {
    UniqueFd fd;
    Access access = Access::kPath;
};
using HandlePtr = std::shared_ptr<const Handle>;

inline ObjectKey key_of(const sys::StatX& x) {
    return {x.st.st_ino, x.birth};
}

/// Opens (directory, name) and verifies the key: ESTALE when something else is there. For a daemon
/// that is not root, what is its own is opened also where a mode forbids it (base/lend_mode.h).
Result<HandlePtr> open_verified(int directory, const std::string& name, const ObjectKey& key,
                                Access access);

/// ENOTEMPTY when the directory at (parent, name) holds anything; else as open_verified.
Result<> expect_empty(int parent, const std::string& name, const ObjectKey& key);

}  // namespace unwrite::overlay
