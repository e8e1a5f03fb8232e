// Where git keeps its objects, in a repository that others use as well (a linked work tree's): what
// comes new there is not recorded. An object is named after its bytes, so who needs the same one
// relies on it, and writes none; taking it back would break their repository. What goes, or is
// replaced, is recorded as everywhere. Pure functions of names.
#pragma once

#include <cstdint>
#include <string_view>

namespace unwrite::overlay {

/// What a directory is in a shared repository.
enum class GitPlace : std::uint8_t {
    kNone,        ///< elsewhere
    kRepository,  ///< the top of it
    kInside,      ///< anywhere below, nothing special
    kObjects,     ///< its `objects`
    kStore,       ///< `objects/5a`, `objects/pack`
    kScratch,     ///< what git makes for a moment while it writes objects
};

/// What the directory `name` in `parent` is.
GitPlace git_place_below(GitPlace parent, std::string_view name);

/// Others make and replace names there beside us.
inline bool is_shared(GitPlace place) {
    return place != GitPlace::kNone;
}

/// A directory of objects: it stays, whatever becomes of what is in it, for others put theirs
/// there.
inline bool stays(GitPlace parent, std::string_view name) {
    return git_place_below(parent, name) == GitPlace::kStore;
}

/// Whether the directory's own times follow what happens in it, and are not recorded then.
inline bool is_busy(GitPlace place) {
    return place == GitPlace::kObjects || place == GitPlace::kStore || place == GitPlace::kScratch;
}

/// Whether the path, below the repository, is that of a file in the store, or of a directory of it
/// when it ends in a slash.
bool is_in_git_store(std::string_view path);

/// Whether a change of that name is recorded. `stands`: something is there before.
bool is_recorded(GitPlace parent, std::string_view name, bool stands);

}  // namespace unwrite::overlay
