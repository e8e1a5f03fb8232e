#include "overlay/vanished.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <unordered_map>

#include "base/crash_point.h"
#include "base/lend_mode.h"
#include "overlay/attributes.h"
#include "overlay/set_aside.h"
#include "overlay/view.h"

namespace unwrite::overlay {

namespace {

constexpr std::size_t kMaxSteps = 10'000;  // a loop among stale places must end

/// Objects that crossing the edges puts somewhere, wherever they were.
std::set<ObjectKey> put_by(const Edges& edges) {
    std::set<ObjectKey> put;
    for (const Edge& edge : edges) {
        for (const auto& [at, state] : edge.delta.names) {
            if (state.image.object) put.insert(*state.image.object);
        }
    }
    return put;
}

bool is_directory(const journal::ObjectImage& image) {
    return image.attributes && S_ISDIR(image.attributes->mode);
}

class Finder {
 public:
    Finder(Locator& locator, const Edges& edges) : locator_(locator), edges_(edges) {}

    Result<Vanished> find() {
        collect();
        TRY(look_for_directories());
        for (const ObjectKey& key : files_)
            TRY(look_at_file(key));
        TRY(look_for_other_names());
        return std::move(found_);
    }

 private:
    void collect();
    Result<std::unordered_set<ObjectKey>> missing_directories();
    Result<> look_for_directories();
    Result<> look_at_file(const ObjectKey& key);
    Result<> look_for_other_names();
    std::optional<std::string> last_path(const NameKey& name);

