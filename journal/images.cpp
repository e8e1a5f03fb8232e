#include "journal/images.h"

namespace unwrite::journal {

std::set<ObjectKey> Delta::mentioned() const {
    std::set<ObjectKey> keys;
    for (const auto& [at, state] : names) {
        keys.insert(at.parent);
        if (state.image.object) keys.insert(*state.image.object);
    }
    for (const auto& [key, image] : objects) {
        if (image.attributes || image.size || !image.content.empty()) keys.insert(key);
    }
    return keys;
}

}  // namespace unwrite::journal
