// Replacing: a directory put over an empty one. The two are exchanged and the victim leaves from
// the old name, which are two steps; a note in the attic, made before, lets the next open take the
// second one when a kill came between.
#pragma once

#include "overlay/locator.h"

namespace unwrite::overlay {

/// Notes that `victim` will leave from `name`.
Result<> note_replacing(const journal::Attic& attic, const ObjectKey& victim, const NameKey& name);
/// The victim is in the attic, or stays where it is.
Result<> forget_replacing(const journal::Attic& attic, const ObjectKey& victim);
/// Finishes what notes speak of. For the next life, before anything else changes.
Result<> finish_replacing(Locator& locator);

}  // namespace unwrite::overlay
