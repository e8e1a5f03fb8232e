// A snapshot: everything that is below a raw directory, byte-exact, without the state directory.
// Content is kept as a hash in which a hole and written zeros are the same, for they read the same.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace unwrite::tests {

struct SnapshotEntry {
    std::string what;  ///< type, mode, owner, size, content, target, device, xattrs, and with which
                       ///< path it shares its inode
    std::int64_t mtime_ns = 0;
    bool operator==(const SnapshotEntry&) const = default;
};

/// By path relative to the directory; "" is the directory itself.
using Snapshot = std::map<std::string, SnapshotEntry>;

enum class Times { kCompare, kIgnore };

/// Throws std::runtime_error when something cannot be read.
Snapshot snapshot(const std::string& directory);
/// Readable, one line for each path that differs; empty when the two are equal.
std::string difference(const Snapshot& a, const Snapshot& b, Times times = Times::kCompare);

/// For handing a snapshot to another process.
void save(const Snapshot& snapshot, const std::string& file);
Snapshot load_snapshot(const std::string& file);

/// Bytes as text that is safe to print.
std::string printable(const std::string& bytes);

}  // namespace unwrite::tests
