// One side of a rename.
#pragma once

#include "overlay/live_tree.h"

namespace unwrite::overlay {

struct LiveTree::Side {
    ObjectPtr parent;
    HandlePtr handle;
    std::string name;
    std::optional<Standing> standing;
    bool is_directory() const { return standing && S_ISDIR(standing->type); }
};

}  // namespace unwrite::overlay
