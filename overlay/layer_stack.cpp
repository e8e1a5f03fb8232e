#include "overlay/layer_stack.h"

namespace unwrite::overlay {

LayerStack::LayerStack(const std::vector<LayerPtr>& crossed)
    : layers_(crossed.rbegin(), crossed.rend()) {
    settle(layers_.size());
}

void LayerStack::settle(std::size_t count) {
    for (; indexed_ < count; ++indexed_)
        index(indexed_);
}

void LayerStack::index(std::size_t number) {
    const Layer& layer = *layers_[number];
    for (const auto& [name, state] : layer.delta.names)
        naming_[name].push_back(number);
    for (const auto& [object, image] : layer.delta.objects)
        imaging_[object].push_back(number);
    for (const auto& [object, states] : layer.placing)
        placing_[object].push_back(number);
    for (const auto& [directory, states] : layer.below)
        below_[directory].push_back(number);
}

bool Way::names(const NameKey& name) const {
    bool any = false;
    each_naming(name, [&](const LayerPtr&) {
        any = true;
        return false;
    });
    return any;
}

Way Way::between(const Way& a, const Way& b) {
    if (a.empty()) return b;
    if (b.empty()) return a;
    if (a.stack_ == b.stack_ && a.to_ == b.to_)
        return {a.stack_, std::min(a.from_, b.from_), std::max(a.from_, b.from_)};
    auto one = a.begin();
    auto two = b.begin();
    for (; one != a.end() && two != b.end() && *one == *two; ++one)
        ++two;
    std::vector<LayerPtr> left(one, a.end());
    left.insert(left.end(), two, b.end());
    return left;
}

}  // namespace unwrite::overlay
