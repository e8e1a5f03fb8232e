// A text that both the selection and someone else changed: what remains of it when the changes of
// the selection alone are taken out, as three-way merges.
#pragma once

#include "overlay/revert_touches.h"

namespace unwrite::overlay {

/// The bytes that `key` shall hold; nothing where that cannot be told: the same lines were changed
/// by both, both changed it in one part of an interval, attributes changed, too, or it is, or was,
/// no text. `before`: the state before a touch.
Result<std::optional<std::string>> without_selected(
    const ObjectKey& key, const std::vector<ObjectTouch>& touches, View& live,
    const std::function<View(const ObjectTouch& touch)>& before);

}  // namespace unwrite::overlay
