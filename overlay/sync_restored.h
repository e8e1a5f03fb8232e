// What a restore has made must be on the disk before the images that it was made from are removed.
#pragma once

#include "overlay/locator.h"

namespace unwrite::overlay {

/// Brings what Restorer::apply() made of `delta` to the disk. Few objects are synced one by one:
/// syncing the filesystem also waits for everything that other programs have written there, and the
/// gate is closed meanwhile. Many objects, and those that cannot be synced alone (a symlink, a
/// device, a file that nobody may open), are synced with their filesystem.
Result<> sync_restored(const journal::Delta& delta, Locator& locator);

}  // namespace unwrite::overlay
