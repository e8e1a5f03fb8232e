// ObjectKey: which inode. An inode number alone is used again after a deletion; with the birth time
// it is not (filesystems without birth times give 0, and then the number alone must do).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace unwrite {

// NOLINTBEGIN(modernize-use-nullptr): clang-tidy 14 takes the 0 inside a defaulted <=> for a
// pointer
struct ObjectKey {
    std::uint64_t ino = 0;
    std::uint64_t birth = 0;  ///< ns since 1970
    auto operator<=>(const ObjectKey&) const = default;
};

/// A directory entry: the parent's key and the name's bytes.
struct NameKey {
    ObjectKey parent;
    std::string name;
    auto operator<=>(const NameKey&) const = default;
};
// NOLINTEND(modernize-use-nullptr)

}  // namespace unwrite

template <>
struct std::hash<unwrite::ObjectKey> {
    std::size_t operator()(const unwrite::ObjectKey& key) const noexcept {
        std::uint64_t h = (key.ino * 0x9E3779B97F4A7C15ULL) ^ key.birth;
        h ^= h >> 32;
        return static_cast<std::size_t>(h * 0xD6E8FEB86659FD93ULL);
    }
};

template <>
struct std::hash<unwrite::NameKey> {
    std::size_t operator()(const unwrite::NameKey& key) const noexcept {
        return std::hash<unwrite::ObjectKey>()(key.parent) * 31 +
               std::hash<std::string>()(key.name);
    }
};
