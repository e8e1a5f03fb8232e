// The before-images that a delta holds. A delta belongs to one edge of the tree of states and says
// what names and objects were on the far side of it. First image of an item wins; later ones are
// ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/object_key.h"
#include "base/syscalls.h"

namespace unwrite::journal {

using NodeNumber = std::uint64_t;    ///< n<N>; 0: none
using DeltaNumber = std::uint64_t;   ///< file deltas/<N>.log; 0: none
using OriginNumber = std::uint64_t;  ///< a row of the store's origins; 0: unknown

/// What stood at a name: an object, or nothing.
struct NameImage {
    NameKey at{};
    std::optional<ObjectKey> object{};
    std::uint32_t type = 0;  ///< S_IFMT bits of `object`, 0 when absent
};

/// Mode, owner, times and extended attributes (ACLs are among them).
struct Attributes {
    std::uint32_t mode = 0;  ///< st_mode with the type
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    std::int64_t mtime_s = 0;
    std::uint32_t mtime_ns = 0;
    sys::Xattrs xattrs{};
    bool operator==(const Attributes&) const = default;
};

/// Bytes [offset, offset+length) of an object as they were; they stand at `position` of the delta's
/// data file, or were a hole (all zero) when `position` is kHole.
struct ContentImage {
    static constexpr std::uint64_t kHole = ~std::uint64_t{0};
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    std::uint64_t position = 0;
};

/// What was captured of one object. Content ranges never overlap; only bytes below `size` matter.
struct ObjectImage {
    std::optional<Attributes> attributes{};
    std::optional<std::uint64_t> size{};  ///< present when any content was captured
    std::vector<ContentImage> content{};  ///< in order of capture
    std::set<OriginNumber> origins;       ///< who changed it in this interval (aspects, not names)
};

struct NameState {
    NameImage image;
    std::set<OriginNumber> origins;  ///< who changed this name in this interval
};

/// A whole delta in memory.
struct Delta {
    std::unordered_map<NameKey, NameState> names;
    std::unordered_map<ObjectKey, ObjectImage> objects;
    bool empty() const { return names.empty() && objects.empty(); }
    /// Every object the delta needs to exist: images of names, their parents, and objects with
    /// aspects.
    std::set<ObjectKey> mentioned() const;
};

}  // namespace unwrite::journal
