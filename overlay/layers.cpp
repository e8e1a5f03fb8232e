#include "overlay/layers.h"

#include <algorithm>

namespace unwrite::overlay {

const journal::NameState* Layer::name(const NameKey& at) const {
    const auto found = delta.names.find(at);
    return found == delta.names.end() ? nullptr : &found->second;
}

const journal::ObjectImage* Layer::object(const ObjectKey& key) const {
    const auto found = delta.objects.find(key);
    return found == delta.objects.end() ? nullptr : &found->second;
}

void Layer::place(const journal::NameState& state) {
    below[state.image.at.parent].push_back(&state);
    if (state.image.object) placing[*state.image.object].push_back(&state);
}

void Layer::sort_ranges(journal::ObjectImage& image) {
    std::sort(image.content.begin(), image.content.end(),
              [](const auto& a, const auto& b) { return a.offset < b.offset; });
}

void Layer::index() {
    for (auto& [key, image] : delta.objects)
        sort_ranges(image);
    for (const auto& [at, state] : delta.names)
        place(state);
}

void Layer::index(const journal::DeltaFollower::Added& added) {
    for (const ObjectKey& key : added.content)
        sort_ranges(delta.objects.at(key));
    for (const journal::NameState* state : added.names)
        place(*state);
}

Result<LayerPtr> Layers::read(journal::DeltaNumber number) {
    if (const auto found = layers_.find(number); found != layers_.end()) return found->second;
    const int deltas = journal_.state_dir().deltas();
    auto layer = std::make_shared<Layer>();
    layer->number = number;
    TRY_ASSIGN(layer->delta, journal_.read_delta(number));
    if (!layer->delta.objects.empty()) {
        TRY_ASSIGN(layer->data, journal::DeltaData::find(deltas, number, pool_));
    }
    layer->index();
    layers_.emplace(number, layer);
    return LayerPtr(layer);
}

Result<LayerPtr> Layers::read_to_keep(journal::DeltaNumber number) {
    TRY_ASSIGN(LayerPtr layer, read(number));
    if (layer->data) TRY(layer->data->pin());
    return layer;
}

Result<std::vector<LayerPtr>> Layers::read(const std::vector<Crossing>& path) {
    std::vector<LayerPtr> layers;
    for (const Crossing& crossing : path) {
        if (crossing.delta == 0) continue;
        TRY_ASSIGN(LayerPtr layer, read(crossing.delta));
        if (!layer->delta.empty()) layers.push_back(std::move(layer));
    }
    return layers;
}

}  // namespace unwrite::overlay
