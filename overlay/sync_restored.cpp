#include "overlay/sync_restored.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <unordered_set>

#include "base/syscalls.h"

namespace unwrite::overlay {

namespace {

// Each of them may wait for a commit of the filesystem's own journal.
constexpr std::size_t kMostOneByOne = 16;

Result<> sync_directory(Locator& locator, const ObjectKey& key) {
    TRY_ASSIGN(const HandlePtr handle, locator.directory(key));
    TRY_ASSIGN(const UniqueFd fd, sys::open_at(handle->fd.get(), ".", O_RDONLY | O_DIRECTORY));
    return sys::sync(fd.get());
}

Result<> sync_object(Locator& locator, const ObjectKey& key, const journal::ObjectImage& image) {
    const mode_t mode = image.attributes ? image.attributes->mode : S_IFREG;
    if (S_ISDIR(mode)) return sync_directory(locator, key);
    if (!S_ISREG(mode)) return Error(EINVAL);
    TRY_ASSIGN(const HandlePtr handle, locator.object(key, Access::kRead));
    return sys::sync(handle->fd.get());
}

Result<> sync_one_by_one(const journal::Delta& delta, Locator& locator) {
    for (const auto& [key, image] : delta.objects) {
        if (image.size || image.attributes) TRY(sync_object(locator, key, image));
    }
    std::unordered_set<ObjectKey> parents;
    for (const auto& [at, state] : delta.names)
        parents.insert(at.parent);
    for (const ObjectKey& parent : parents)
        TRY(sync_directory(locator, parent));
    if (parents.empty()) return {};
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
