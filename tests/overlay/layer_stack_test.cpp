#include "overlay/layer_stack.h"

#include <gtest/gtest.h>

#include <random>

namespace unwrite::overlay {
namespace {

ObjectKey object(std::uint64_t number) {
    return {number, 1};
}

/// A layer that has an image of these objects, and of a name for each of them.
LayerPtr layer_of(journal::DeltaNumber number, const std::vector<std::uint64_t>& objects) {
    auto layer = std::make_shared<Layer>();
    layer->number = number;
    for (const std::uint64_t one : objects) {
        layer->delta.objects[object(one)].size = number;
        const NameKey at{object(one % 3), "name " + std::to_string(one)};
        layer->delta.names[at].image = {at, object(one), S_IFREG};
    }
    layer->index();
    return layer;
}

using Numbers = std::vector<journal::DeltaNumber>;

template <class Each>
Numbers numbers(const Each& each) {
    Numbers found;
    each([&](const LayerPtr& layer) {
        found.push_back(layer->number);
        return true;
    });
    return found;
}

Numbers imaging(const Way& way, std::uint64_t one) {
    return numbers([&](const auto& visit) { way.each_imaging(object(one), visit); });
}

Numbers crossed(const Way& way) {
    Numbers found;
    for (const LayerPtr& layer : way)
        found.push_back(layer->number);
    return found;
}

TEST(LayerStack, AWayWithoutLayersMentionsNothing) {
    const Way none;
    EXPECT_TRUE(none.empty());
    EXPECT_EQ(imaging(none, 1), Numbers());
    EXPECT_FALSE(none.names({object(1), "name 1"}));
    EXPECT_EQ(crossed(none), Numbers());
    EXPECT_TRUE(Way(std::vector<LayerPtr>()).empty());
}

TEST(LayerStack, WhatIsCrossedLastComesFirst) {
    const Way way(std::vector<LayerPtr>{layer_of(9, {1}), layer_of(5, {1, 2}), layer_of(3, {1})});
    EXPECT_EQ(crossed(way), Numbers({9, 5, 3}));
    EXPECT_EQ(imaging(way, 1), Numbers({3, 5, 9}));
    EXPECT_EQ(imaging(way, 2), Numbers({5}));
    EXPECT_EQ(numbers([&](const auto& visit) { way.each_below(object(2), visit); }), Numbers({5}));
    EXPECT_EQ(numbers([&](const auto& visit) { way.each_placing(object(1), visit); }),
              Numbers({3, 5, 9}));
    int asked = 0;
    way.each_imaging(object(1), [&](const LayerPtr&) { return ++asked < 2; });
    EXPECT_EQ(asked, 2);
}

TEST(LayerStack, PartsOfItAreWaysToOtherStates) {
    const auto stack = std::make_shared<LayerStack>(std::vector<LayerPtr>{
        layer_of(9, {1}), layer_of(7, {2}), layer_of(5, {1, 2}), layer_of(3, {1})});
    const Way near(stack, 2, 4);
    const Way far(stack, 0, 4);
    EXPECT_EQ(crossed(near), Numbers({9, 7}));
    EXPECT_EQ(imaging(near, 1), Numbers({9}));
    EXPECT_EQ(imaging(far, 1), Numbers({3, 5, 9}));
    EXPECT_TRUE(far.contains(near));
    EXPECT_FALSE(near.contains(far));
    for (const Way& between : {Way::between(near, far), Way::between(far, near)}) {
        EXPECT_EQ(crossed(between), Numbers({5, 3}));
        EXPECT_EQ(imaging(between, 1), Numbers({3, 5}));
        EXPECT_EQ(imaging(between, 2), Numbers({5}));
    }
    EXPECT_EQ(crossed(Way::between(far, Way())), Numbers({9, 7, 5, 3}));
    EXPECT_EQ(crossed(Way::between(Way(), near)), Numbers({9, 7}));
    EXPECT_TRUE(Way::between(near, near).empty());
}

TEST(LayerStack, BetweenWaysThatPartIsWhatIsLeftOfBoth) {
    const LayerPtr open = layer_of(9, {1});
    const LayerPtr up = layer_of(7, {1});
    const Way one(std::vector<LayerPtr>{open, up, layer_of(5, {1})});
    const Way other(std::vector<LayerPtr>{open, up, layer_of(4, {1}), layer_of(3, {2})});
    EXPECT_EQ(crossed(Way::between(one, other)), Numbers({5, 4, 3}));
}

// Layers are added, and more is read into the newest, as a tally does it.
TEST(LayerStack, AGrowingOneSaysWhatItsLayersSay) {
    std::mt19937 random(7);
    const auto any = [&](std::size_t most) { return static_cast<std::size_t>(random()) % most; };
    const auto stack = std::make_shared<LayerStack>();
    std::vector<std::shared_ptr<Layer>> layers;  // the oldest first
    for (journal::DeltaNumber number = 1; number <= 60; ++number) {
        layers.push_back(std::make_shared<Layer>());
        layers.back()->number = number;
        stack->add(layers.back());
        for (std::size_t i = any(4); i > 0; --i) {
            layers.back()->delta.objects[object(any(10))].size = 1;
            const std::size_t from = any(number);
            const Way way(stack, from, number);
            for (std::uint64_t one = 0; one < 10; ++one) {
                Numbers wanted;
                for (std::size_t at = from; at < number; ++at) {
                    if (layers[at]->object(object(one)) != nullptr) wanted.push_back(at + 1);
                }
                ASSERT_EQ(imaging(way, one), wanted) << number;
            }
        }
        if (any(3) != 0) stack->settle(stack->size() - any(2));
    }
}

}  // namespace
}  // namespace unwrite::overlay
