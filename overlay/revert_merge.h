// A text that both the selection and someone else changed: what remains of it when the changes of
// the selection alone are taken out, as three-way merges.
#pragma once

#include "overlay/revert_touches.h"

namespace unwrite::overlay {

/// What was done to a file: written in place, or replaced by another one.
struct MergeStep {
    bool selected = false;  ///< by the selection
    bool others = false;    ///< by someone else
    ObjectKey object{};     ///< what there was before it: this file...
    std::size_t state = 0;  ///< ...as it was before this part of RevertTouches::parts
    bool replaces = false;  ///< another one stood there afterwards
};

/// A touch of an object as a step. Where the object has no image from before, the touch counts as
/// both sides'.
MergeStep step_of(const ObjectTouch& touch, const ObjectKey& key);

struct Remains {
    ObjectKey object{};  ///< in which file: that of now, or one that the selection replaced
    std::optional<std::size_t> displaced{};  ///< the state from which on it was not there
    std::string bytes{};
    journal::Attributes attributes{};  ///< its times say nothing
};

/// What remains of a file; nothing where that cannot be told: the same lines or the same attributes
/// were changed by both, both changed it in one step, or it is, or was, no text. `steps`: oldest
/// first; `now`: the file of now; `state`: of a number, that of now after the last part.
Result<std::optional<Remains>> without_selected(const std::vector<MergeStep>& steps,
                                                const ObjectKey& now, View& live,
                                                const std::function<View&(std::size_t)>& state);

/// The file that stands live at a name, when it or what stood there before it was replaced by both
/// the selection and someone else, or replaced by one and written by the other.
struct ReplacedFile {
    NameKey at{};
    std::vector<MergeStep> steps{};             ///< oldest first
    std::set<ObjectKey> objects{};              ///< all that stood there, that of now too
    std::set<ObjectKey> brought{};              ///< those of them that the selection put there
    std::set<ObjectKey> written_elsewhere{};    ///< those that others wrote to after they left
    std::set<journal::OriginNumber> origins{};  ///< of the selected changes
    ObjectKey outcome{};                        ///< which of them stays: not yet known
};
/// Nothing where there is nothing to be taken apart, or where that is not to be known (it was not
/// there all the time; what came there had been changed elsewhere).
std::optional<ReplacedFile> replaced_file(const RevertTouches& touches, const NameKey& at,
                                          const ObjectKey& now);

}  // namespace unwrite::overlay
