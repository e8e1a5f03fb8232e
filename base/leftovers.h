// Leftovers: what nobody needs any more, and what takes long to free. Whoever lets go of the last
// one frees it: where nobody waits.
#pragma once

#include <memory>
#include <utility>

namespace unwrite {

using Leftovers = std::shared_ptr<const void>;

/// What `container` holds; it is empty after that. Null when there is so little that it was freed
/// at once.
template <class Container>
Leftovers take_leftovers(Container& container) {
    constexpr std::size_t kFew = 16;
    if (container.size() <= kFew) {
        container.clear();
        return nullptr;
    }
    return std::make_shared<const Container>(std::exchange(container, Container()));
}

}  // namespace unwrite
