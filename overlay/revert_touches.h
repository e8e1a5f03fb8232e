// Who touched what in the intervals that a revert is about: from the first selected interval to the
// live state, oldest first. A touch that left things as they were is none.
#pragma once

#include <unordered_set>

#include "overlay/origins.h"
#include "overlay/revert_selection.h"
#include "overlay/view.h"

namespace unwrite::overlay {

/// One interval's touch of a name or an object.
template <class Image>
struct Touch {
    std::size_t part = 0;  ///< in `parts`
    LayerPtr layer{};
    const Image* image = nullptr;
    bool selected = false;  ///< by someone selected, in a selected interval
    bool others = false;    ///< by someone else, or in another interval
    bool left = false;      ///< it stays: deselect(), spare_git()
    bool real = true;  ///< more than the mtime of a directory, which every name made in it changes
};
using NameTouch = Touch<journal::NameState>;
using ObjectTouch = Touch<journal::ObjectImage>;

/// Names and objects that cannot be taken back.
struct Blockers {
    std::unordered_set<NameKey> names{};
    std::unordered_set<ObjectKey> objects{};
};

struct RevertTouches {
    std::unordered_map<NameKey, std::vector<NameTouch>> names{};
    std::unordered_map<ObjectKey, std::vector<ObjectTouch>> objects{};

    std::vector<LayerPtr> parts{};  ///< the deltas of the trunk, oldest first

    static Result<RevertTouches> read(const History& history, Layers& layers,
                                      const Origins& origins, const RevertSelection& selection);
    /// Drops touches without effect, seen to the next one and at last to the live state; marks
    /// those of mtimes alone.
    Result<> drop_idle(View& live);

    /// The last time that a name of an object was taken away or given to another one.
    struct Removal {
        std::size_t part = 0;
        bool by_others = false;
        NameKey from{};
        bool left = false;  ///< as Touch::left
    };
    std::unordered_map<ObjectKey, Removal> removals() const;
    /// What others took away from where the selection had put it. After drop_idle().
    std::unordered_set<ObjectKey> taken_by_others() const;
    /// What others put at a name, and where. After drop_idle().
    Result<std::vector<std::pair<NameKey, ObjectKey>>> put_by_others(View& live) const;

    /// From now on nobody has selected these, nor what is the same thing: an object and all names
    /// that it had. Adds all that to `blockers`; false when none of it was selected.
    Result<bool> deselect(View& live, Blockers& blockers);
};

/// Of an object that another session made in that part: what it was before is not to be had.
inline bool is_imageless(const ObjectTouch& touch) {
    return !touch.image->attributes && !touch.image->size;
}

/// The first selected touch; `end()` when there is none.
template <class Image>
auto first_selected(const std::vector<Touch<Image>>& touches) {
    return std::find_if(touches.begin(), touches.end(),
                        [](const auto& touch) { return touch.selected; });
}

/// True when someone else touched it in the part of the first selected touch, or after. What was
/// before that is what the selection found, and comes back with it.
template <class Image>
bool is_contested(const std::vector<Touch<Image>>& touches) {
    return std::any_of(first_selected(touches), touches.end(),
                       [](const auto& touch) { return touch.others && touch.real; });
}

}  // namespace unwrite::overlay