    Locator& locator_;
    const Edges& edges_;
    std::set<ObjectKey> directories_;
    std::set<ObjectKey> files_;
    std::set<ObjectKey> gone_;  // directories
    std::unordered_map<ObjectKey, journal::NameImage> with_other_names_;
    Vanished found_;
};

void Finder::collect() {
    const journal::Places& places = locator_.journal().places();
    // Of these the deltas may speak no more, after an interruption.
    for (const ObjectKey& key : places.replacing())
        directories_.insert(key);
    for (const Edge& edge : edges_) {
        for (const auto& [at, state] : edge.delta.names) {
            directories_.insert(at.parent);
            if (state.image.object && S_ISDIR(state.image.type))
                directories_.insert(*state.image.object);
        }
        for (const auto& [key, image] : edge.delta.objects) {
            if (is_directory(image)) directories_.insert(key);
            if (is_directory(image) || (!image.attributes && !image.size)) continue;
            if (places.contains(key) && locator_.journal().attic().contains(key))
                files_.insert(key);
        }
    }
    // What an edge puts somewhere needs no other way back.
    const std::set<ObjectKey> put = put_by(edges_);
    std::erase_if(files_, [&](const ObjectKey& key) { return put.contains(key); });
    for (const ObjectKey& key : files_) {
        if (const auto place = places.find(key)) directories_.insert(place->newest.parent);
    }
}

// With those that the missing ones were in: they may have gone without any delta saying more of
// them.
Result<std::unordered_set<ObjectKey>> Finder::missing_directories() {
    std::unordered_set<ObjectKey> missing;
    for (const ObjectKey& key : directories_) {
        ObjectKey at = key;
        while (!missing.contains(at)) {
            const auto handle = locator_.known_directory(at);
            if (handle) break;
            if (!is_absence(handle.error())) return handle.error();
            missing.insert(at);
            const auto place = locator_.journal().places().find(at);
            if (!place) break;
            at = place->newest.parent;
        }
    }
    return missing;
}

Result<> Finder::look_for_directories() {
    TRY_ASSIGN(const std::unordered_set<ObjectKey> missing, missing_directories());
    if (missing.empty()) return {};
    TRY(locator_.search(missing));
    for (const ObjectKey& key : missing) {
        // Without a place nothing says where it was.
        if (!locator_.known_directory(key) && locator_.journal().places().contains(key))
            gone_.insert(key);
    }
    for (const ObjectKey& key : gone_) {
        const auto place = locator_.journal().places().find(key);
        auto path = place ? last_path(place->newest) : std::nullopt;
        if (!path) continue;  // it was in what is in the attic, or was there
        found_.directories.push_back(key);
        // Git removes one that is empty, and makes it again; what is in it has the same names.
        if (!is_shared_git_store(locator_.objects(), *path + '/'))
            found_.paths.push_back(*std::move(path) + '/');
    }
    return {};
}

// By the places of the journal where the directories are gone.
std::optional<std::string> Finder::last_path(const NameKey& name) {
    std::string below = name.name;
    ObjectKey parent = name.parent;
    for (std::size_t steps = 0; steps < kMaxSteps; ++steps) {
        const auto place = locator_.journal().places().find(parent);
        if (!gone_.contains(parent)) {
            const auto path = locator_.live_path(parent);
            return path ? std::optional(join_path(*path, below)) : std::nullopt;
        }
        if (!place) return std::nullopt;
        below = join_path(place->newest.name, below);
        parent = place->newest.parent;
    }
    return std::nullopt;
}

Result<> Finder::look_at_file(const ObjectKey& key) {
    journal::Journal& journal = locator_.journal();
    const auto st = locator_.stat(key);
    if (!st) return is_absence(st.error()) ? Result<>() : st.error();
    // Looked up only now: what we remove ourselves loses its place first.
    const auto place = journal.places().find(key);
    if (!place) return {};
    if (!gone_.contains(place->newest.parent)) {
        if (!locator_.known_directory(place->newest.parent)) return {};
        TRY_ASSIGN(const auto standing, locator_.standing(place->newest));
        if (standing && standing->key == key) return {};
    }
    const journal::NameImage image{place->newest, key, st->st_mode & S_IFMT};
    // A directory that is in the attic took what was in it along.
    auto path = last_path(place->newest);
    if (!path) return {};
    found_.paths.push_back(*std::move(path));
    if (st->st_nlink > 1) {
        with_other_names_.emplace(key, image);
    } else {
        found_.files.push_back(image);
    }
    return {};
}

// A walk sets the place of what it finds: another name in the workspace leads to it.
Result<> Finder::look_for_other_names() {
    if (with_other_names_.empty()) return {};
    std::unordered_set<ObjectKey> keys;
    for (const auto& [key, image] : with_other_names_)
        keys.insert(key);
    TRY(locator_.search(keys));
    for (const auto& [key, image] : with_other_names_) {
        const auto place = locator_.journal().places().find(key);
        if (!place || place->newest != image.at || !S_ISREG(image.type)) continue;
        found_.files.push_back(image);
        found_.elsewhere.push_back(key);
    }
    return {};
}

class Maker {
 public:
    Maker(Locator& locator, const Vanished& vanished, const Edges& edges)
        : locator_(locator),
          vanished_(vanished),
          gone_(vanished.directories.begin(), vanished.directories.end()),
          edges_(edges),
          put_(put_by(edges)) {}

    Result<Successors> run() {
        TRY_ASSIGN(known_, locator_.journal().mentioned_by_all_deltas());
        for (const ObjectKey& key : std::vector(gone_.begin(), gone_.end()))
            TRY(find(key));
        for (const ObjectKey& key : vanished_.elsewhere)
            TRY(copy(key));
        if (!made_.replaced.empty()) TRY(replace());
        for (const journal::NameImage& image : vanished_.files)
            made_.images.push_back(image);
        for (journal::NameImage& image : made_.images) {
            image.at.parent = now(image.at.parent);
            image.object = now(*image.object);
        }
        return std::move(made_);
    }

 private:
    Result<> find(const ObjectKey& key);
    Result<> copy(const ObjectKey& key);
    Result<> replace();
    ObjectKey now(const ObjectKey& key) const { return made_.now(key); }
    bool is_taken_away(const NameKey& at) const;
    bool had_successor(const ObjectKey& key);
    Result<ObjectKey> make(const ObjectKey& key);
    Result<ObjectKey> enter(const std::string& name);

