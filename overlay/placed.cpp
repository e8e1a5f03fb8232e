#include "overlay/placed.h"

#include "overlay/view.h"

namespace unwrite::overlay {

std::string placed_path(Locator& locator, const Placed& placed, const NameKey& at) {
    std::string path = at.name;
    ObjectKey parent = at.parent;
    for (std::size_t i = 0; i <= placed.size(); ++i) {
        if (const auto live = locator.live_path(parent)) return join_path(*live, path);
        const auto above = placed.find(parent);
        if (above == placed.end()) break;
        path = join_path(above->second.name, path);
        parent = above->second.parent;
    }
    return path;
}

}  // namespace unwrite::overlay
