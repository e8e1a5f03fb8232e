// The way back of a restore: how things stand before it changes anything.
#include <algorithm>
#include <set>

#include "base/crash_point.h"
#include "base/progress.h"
#include "base/syscalls.h"
#include "overlay/restorer.h"

namespace unwrite::overlay {

using journal::ContentImage;
using journal::Delta;
using journal::DeltaWriter;
using journal::NameImage;
using journal::NameState;
using journal::ObjectImage;

namespace {

// So many names of one directory, or so large a part of the attic, are worth to look at all of it:
// a look at one name takes longer than what it takes to list several.
constexpr std::ptrdiff_t kMany = 32;
constexpr std::size_t kPart = 4;

/// What has its name in the attic, out of the directory and not out of memory. Where a directory
/// does not tell the objects' own inode numbers (overlayfs) some are missing.
Result<std::unordered_set<ObjectKey>> look_into(const journal::Attic& attic) {
    TRY_ASSIGN(const UniqueFd fd, sys::open_at(attic.directory(), ".", O_RDONLY | O_DIRECTORY));
    TRY_ASSIGN(const auto entries, sys::read_directory(fd.get()));
    std::unordered_set<ObjectKey> found;
    found.reserve(entries.size());
    for (const auto& entry : entries) {
        const auto key = journal::Attic::parse_name(entry.name);
        if (key && key->ino == entry.ino) found.insert(*key);
    }
    return found;
}

}  // namespace

// A directory has one name. When no row of the delta speaks of the one that it leaves (it was moved
// to where nothing needed a row, or moved behind the mount), the way back gets a row for it, or
// going back would take the directory from here and put it nowhere.
Result<> Restorer::invert_leaving(const Delta& delta, const NameImage& image, DeltaWriter& into) {
    if (locator_.objects().attic().contains(*image.object)) return {};
    TRY_ASSIGN(const std::optional<NameKey> from, name_to_leave(image));
    if (!from || delta.names.contains(*from)) return {};
    TRY(into.name({*from, image.object, image.type}, 0));
    const auto parent = delta.objects.find(from->parent);
    if (parent != delta.objects.end() && parent->second.attributes) return {};
    TRY_ASSIGN(const HandlePtr handle, locator_.directory(from->parent));
    TRY_ASSIGN(const journal::Attributes attributes, read_attributes(handle->fd.get()));
    return into.attributes(from->parent, attributes, 0);
}

// Where a directory stands now, in the live tree or in something that is in the attic.
Result<std::optional<NameKey>> Restorer::name_to_leave(const NameImage& image) {
    if (auto live = locator_.live_name(*image.object)) return live;
    const auto place = locator_.journal().places().find(*image.object);
    if (!place) return std::optional<NameKey>();
    TRY_ASSIGN(const auto standing, locator_.standing(place->newest));
    if (!standing || standing->key != *image.object) return std::optional<NameKey>();
    return std::optional(place->newest);
}

// A directory that is moved has a modification time of then on some filesystems (xfs).
Result<> Restorer::invert_moved(const Delta& delta, const ObjectKey& key, int fd,
                                DeltaWriter& into) {
    const auto image = delta.objects.find(key);
    if (image != delta.objects.end() && image->second.attributes) return {};
    TRY_ASSIGN(const journal::Attributes attributes, read_attributes(fd));
    return into.attributes(key, attributes, 0);
}

// What is to be put at a name must be findable before anything is moved.
Result<> Restorer::invert_arriving(const Delta& delta, const NameImage& image, DeltaWriter& into) {
    if (!S_ISDIR(image.type)) {
        if (looked_.in_attic.contains(*image.object)) return {};
        const auto found = locator_.stat(*image.object);
        return found ? Result<>() : found.error();
    }
    TRY_ASSIGN(const HandlePtr found, locator_.directory(*image.object));
    TRY(invert_leaving(delta, image, into));
    return invert_moved(delta, *image.object, found->fd.get(), into);
}

Result<> Restorer::invert_name(const Delta& delta, const journal::NameState& state,
                               DeltaWriter& into) {
    const NameImage& image = state.image;
    Result<std::optional<Standing>> standing = std::optional<Standing>();
    if (!looked_.empty.contains(image.at.parent)) standing = locator_.standing(image.at);
    if (!standing) return parent_missing(image, standing.error());
    const bool stays = *standing && image.object && (*standing)->key == *image.object;
    if (image.object && !stays) TRY(invert_arriving(delta, image, into));
    if (*standing && !stays && S_ISDIR((*standing)->type)) {
        TRY_ASSIGN(const HandlePtr handle, locator_.at(image.at, (*standing)->key));
        TRY(invert_moved(delta, (*standing)->key, handle->fd.get(), into));
    }
    if (*standing && !stays) TRY(invert_displaced(delta, (*standing)->key, into));
    auto& seen = seen_[&state];
    if (*standing) seen = (*standing)->key;
    NameImage now{image.at, std::nullopt, 0};
    if (*standing) {
        now.object = (*standing)->key;
        now.type = (*standing)->type & S_IFMT;
    }
    journal::OriginNumber first = 0;
    if (!state.origins.empty()) first = *state.origins.begin();
    TRY(into.name(now, first));
    for (const auto origin : state.origins) {
        if (origin != first) TRY(into.touch_name(image.at, origin));
    }
    return {};
}

// In the attic it may be written to as well, by who has it open, and is in no state then: when it
// comes back it is to be what it was.
Result<> Restorer::invert_displaced(const Delta& delta, const ObjectKey& key, DeltaWriter& into) {
    const Unseen::ImagePtr carried = unseen_.image(key);
    if (!carried) return {};
    TRY_ASSIGN(const HandlePtr bytes, carried->whole(key, locator_.scratch()));
    TRY_ASSIGN(const struct stat st, sys::stat_fd(bytes->fd.get()));
    const auto size = static_cast<std::uint64_t>(st.st_size);
    const auto image = delta.objects.find(key);
    const bool known = image != delta.objects.end() && !image->second.origins.empty();
    const journal::OriginNumber first = known ? *image->second.origins.begin() : 0;
    TRY(into.attributes(key, carried->attributes, first));
    TRY(into.size(key, size, first));
    return into.content(key, bytes->fd.get(), 0, size);
}

Result<> Restorer::invert_object(const ObjectKey& key, const ObjectImage& image,
                                 DeltaWriter& into) {
    const journal::OriginNumber first = image.origins.empty() ? 0 : *image.origins.begin();
    if (image.attributes || image.size) {
        const Unseen::ImagePtr carried = unseen_.image(key);
        TRY_ASSIGN(const HandlePtr handle,
                   carried ? carried->whole(key, locator_.scratch())
                           : locator_.object(key, image.size ? Access::kRead : Access::kPath));
        const int fd = handle->fd.get();
        TRY_ASSIGN(const journal::Attributes attributes, Unseen::attributes(carried, fd));
        TRY(into.attributes(key, attributes, first));
        if (image.size) {
            TRY_ASSIGN(const struct stat st, sys::stat_fd(fd));
            const auto size = static_cast<std::uint64_t>(st.st_size);
            TRY(into.size(key, size, first));
            for (const ContentImage& range : image.content) {
                if (range.offset >= size) continue;
                TRY(into.content(key, fd, range.offset,
                                 std::min(range.length, size - range.offset)));
            }
            // What lies beyond the old end is cut off by the restore.
            if (size > *image.size) TRY(into.content(key, fd, *image.size, size - *image.size));
        }
    }
    for (const auto origin : image.origins) {
        if (origin != first || (!image.attributes && !image.size))
            TRY(into.touch_object(key, origin));
    }
    return {};
}

bool Restorer::is_empty(const ObjectKey& directory) {
    const auto handle = locator_.directory(directory);
    if (!handle) return false;
    // No mode is lent for this: a kill would leave it.
    const auto listing = sys::reopen((*handle)->fd.get(), O_RDONLY | O_DIRECTORY | O_NOATIME);
    if (!listing) return false;
    return sys::is_empty_directory(listing->get()).value_or(false);
}

// Whoever removed a tree left thousands of files in the attic, and empty directories. What cannot
// be found out here is looked at name by name.
void Restorer::look_around(const Names& names) {
    looked_ = {};
    std::size_t arriving = 0;
    for (auto name = names.begin(); name != names.end();) {
        const ObjectKey& directory = (*name)->image.at.parent;
        const auto end = std::find_if(name, names.end(), [&](const NameState* other) {
            return other->image.at.parent != directory;
        });
        if (end - name >= kMany && is_empty(directory)) looked_.empty.insert(directory);
        arriving += static_cast<std::size_t>(std::count_if(
            name, end, [](const NameState* state) { return state->image.object.has_value(); }));
        name = end;
    }
    const journal::Attic& attic = locator_.journal().attic();
    if (arriving < kMany || arriving < attic.list().size() / kPart) return;
    if (auto found = look_into(attic)) looked_.in_attic = *std::move(found);
}

Result<> Restorer::invert(const Delta& delta, DeltaWriter& into) {
    Progress progress("noting what is there", delta.names.size() + delta.objects.size());
    seen_.clear();
    seen_.reserve(delta.names.size());
    const Names names = in_order(delta);
    look_around(names);
    for (const NameState* state : names) {
        TRY(invert_name(delta, *state, into));
        crash_point("restore.invert.name");
        progress.step();
    }
    looked_ = {};
    for (const auto& [key, image] : delta.objects) {
        TRY(invert_object(key, image, into));
        crash_point("restore.invert.object");
        progress.step();
    }
    return invert_parents(delta, into);
}

// A directory that was created in the interval has no image, but when an older object leaves it
// now, its times must be right again on the way back.
Result<> Restorer::invert_parents(const Delta& delta, DeltaWriter& into) {
    std::set<ObjectKey> seen;
    for (const auto& [at, state] : delta.names) {
        const auto image = delta.objects.find(at.parent);
        if (image != delta.objects.end() && image->second.attributes) continue;
        if (!seen.insert(at.parent).second) continue;
        TRY_ASSIGN(const HandlePtr handle, locator_.directory(at.parent));
        TRY_ASSIGN(const journal::Attributes attributes, read_attributes(handle->fd.get()));
        TRY(into.attributes(at.parent, attributes, 0));
    }
    return {};
}

}  // namespace unwrite::overlay
