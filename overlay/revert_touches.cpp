#include "overlay/revert_touches.h"

#include <algorithm>
#include <set>
#include <utility>

namespace unwrite::overlay {

using journal::Attributes;

namespace {

// Asks Origins once for each number.
class Selected {
 public:
    Selected(const Origins& origins, const RevertSelection& selection)
        : origins_(origins), selection_(selection) {
        for (const RevertPart& part : selection.parts) {
            auto& sessions = sessions_.emplace_back();
            for (const auto origin : part.origins)
                sessions.insert(origins.session_of(origin));
        }
    }

    bool concerns(journal::DeltaNumber delta) const {
        return std::any_of(selection_.parts.begin(), selection_.parts.end(),
                           [delta](const RevertPart& part) { return has(part, delta); });
    }

    template <class Image>
    void judge(Touch<Image>& touch, std::set<journal::OriginNumber> by,
               journal::DeltaNumber delta) {
        if (by.empty()) by.insert(0);
        for (const auto origin : by)
            (is_selected(delta, origin) ? touch.selected : touch.others) = true;
    }

 private:
    static bool has(const RevertPart& part, journal::DeltaNumber delta) {
        return part.deltas.empty() || part.deltas.contains(delta);
    }

    struct Known {
        SessionNumber session = kUserSession;
        journal::NodeNumber run = 0;
    };
    const Known& know(journal::OriginNumber origin) {
        const auto [known, added] = known_.try_emplace(origin);
        if (added) known->second = {origins_.session_of(origin), origins_.run_of_origin(origin)};
        return known->second;
    }

    bool is_selected(journal::DeltaNumber delta, journal::OriginNumber origin) {
        const Known& who = know(origin);
        for (std::size_t i = 0; i < selection_.parts.size(); ++i) {
            const RevertPart& part = selection_.parts[i];
            if (!has(part, delta)) continue;
            if (!part.origins.empty() && !sessions_[i].contains(who.session)) continue;
            if (who.run == 0 || !part.except.contains(who.run)) return true;
        }
        return false;
    }