    Locator& locator_;
    const Vanished& vanished_;
    std::set<ObjectKey> gone_;  // those that are still to be found
    const Edges& edges_;
    const std::set<ObjectKey> put_;
    std::set<ObjectKey> known_;
    Successors made_;
};

Result<> Maker::replace() {
    TRY(locator_.journal().places().begin_replace(made_.replaced));
    crash_point("vanished.made");
    const int deltas = locator_.journal().state_dir().deltas();
    TRY_ASSIGN(const auto numbers, journal::list_deltas(deltas));
    for (const journal::DeltaNumber number : numbers)
        TRY(journal::replace_objects(deltas, number, made_.replaced,
                                     locator_.journal().note_seals()));
    return {};
}

/// One that was made before an interruption.
bool Maker::had_successor(const ObjectKey& key) {
    const auto successor = locator_.journal().places().successor(key);
    if (!successor) return false;
    const bool in_attic = locator_.journal().attic().contains(*successor);
    if (!in_attic && !locator_.known_directory(*successor)) return false;
    made_.replaced.emplace(key, *successor);
    return true;
}

bool Maker::is_taken_away(const NameKey& at) const {
    return std::any_of(edges_.begin(), edges_.end(),
                       [&](const Edge& edge) { return edge.delta.names.contains(at); });
}

// The one above it comes first; whoever is asked twice is in a loop.
Result<> Maker::find(const ObjectKey& key) {
    if (gone_.erase(key) == 0) return {};
    const auto place = locator_.journal().places().find(key);
    if (!place) return {};
    const NameKey& at = place->newest;
    TRY(find(at.parent));
    const NameKey there{now(at.parent), at.name};
    if (there.parent == at.parent && !locator_.live_path(at.parent)) return {};
    if (!had_successor(key)) {
        std::optional<Standing> standing;
        if (locator_.known_directory(there.parent)) {
            TRY_ASSIGN(standing, locator_.standing(there));
        }
        if (standing && !is_taken_away(at)) {
            if (!S_ISDIR(standing->type)) {
                return Error(ErrorKind::kConflict, ENOTDIR,
                             "restore: " + at.name + " was a directory and is none any more",
                             "`mv` moves it out of the way");
            }
            if (known_.contains(standing->key)) {
                return Error(ErrorKind::kConflict, EEXIST,
                             "restore: another directory was moved to where " + at.name + " was",
                             "move it back to where it came from, or out of the workspace");
            }
            made_.replaced.emplace(key, standing->key);
            return {};
        }
        TRY_ASSIGN(const ObjectKey successor, make(key));
        made_.replaced.emplace(key, successor);
    }
    if (locator_.journal().attic().contains(now(key)) && !put_.contains(key) &&
        !put_.contains(now(key)))
        made_.images.push_back({at, key, S_IFDIR});
    return {};
}

/// What was just made in the attic gets the name of its key.
Result<ObjectKey> Maker::enter(const std::string& name) {
    journal::Attic& attic = locator_.journal().attic();
    TRY_ASSIGN(const sys::StatX x, sys::statx_at(attic.directory(), name));
    const ObjectKey key = key_of(x);
    TRY(sys::rename(attic.directory(), name, attic.directory(), journal::Attic::file_name(key)));
    attic.note_added(key);
    crash_point("vanished.entered");
    return key;
}

Result<ObjectKey> Maker::make(const ObjectKey& key) {
    const int attic = locator_.journal().attic().directory();
    const std::string name = "x-new";  // a left-over of a kill is removed by the next writer
    ignore(sys::remove_directory(attic, name), "there is none, as a rule");
    TRY(sys::make_directory(attic, name, 0755));
    TRY_ASSIGN(const UniqueFd made, sys::open_at(attic, name, O_PATH | O_DIRECTORY));
    for (const Edge& edge : edges_) {
        const auto image = edge.delta.objects.find(key);
        if (image == edge.delta.objects.end() || !image->second.attributes) continue;
        TRY(write_attributes(made.get(), *image->second.attributes, true));
        break;
    }
    return enter(name);
}

// A file with names outside the workspace goes on without us; the journal's is a copy of it as it
// is.
Result<> Maker::copy(const ObjectKey& key) {
    if (had_successor(key)) return {};
    TRY_ASSIGN(const HandlePtr old, locator_.object(key, Access::kRead));
    const int attic = locator_.journal().attic().directory();
    const std::string name = "x-copy";
    ignore(sys::unlink(attic, name), "there is none, as a rule");
    TRY_ASSIGN(const UniqueFd made, sys::open_at(attic, name, O_RDWR | O_CREAT | O_EXCL, 0600));
    TRY(copy_file(old->fd.get(), made.get()));
    TRY_ASSIGN(const ObjectKey successor, enter(name));
    made_.replaced.emplace(key, successor);
    return {};
}

/// What came back to a directory must not show in its times: its attributes as they are, unless
/// this edge or a nearer one knows better.
Result<std::optional<journal::Attributes>> attributes_to_keep(Locator& locator,
                                                              const ObjectKey& directory,
                                                              const Edges& edges,
                                                              std::size_t edge) {
    for (std::size_t i = 0; i <= edge; ++i) {
        const auto image = edges[i].delta.objects.find(directory);
        if (image != edges[i].delta.objects.end() && image->second.attributes)
            return std::optional<journal::Attributes>();
    }
    TRY_ASSIGN(const HandlePtr handle, locator.directory(directory));
    TRY_ASSIGN(journal::Attributes attributes, read_attributes(handle->fd.get()));
    return std::optional(std::move(attributes));
}

}  // namespace

Result<Vanished> find_vanished(Locator& locator, const Edges& edges) {
    return Finder(locator, edges).find();
}

Result<Successors> make_successors(Locator& locator, const Vanished& vanished, const Edges& edges) {
    return Maker(locator, vanished, edges).run();
}

Result<> finish_successors(Locator& locator, const Successors& successors) {
    if (successors.replaced.empty()) return {};
    crash_point("vanished.booked");
    return locator.journal().places().replace(successors.replaced);
}

// A directory comes back in the nearest edge that speaks of it or of anything that is in it.
Result<> book(Locator& locator, const Successors& successors, const Edges& edges) {
    const std::vector<journal::NameImage>& images = successors.images;
    std::unordered_map<ObjectKey, std::size_t> nearest;
    const auto note = [&](const ObjectKey& key, std::size_t edge) {
        const auto [entry, fresh] = nearest.try_emplace(key, edge);
        entry->second = std::min(entry->second, edge);
    };
    for (std::size_t i = 0; i < edges.size(); ++i) {
        for (const ObjectKey& key : edges[i].delta.mentioned()) {
            note(key, i);
            if (const auto place = locator.journal().places().find(key))
                note(successors.now(place->newest.parent), i);
        }
    }
    // Those above come first in the list; they take after those below.
    for (auto image = images.rbegin(); image != images.rend(); ++image) {
        const auto edge = nearest.find(*image->object);
        if (edge != nearest.end()) note(image->at.parent, edge->second);
    }
    for (const journal::NameImage& image : images) {
        const auto edge = nearest.find(*image.object);
        if (edge == nearest.end()) continue;
        TRY_ASSIGN(const auto parent,
                   attributes_to_keep(locator, image.at.parent, edges, edge->second));
        TRY(journal::put_first(locator.journal().state_dir().deltas(), edges[edge->second].number,
                               image, parent, locator.journal().note_seals()));
    }
    return {};
}

Result<> put_back(Locator& locator, const std::vector<journal::NameImage>& images,
                  std::vector<std::string>& kept) {
    journal::Attic& attic = locator.journal().attic();
    for (const journal::NameImage& image : images) {
        TRY_ASSIGN(const auto standing, locator.standing(image.at));
        if (standing && standing->key == *image.object) continue;
        if (standing) TRY(move_aside(locator, image.at, standing->key, kept));
        TRY_ASSIGN(const HandlePtr parent, locator.directory(image.at.parent));
        const int fd = parent->fd.get();
        TRY(sys::lend_access(fd, [&] {
            return S_ISDIR(image.type) ? attic.move_out(*image.object, fd, image.at.name)
                                       : attic.link_out(*image.object, fd, image.at.name);
        }));
        crash_point("vanished.put-back");
    }
    return {};
}

}  // namespace unwrite::overlay
