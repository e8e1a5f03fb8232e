// Changes as a review shows them.
#pragma once

#include <sys/stat.h>

#include <string>

#include "cli/screen/model.h"

namespace unwrite::cli::screen {

inline Item item(const std::string& path,
                 overlay::ChangeKind kind = overlay::ChangeKind::kModified) {
    Item made;
    made.change.kind = kind;
    made.change.path = path;
    made.change.type = S_IFREG;
    return made;
}

}  // namespace unwrite::cli::screen