    const Origins& origins_;
    const RevertSelection& selection_;
    std::vector<std::set<SessionNumber>> sessions_;  // of each part's origins
    std::unordered_map<journal::OriginNumber, Known> known_;
};

struct Interval {
    std::size_t number = 0;
    journal::DeltaNumber delta = 0;
};

// Those that a turn divided have one number: who changed a thing in one of them changed it together
// with whoever did in the other.
std::vector<Interval> trunk_intervals(const History& history) {
    std::vector<Interval> intervals;
    std::size_t number = 1;
    const std::vector<journal::NodeNumber> trunk = history.trunk();
    for (std::size_t i = 0; i < trunk.size(); ++i) {
        const journal::Node& row = history.nodes.at(trunk[i]);
        if (row.parent != 0 && row.delta != 0) intervals.push_back({number, row.delta});
        if (!history.is_divided(row.number, i + 1 < trunk.size() ? trunk[i + 1] : 0)) ++number;
    }
    intervals.push_back({number, history.head.open_delta});
    return intervals;
}

bool same_but_mtime(const Attributes& a, const Attributes& b) {
    return a.mode == b.mode && a.uid == b.uid && a.gid == b.gid && a.xattrs == b.xattrs;
}

// The attributes after the i-th touch: the next image, else those of now.
std::optional<Attributes> attributes_after(const std::vector<ObjectTouch>& touches, std::size_t i,
                                           const ObjectKey& key, View& live) {
    for (std::size_t next = i + 1; next < touches.size(); ++next) {
        if (touches[next].image->attributes) return touches[next].image->attributes;
    }
    auto attributes = live.attributes(Located{key, 0, nullptr, {}, 0});
    if (!attributes) return std::nullopt;
    return *std::move(attributes);
}

}  // namespace

Result<RevertTouches> RevertTouches::read(const History& history, Layers& layers,
                                          const Origins& origins,
                                          const RevertSelection& selection) {
    RevertTouches touches;
    Selected selected(origins, selection);
    const std::vector<Interval> intervals = trunk_intervals(history);
    const auto first =
        std::find_if(intervals.begin(), intervals.end(),
                     [&](const Interval& interval) { return selected.concerns(interval.delta); });
    for (const Interval& interval : intervals) {
        if (first == intervals.end() || interval.number < first->number) continue;
        TRY_ASSIGN(const LayerPtr layer, layers.read(interval.delta));
        const std::size_t part = touches.parts.size();
        touches.parts.push_back(layer);
        for (const auto& [at, state] : layer->delta.names) {
            NameTouch touch{part, layer, &state};
            selected.judge(touch, state.origins, interval.delta);
            touches.names[at].push_back(std::move(touch));
        }
        for (const auto& [key, image] : layer->delta.objects) {
            ObjectTouch touch{part, layer, &image};
            selected.judge(touch, image.origins, interval.delta);
            touches.objects[key].push_back(std::move(touch));
        }
    }
    return touches;
}

Result<> RevertTouches::drop_idle(View& live) {
    std::set<LayerPtr> layers;
    for (const auto& [at, touches] : names) {
        for (const NameTouch& touch : touches)
            layers.insert(touch.layer);
    }
    for (const auto& [key, touches] : objects) {
        for (const ObjectTouch& touch : touches)
            layers.insert(touch.layer);
    }
    live.live().expect(std::vector<LayerPtr>(layers.begin(), layers.end()));
    for (auto& [at, touches] : names) {
        std::optional<ObjectKey> after;
        if (live.path(at.parent)) {
            TRY_ASSIGN(const auto now, live.at(at));
            if (now) after = now->key;
        }
        for (auto touch = touches.rbegin(); touch != touches.rend(); ++touch) {
            touch->real = touch->image->image.object != after;
            after = touch->image->image.object;
        }
        std::erase_if(touches, [](const NameTouch& touch) { return !touch.real; });
    }
    for (auto& [key, touches] : objects) {
        for (std::size_t i = touches.size(); i-- > 0;) {
            const journal::ObjectImage& image = *touches[i].image;
            if (image.size || !image.content.empty()) continue;
            if (!image.attributes) {
                // Made in the interval by another session; of a directory only the names in it
                // count.
                TRY_ASSIGN(const auto now, live.object(key));
                touches[i].real = !now || !S_ISDIR(now->type);
                continue;
            }
            const auto after = attributes_after(touches, i, key, live);
            if (!after) continue;
            if (S_ISDIR(image.attributes->mode))
                touches[i].real = !same_but_mtime(*image.attributes, *after);
            else if (*image.attributes == *after)
                touches.erase(touches.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
    return {};
}

std::unordered_map<ObjectKey, RevertTouches::Removal> RevertTouches::removals() const {
    std::unordered_map<ObjectKey, Removal> newest;
    for (const auto& [at, touches] : names) {
        for (const NameTouch& touch : touches) {
            const auto& object = touch.image->image.object;
            if (!object) continue;
            const auto [known, is_first] = newest.try_emplace(*object);
            // Of two in one part nobody knows which was the last: then it was not the others'.
            const bool tie = !is_first && touch.part == known->second.part;
            const bool by_others = touch.others || touch.left;
            if (is_first || touch.part > known->second.part || (tie && !by_others))
                known->second = {touch.part, by_others, at, touch.left};
        }
    }
    return newest;
}

std::unordered_set<ObjectKey> RevertTouches::taken_by_others() const {
    std::unordered_set<ObjectKey> taken;
    for (const auto& [at, touches] : names) {
        for (std::size_t i = 1; i < touches.size(); ++i) {
            const auto& object = touches[i].image->image.object;
            if (touches[i - 1].selected && touches[i].others && !touches[i].selected && object)
                taken.insert(*object);
        }
    }
    return taken;
}

Result<std::vector<std::pair<NameKey, ObjectKey>>> RevertTouches::put_by_others(View& live) const {
    std::vector<std::pair<NameKey, ObjectKey>> puts;
    for (const auto& [at, touches] : names) {
        for (auto touch = touches.begin(); touch != touches.end(); ++touch) {
            if (!touch->others) continue;
            std::optional<ObjectKey> put;
            if (const auto next = std::next(touch); next != touches.end()) {
                put = next->image->image.object;
            } else if (live.path(at.parent)) {
                TRY_ASSIGN(const auto now, live.at(at));
                if (now) put = now->key;
            }
            if (put) puts.emplace_back(at, *put);
        }
    }
    return puts;
}

namespace {

template <class Image>
bool deselect_all(std::vector<Touch<Image>>& touches) {
    bool any = false;
    for (auto& touch : touches) {
        any |= touch.selected;
        touch.left = true;
        if (std::exchange(touch.selected, false)) touch.others = true;
    }
    return any;
}

}  // namespace

Result<bool> RevertTouches::deselect(View& live, Blockers& blockers) {
    std::unordered_map<ObjectKey, std::vector<NameKey>> names_of;
    for (const auto& [at, touches] : names) {
        for (const NameTouch& touch : touches) {
            if (touch.image->image.object) names_of[*touch.image->image.object].push_back(at);
        }
    }
    std::vector<NameKey> more(blockers.names.begin(), blockers.names.end());
    const auto add_names = [&](const ObjectKey& key) {
        std::vector<NameKey> found = names_of[key];
        if (const auto standing = live.name_of(key)) found.push_back(*standing);
        for (const NameKey& at : found) {
            if (blockers.names.insert(at).second) more.push_back(at);
        }
    };
    for (const ObjectKey& key :
         std::vector<ObjectKey>(blockers.objects.begin(), blockers.objects.end()))
        add_names(key);
    while (!more.empty()) {
        const NameKey at = std::move(more.back());
        more.pop_back();
        std::vector<ObjectKey> objects_at;
        if (const auto touched = names.find(at); touched != names.end()) {
            for (const NameTouch& touch : touched->second) {
                if (touch.image->image.object) objects_at.push_back(*touch.image->image.object);
            }
        }
        if (live.path(at.parent)) {
            TRY_ASSIGN(const auto now, live.at(at));
            if (now) objects_at.push_back(now->key);
        }
        for (const ObjectKey& key : objects_at) {
            if (blockers.objects.insert(key).second) add_names(key);
        }
    }
    bool any = false;
    for (const NameKey& at : blockers.names) {
        if (const auto touched = names.find(at); touched != names.end())
            any |= deselect_all(touched->second);
    }
    for (const ObjectKey& key : blockers.objects) {
        if (const auto touched = objects.find(key); touched != objects.end())
            any |= deselect_all(touched->second);
    }
    return any;
}

}  // namespace unwrite::overlay
