// LayerStack: layers one above the other, as a way from the live state crosses them, with what each
// mentions; so an answer about one name or object does not take longer among ten thousand layers
// than among ten. A Way is a part of a stack: ways to nodes of one branch share it.
//
// Not thread-safe; a stack that does not grow any more may be looked at by many.
#pragma once

#include <algorithm>
#include <iterator>

#include "overlay/layers.h"

namespace unwrite::overlay {

class LayerStack {
 public:
    /// In the order in which they are crossed. All are whole.
    explicit LayerStack(const std::vector<LayerPtr>& crossed);
    LayerStack() = default;

    /// One that is crossed before all others. More may be read into it until settle().
    void add(LayerPtr layer) { layers_.push_back(std::move(layer)); }
    /// Nothing more is read into these, counted from the one that is crossed last.
    void settle(std::size_t count);
    std::size_t size() const { return layers_.size(); }

 private:
    friend class Way;
    using Mentions = std::vector<std::size_t>;  // layers by their number in layers_, rising
    void index(std::size_t number);

    std::vector<LayerPtr> layers_;  // the one that is crossed last is the first
    std::size_t indexed_ = 0;       // so many of them
    std::unordered_map<NameKey, Mentions> naming_;
    std::unordered_map<ObjectKey, Mentions> imaging_;
    std::unordered_map<ObjectKey, Mentions> placing_;
    std::unordered_map<ObjectKey, Mentions> below_;
};

/// The layers that are crossed on a way, of which the last decides.
class Way {
 public:
    Way() = default;
    Way(std::shared_ptr<const LayerStack> stack, std::size_t from, std::size_t to)
        : stack_(std::move(stack)), from_(from), to_(to) {}
    /// In the order of crossing.
    Way(const std::vector<LayerPtr>& crossed)  // NOLINT(google-explicit-constructor): the same
        : stack_(crossed.empty() ? nullptr : std::make_shared<LayerStack>(crossed)),
          to_(crossed.size()) {}

    bool empty() const { return from_ == to_; }
    /// In the order of crossing.
    auto begin() const { return std::make_reverse_iterator(at(to_)); }
    auto end() const { return std::make_reverse_iterator(at(from_)); }
    /// All of `other` is a part of it.
    bool contains(const Way& other) const {
        return other.empty() ||
               (stack_ == other.stack_ && from_ <= other.from_ && other.to_ <= to_);
    }
    /// What only one of two ways crosses: first what is left of `a`, then of `b`.
    static Way between(const Way& a, const Way& b);

    // These call `visit`, with a LayerPtr, for each layer that mentions it, the one that decides
    // first, until it returns false.

    template <class Visit>
    void each_naming(const NameKey& name, const Visit& visit) const {
        const auto has = [&](const Layer& layer) { return layer.name(name) != nullptr; };
        if (stack_) each(stack_->naming_, name, has, visit);
    }
    /// With anything about the object itself.
    template <class Visit>
    void each_imaging(const ObjectKey& object, const Visit& visit) const {
        const auto has = [&](const Layer& layer) { return layer.object(object) != nullptr; };
        if (stack_) each(stack_->imaging_, object, has, visit);
    }
    /// With a name at which the object stood.
    template <class Visit>
    void each_placing(const ObjectKey& object, const Visit& visit) const {
        const auto has = [&](const Layer& layer) { return layer.placing.contains(object); };
        if (stack_) each(stack_->placing_, object, has, visit);
    }
    /// With a name in the directory.
    template <class Visit>
    void each_below(const ObjectKey& directory, const Visit& visit) const {
        const auto has = [&](const Layer& layer) { return layer.below.contains(directory); };
        if (stack_) each(stack_->below_, directory, has, visit);
    }
    bool names(const NameKey& name) const;

 private:
    std::vector<LayerPtr>::const_iterator at(std::size_t number) const {
        static const std::vector<LayerPtr> none;
        return (stack_ ? stack_->layers_ : none).begin() + static_cast<std::ptrdiff_t>(number);
    }
    template <class Index, class Key, class Has, class Visit>
    void each(const Index& index, const Key& key, const Has& has, const Visit& visit) const {
        const auto& layers = stack_->layers_;
        if (const auto found = index.find(key); found != index.end()) {
            const auto& mentions = found->second;
            auto number = std::lower_bound(mentions.begin(), mentions.end(), from_);
            for (; number != mentions.end() && *number < to_; ++number) {
                if (!visit(layers[*number])) return;
            }
        }
        for (std::size_t i = std::max(from_, stack_->indexed_); i < to_; ++i) {
            if (has(*layers[i]) && !visit(layers[i])) return;
        }
    }

    std::shared_ptr<const LayerStack> stack_{};  // null: no layers
    std::size_t from_ = 0;                       // the one that is crossed last
    std::size_t to_ = 0;                         // behind the one that is crossed first
};

}  // namespace unwrite::overlay
