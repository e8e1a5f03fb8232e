#include "overlay/sync_restored.h"

#include <sys/stat.h>

#include <unordered_set>

#include "base/lend_mode.h"
#include "base/syscalls.h"

namespace unwrite::overlay {

namespace {

// Each of them may wait for a commit of the filesystem's own journal.
constexpr std::size_t kMostOneByOne = 16;

Result<> sync_directory(Locator& locator, const ObjectKey& key) {
    TRY_ASSIGN(const HandlePtr handle, locator.directory(key));
    TRY_ASSIGN(const UniqueFd fd, sys::open_listing(handle->fd.get()));
    return sys::sync(fd.get());
}

Result<> sync_file(Locator& locator, const ObjectKey& key) {
    TRY_ASSIGN(const HandlePtr handle, locator.object(key, Access::kRead));
    return sys::sync(handle->fd.get());
}

Result<> sync_one_by_one(const journal::Delta& delta, Locator& locator) {
    std::unordered_set<ObjectKey> directories;
    for (const auto& [at, state] : delta.names)
        directories.insert(at.parent);
    for (const auto& [key, image] : delta.objects) {
        if (!image.size && !image.attributes) continue;
        const mode_t mode = image.attributes ? image.attributes->mode : S_IFREG;
        if (S_ISDIR(mode)) {
            directories.insert(key);
        } else if (S_ISREG(mode)) {
            TRY(sync_file(locator, key));
        } else {
            return Error(EINVAL);
        }
    }
    for (const ObjectKey& directory : directories)
        TRY(sync_directory(locator, directory));
    if (delta.names.empty()) return {};
    return sys::sync(locator.objects().attic().directory());
}

}  // namespace

Result<> sync_restored(const journal::Delta& delta, Locator& locator) {
    if (delta.objects.size() + delta.names.size() <= kMostOneByOne &&
        sync_one_by_one(delta, locator))
        return {};
    return sys::sync_filesystem(locator.journal().state_dir().deltas());
}

}  // namespace unwrite::overlay
