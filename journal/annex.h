// The annex of a workspace: one directory elsewhere that belongs to it as well, the repository of a
// linked work tree or of a submodule. The history has objects of it, so the state directory keeps
// which directory it is: it is not looked for anew as long as there is a history.
#pragma once

#include <optional>
#include <string>

#include "base/object_key.h"
#include "base/result.h"

namespace unwrite::journal {

struct Annex {
    std::string path;  ///< absolute, in the real file system
    ObjectKey key;
};

/// Nothing where none was noted. kCorrupt: what was noted is damaged.
Result<std::optional<Annex>> read_annex(int state);
/// On the disk when this returns; whole or not at all.
Result<> write_annex(int state, const Annex& annex);

}  // namespace unwrite::journal
