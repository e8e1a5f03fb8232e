#include "overlay/restorer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/crash_point.h"
#include "base/lend_mode.h"
#include "base/log.h"
#include "base/progress.h"
#include "overlay/overwriting.h"
#include "overlay/set_aside.h"

namespace unwrite::overlay {

using journal::ContentImage;
using journal::Delta;
using journal::NameImage;
using journal::NameState;
using journal::ObjectImage;

namespace {

// Watchers are told of at most so many changes; beyond that they will have to look anyway.
constexpr std::size_t kMaxAnnounced = 2000;
// How often what is put at a name behind the mount is moved out of the way.
constexpr int kMostTries = 100;

using Imaged = std::pair<const ObjectKey, ObjectImage>;

/// The objects in the order in which their bytes lie in the data file, where neighbours may be
/// compressed together.
std::vector<const Imaged*> by_place(const Delta& delta) {
    std::vector<std::pair<std::uint64_t, const Imaged*>> placed;
    placed.reserve(delta.objects.size());
    for (const Imaged& object : delta.objects) {
        const auto& content = object.second.content;
        placed.emplace_back(content.empty() ? ContentImage::kHole : content.front().position,
                            &object);
    }
    std::sort(placed.begin(), placed.end());
    std::vector<const Imaged*> objects;
    objects.reserve(placed.size());
    for (const auto& [place, object] : placed)
        objects.push_back(object);
    return objects;
}

}  // namespace

// In hash order each would be somewhere else than the one before it, in our memory and in that of
// the filesystem: objects that were made one after the other lie together.
Restorer::Names Restorer::in_order(const Delta& delta) {
    Names names;
    names.reserve(delta.names.size());
    for (const auto& [at, state] : delta.names)
        names.push_back(&state);
    std::sort(names.begin(), names.end(), [](const NameState* one, const NameState* other) {
        const NameImage& a = one->image;
        const NameImage& b = other->image;
        if (a.at.parent != b.at.parent) return a.at.parent < b.at.parent;
        if (a.object != b.object) return a.object < b.object;
        return a.at.name < b.at.name;
    });
    return names;
}

Error Restorer::parent_missing(const NameImage& image, const Error& why) {
    return why.with_context("cannot find the directory of " + image.at.name);
}

// ---- names

void Restorer::changed_name(const NameKey& name, bool existed, bool exists, std::uint32_t type) {
    restored_.names = true;
    const ObjectPtr parent = locator_.objects().find(name.parent);
    if (parent) restored_.objects.push_back(parent->id());
    if (changed_name_keys_.size() >= kMaxAnnounced) return;
    changed_name_keys_.push_back(name);
    Restored::NameChange change;
    if (parent) change.parent = parent->id();
    change.name = name.name;
    change.existed = existed;
    change.exists = exists;
    change.directory = S_ISDIR(type);
    restored_.changed_names.push_back(std::move(change));
}

void Restorer::changed_anything() {
    restored_.names = true;
    changed_anything_ = true;
}

void Restorer::changed_object(const ObjectKey& key) {
    if (const ObjectPtr object = locator_.objects().find(key)) {
        restored_.objects.push_back(object->id());
    } else {
        // Somebody may look it up in this moment, and get attributes from before: again, then.
        restored_.names = true;
    }
    if (changed_objects_.size() < kMaxAnnounced) changed_objects_.push_back(key);
}

/// What was put at a name behind the mount since invert() looked is in no delta: it stays, beside.
Result<> Restorer::keep_stranger(const NameKey& at, const ObjectKey& stranger) {
    std::vector<std::string> kept;
    TRY(move_aside(locator_, at, stranger, kept));
    for (const std::string& path : kept)
        log::warning("restore: what was put behind the mount meanwhile is kept as " + path);
    changed_anything();
    return {};
}

Result<> Restorer::empty_name(const NameState& state, const Seen& seen) {
    const NameImage& image = state.image;
    const auto before = seen.find(&state);
    // As a rule it is still empty; if not, fill_name() meets what came there.
    if (before != seen.end() && !before->second && image.object) return {};
    auto standing = locator_.standing(image.at);
    if (!standing) return parent_missing(image, standing.error());
    if (!*standing || (image.object && (*standing)->key == *image.object)) return {};
    const Standing& there = **standing;
    if (before != seen.end() && before->second != there.key)
        return keep_stranger(image.at, there.key);
    TRY_ASSIGN(const HandlePtr parent, locator_.directory(image.at.parent));
    Objects& objects = locator_.objects();
    const NameLock lock(objects, {image.at.parent});
    if (!S_ISDIR(there.type)) TRY(locator_.journal().places().forget(there.key));
    crash_point("restore.empty.before");
    TRY(sys::lend_access(parent->fd.get(), [&] {
        return objects.attic().displace(parent->fd.get(), image.at.name, there.key,
                                        S_ISDIR(there.type));
    }));
    crash_point("restore.empty.after");
    objects.moved_to_attic(there.key);
    changed_name(image.at, true, image.object.has_value(), there.type);
    return {};
}

Result<> Restorer::put_directory(const NameImage& image, int parent) {
    const ObjectKey& key = *image.object;
    journal::Attic& attic = locator_.objects().attic();
    if (attic.contains(key))
        return sys::lend_access(parent, [&] { return attic.move_out(key, parent, image.at.name); });
    // Not displaced by a row of this delta: it moved with a created directory, or behind the mount.
    TRY(locator_.directory(key));  // which notes its place when it has to search for it
    TRY_ASSIGN(const std::optional<NameKey> from, name_to_leave(image));
    if (!from)
        return Error(ErrorKind::kCorrupt, ENOENT,
                     "cannot move the directory " + image.at.name + ": its name is not known");
    TRY_ASSIGN(const HandlePtr from_parent, locator_.directory(from->parent));
    return sys::lend_access(from_parent->fd.get(), [&] {
        return sys::lend_access(parent, [&] {
            return sys::rename(from_parent->fd.get(), from->name, parent, image.at.name,
                               RENAME_NOREPLACE);
        });
    });
}

Result<> Restorer::put_file(const NameImage& image, int parent) {
    const ObjectKey& key = *image.object;
    journal::Attic& attic = locator_.objects().attic();
    if (attic.contains(key)) {
        return sys::lend_access(parent, [&]() -> Result<> {
            auto linked = attic.link_out(key, parent, image.at.name);
            if (linked) return linked;
            const int number = linked.error().number();
            if (number != EPERM && number != EMLINK && number != EACCES) return linked;
            return attic.move_out(key, parent, image.at.name);
        });
    }
    TRY_ASSIGN(const HandlePtr handle, locator_.object(key, Access::kPath));
    return sys::lend_access(parent,
                            [&] { return sys::link_fd(handle->fd.get(), parent, image.at.name); });
}

Result<> Restorer::put(const NameImage& image) {
    auto parent = locator_.directory(image.at.parent);
    if (!parent) return parent_missing(image, parent.error());
    Objects& objects = locator_.objects();
    const NameLock lock(objects, {image.at.parent});
    crash_point("restore.fill.before");
    TRY(S_ISDIR(image.type) ? put_directory(image, (*parent)->fd.get())
                            : put_file(image, (*parent)->fd.get()));
    crash_point("restore.fill.after");
    objects.moved(*image.object, image.at.parent, image.at.name);
    TRY(locator_.journal().places().set(*image.object, image.at));
    changed_name(image.at, false, true, image.type);
    return {};
}

/// True when the wanted object stands at its name; false when nothing does any more.
Result<bool> Restorer::is_filled(const NameImage& image) {
    auto standing = locator_.standing(image.at);
    if (!standing) return parent_missing(image, standing.error());
    if (!*standing) return false;
    if ((*standing)->key != *image.object) {
        TRY(keep_stranger(image.at, (*standing)->key));
        return false;
    }
    // A kill may have come between the object and its place.
    journal::Places& places = locator_.journal().places();
    if (S_ISDIR(image.type) || !places.contains(*image.object))
        TRY(places.set(*image.object, image.at));
    return true;
}

// A file of the attic is linked where nothing stands, or not at all: no need to look before.
Result<> Restorer::fill_name(const NameImage& image) {
    if (!image.object) return {};
    bool look = S_ISDIR(image.type) || !locator_.objects().attic().contains(*image.object);
    Result<> done = Error(EEXIST);
    for (int tries = 0; tries < kMostTries; ++tries) {
        if (look) {
            TRY_ASSIGN(const bool filled, is_filled(image));
            if (filled) return {};
        }
        done = put(image);
        if (done || done.error().number() != EEXIST) return done;
        look = true;
    }
    return done.error()
        .with_context("cannot put back " + image.at.name)
        .with_advice("something is made there behind the mount again and again: end it");
}

Result<> Restorer::apply_names(const Delta& delta, Progress& progress) {
    const Seen seen = std::exchange(seen_, {});
    const Names names = in_order(delta);
    for (const NameState* state : names) {
        TRY(empty_name(*state, seen));
        progress.step();
    }
    for (const NameState* state : names) {
        TRY(fill_name(state->image));
        progress.step();
    }
    return {};
}

// ---- aspects

/// Of what is carried, so that what is written to it meanwhile stays.
Result<> Restorer::apply_beside(const Unseen::Image& carried, int fd, const ObjectKey& key,
                                const ObjectImage& image, const DataOf& data) {
    TRY_ASSIGN(const Content was, carried.content(key));
    Overwriting file(fd, was);
    // Where ranges overlap, the last one counts.
    for (std::size_t i = image.content.size(); i-- > 0;) {
        const ContentImage& range = image.content[i];
        if (range.offset >= *image.size) continue;
        const std::uint64_t length = std::min(range.length, *image.size - range.offset);
        journal::OpenData source;
        if (range.position != ContentImage::kHole) {
            TRY_ASSIGN(source, data(key, i));
        }
        TRY(file.write(range.offset, length, source.get(), range.position));
    }
    TRY(file.end_at(*image.size));
    changed_object(key);
    return {};
}

Result<> Restorer::apply_content(const ObjectKey& key, const ObjectImage& image, const DataOf& data,
                                 Meanwhile meanwhile) {
    if (!image.size) return {};
    spared_.erase(key);
    TRY_ASSIGN(const HandlePtr handle, locator_.object(key, Access::kWrite));
    const int fd = handle->fd.get();
    TRY_ASSIGN(const struct stat st, sys::stat_fd(fd));
    // Bytes of one owner must not stand, not even for a moment or after a kill, in a program that
    // runs as another; the mode follows with the attributes.
    if (image.attributes && (st.st_mode & (S_ISUID | S_ISGID)) != 0)
        ignore(sys::change_mode(fd, st.st_mode & 01777U),
               "the write of who may not do it clears them");
    const Unseen::ImagePtr carried = unseen_.image(key);
    if (carried && meanwhile == Meanwhile::kStays)
        return apply_beside(*carried, fd, key, image, data);
    if (static_cast<std::uint64_t>(st.st_size) != *image.size) TRY(sys::truncate(fd, *image.size));
    crash_point("restore.content.truncated");
    for (std::size_t i = 0; i < image.content.size(); ++i) {
        const ContentImage& range = image.content[i];
        if (range.offset >= *image.size) continue;
        const std::uint64_t length = std::min(range.length, *image.size - range.offset);
        if (range.position == ContentImage::kHole) {
            TRY(sys::write_zeros(fd, range.offset, length));
        } else {
            TRY_ASSIGN(const journal::OpenData source, data(key, i));
            TRY(source->copy(range.position, fd, range.offset, length));
        }
        crash_point("restore.content.range");
    }
    changed_object(key);
    // With the same descriptor; of what somebody changes unseen they are set with the others.
    if (carried || !image.attributes) return {};
    crash_point("restore.attributes.before");
    return write_attributes(fd, *image.attributes, !settings_.mtime_now);
}

Result<> Restorer::apply_attributes(const ObjectKey& key, const journal::Attributes& wanted) {
    TRY_ASSIGN(const HandlePtr handle, locator_.object(key, Access::kPath));
    crash_point("restore.attributes.before");
    TRY(write_attributes(handle->fd.get(), wanted, !spared_.contains(key) && !settings_.mtime_now));
    changed_object(key);
    return {};
}

Result<> Restorer::apply(const Delta& delta, const DataOf& data, Meanwhile meanwhile) {
    Progress progress("restoring", 2 * (delta.names.size() + delta.objects.size()));
    for (const auto& [key, image] : delta.objects) {
        if (unseen_.image(key)) TRY(apply_content(key, image, data, meanwhile));
    }
    // Where these are is set again when this is done again after a kill.
    journal::Places& places = locator_.journal().places();
    places.hold();
    Result<> named = apply_names(delta, progress);
    Result<> noted = places.flush();
    TRY(named);
    TRY(noted);
    for (const auto* object : by_place(delta)) {
        if (!unseen_.image(object->first))
            TRY(apply_content(object->first, object->second, data, meanwhile));
        progress.step();
    }
    for (const bool directories : {false, true}) {
        for (const auto& [key, image] : delta.objects) {
            if (!directories) progress.step();
            if (!image.attributes || S_ISDIR(image.attributes->mode) != directories) continue;
            // Those of the others are as they should be since their content is.
            if (!image.size || unseen_.image(key)) TRY(apply_attributes(key, *image.attributes));
        }
    }
    return {};
}

Restored Restorer::take_restored() {
    Locator::Paths known;
    for (std::size_t i = 0; i < changed_name_keys_.size(); ++i) {
        auto& change = restored_.changed_names[i];
        if (auto path = locator_.live_path(changed_name_keys_[i].parent, known))
            change.parent_path = *std::move(path);
    }
    for (const ObjectKey& key : changed_objects_) {
        if (auto path = locator_.live_path(key, known))
            restored_.changed_paths.push_back(*std::move(path));
    }
    changed_name_keys_.clear();
    changed_objects_.clear();
    std::vector<NodeId>& objects = restored_.objects;
    if (std::exchange(changed_anything_, false)) objects = locator_.objects().ids();
    std::sort(objects.begin(), objects.end());
    objects.erase(std::unique(objects.begin(), objects.end()), objects.end());
    seen_.clear();  // of a restore that was not begun
    spared_.clear();
    return std::exchange(restored_, {});
}

}  // namespace unwrite::overlay
