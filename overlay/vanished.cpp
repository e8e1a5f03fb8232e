#include "overlay/vanished.h"

#include <cerrno>
#include <unordered_map>

#include "base/crash_point.h"
#include "overlay/attributes.h"
#include "overlay/lend_access.h"
#include "overlay/view.h"

namespace unwrite::overlay {

namespace {

constexpr mode_t kDefaultMode = 0755;
constexpr std::size_t kMaxSteps = 10'000;  // a loop among stale places must end

class Finder {
 public:
    explicit Finder(Locator& locator) : locator_(locator) {}

    Result<Vanished> find(const std::vector<journal::Delta>& deltas) {
        // The directories first: of what was in them they say where it was.
        for (const journal::Delta& delta : deltas)
            TRY(look_at_directories(delta));
        for (const journal::Delta& delta : deltas) {
            for (const auto& [key, image] : delta.objects) {
                const bool is_file =
                    image.size || (image.attributes && !S_ISDIR(image.attributes->mode));
                if (is_file && seen_.insert(key).second) TRY(look_at_file(key));
            }
        }
        return std::move(found_);
    }

 private:
    Result<> look_at_directories(const journal::Delta& delta);
    Result<> look_at_directory(const ObjectKey& key);
    Result<> look_at_file(const ObjectKey& key);
    std::optional<std::string> last_path(const NameKey& name);

    Locator& locator_;
    std::set<ObjectKey> seen_;
    std::set<ObjectKey> gone_;  // directories
    Vanished found_;
};

Result<> Finder::look_at_directories(const journal::Delta& delta) {
    for (const auto& [at, state] : delta.names) {
        TRY(look_at_directory(at.parent));
        if (state.image.object && S_ISDIR(state.image.type))
            TRY(look_at_directory(*state.image.object));
    }
    for (const auto& [key, image] : delta.objects) {
        if (image.attributes && S_ISDIR(image.attributes->mode)) TRY(look_at_directory(key));
    }
    return {};
}

Result<> Finder::look_at_directory(const ObjectKey& key) {
    if (!seen_.insert(key).second || locator_.directory(key)) return {};
    const auto place = locator_.journal().places().find(key);
    if (!place) return {};  // nothing says where it was
    // The one that it was in may have gone without any delta saying more of it.
    TRY(look_at_directory(place->newest.parent));
    gone_.insert(key);
    found_.directories.push_back(key);
    if (auto path = last_path(place->newest)) found_.paths.push_back(*std::move(path) + '/');
    return {};
}

// By the places of the journal where the directories are gone.
std::optional<std::string> Finder::last_path(const NameKey& name) {
    std::string below = name.name;
    ObjectKey parent = name.parent;
    for (std::size_t steps = 0; steps < kMaxSteps; ++steps) {
        if (const auto path = locator_.live_path(parent)) return join_path(*path, below);
        const auto place = locator_.journal().places().find(parent);
        if (!place || !gone_.contains(parent)) return std::nullopt;
        below = join_path(place->newest.name, below);
        parent = place->newest.parent;
    }
    return std::nullopt;
}

Result<> Finder::look_at_file(const ObjectKey& key) {
    journal::Journal& journal = locator_.journal();
    if (!journal.places().contains(key) || !journal.attic().contains(key)) return {};
    const auto handle = locator_.object(key, Access::kPath);
    if (!handle) return {};
    TRY_ASSIGN(const struct stat st, sys::stat_fd((*handle)->fd.get()));
    if (st.st_nlink != 1) return {};
    // The attic's link is the only one that is left. Looked up only now: what we remove ourselves
    // loses its place first.
    const auto place = journal.places().find(key);
    if (!place) return {};
    TRY(look_at_directory(place->newest.parent));
    // A directory that is in the attic took what was in it along.
    auto path = last_path(place->newest);
    if (!path) return {};
    if (!gone_.contains(place->newest.parent)) {
        TRY_ASSIGN(const auto standing, locator_.standing(place->newest));
        if (standing && standing->key == key) return {};  // its link in the attic is a copy
    }
    found_.files.push_back({place->newest, key, st.st_mode & S_IFMT});
    found_.paths.push_back(*std::move(path));
    return {};
}

class Successors {
 public:
    Successors(Locator& locator, const std::vector<ObjectKey>& directories,
               const std::vector<journal::Delta>& deltas)
        : locator_(locator), gone_(directories.begin(), directories.end()), deltas_(deltas) {}

    Result<> run() {
        for (const ObjectKey& key : std::vector(gone_.begin(), gone_.end()))
            TRY(find(key));
        if (replaced_.empty()) return {};
        crash_point("vanished.made");
        const int deltas = locator_.journal().state_dir().deltas();
        TRY_ASSIGN(const auto numbers, journal::list_deltas(deltas));
        for (const journal::DeltaNumber number : numbers)
            TRY(journal::replace_objects(deltas, number, replaced_));
        return locator_.journal().places().replace(replaced_);
    }

 private:
    Result<> find(const ObjectKey& key);
    Result<ObjectKey> make(const ObjectKey& key, int parent, const std::string& name);

    Locator& locator_;
    std::set<ObjectKey> gone_;  // those that are still to be found
    const std::vector<journal::Delta>& deltas_;
    journal::ReplacedObjects replaced_;
};

// The one above it comes first; whoever is asked twice is in a loop.
Result<> Successors::find(const ObjectKey& key) {
    if (gone_.erase(key) == 0) return {};
    const auto place = locator_.journal().places().find(key);
    if (!place) return {};
    TRY(find(place->newest.parent));
    NameKey at = place->newest;
    if (const auto above = replaced_.find(at.parent); above != replaced_.end())
        at.parent = above->second;
    if (!replaced_.contains(place->newest.parent) && !locator_.live_path(at.parent)) return {};
    TRY_ASSIGN(const HandlePtr parent, locator_.directory(at.parent));
    TRY_ASSIGN(const auto standing, locator_.standing(at));
    if (standing && !S_ISDIR(standing->type)) {
        return Error(ErrorKind::kConflict, ENOTDIR,
                     "restore: " + at.name + " was a directory and is none any more",
                     "move it out of the way");
    }
    ObjectKey successor;
    if (standing) {
        successor = standing->key;
    } else {
        TRY_ASSIGN(successor, make(key, parent->fd.get(), at.name));
    }
    replaced_.emplace(key, successor);
    // Where those below look for it.
    return locator_.journal().places().set(successor, at);
}

Result<ObjectKey> Successors::make(const ObjectKey& key, int parent, const std::string& name) {
    TRY(lend_directory(parent, [&] { return sys::make_directory(parent, name, kDefaultMode); }));
    crash_point("vanished.directory");
    TRY_ASSIGN(const UniqueFd made, sys::open_at(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW));
    for (const journal::Delta& delta : deltas_) {
        const auto image = delta.objects.find(key);
        if (image == delta.objects.end() || !image->second.attributes) continue;
        TRY(write_attributes(made.get(), *image->second.attributes, true));
        break;
    }
    TRY_ASSIGN(const sys::StatX x, sys::statx_at(made.get(), ""));
    return key_of(x);
}

}  // namespace

Result<Vanished> find_vanished(Locator& locator, const std::vector<journal::Delta>& deltas) {
    return Finder(locator).find(deltas);
}

Result<> replace_vanished_directories(Locator& locator, const std::vector<ObjectKey>& directories,
                                      const std::vector<journal::Delta>& deltas) {
    return Successors(locator, directories, deltas).run();
}

Result<> put_back_vanished_files(Locator& locator, const std::vector<journal::NameImage>& files) {
    for (const journal::NameImage& image : files) {
        TRY_ASSIGN(const auto standing, locator.standing(image.at));
        if (standing) continue;
        TRY_ASSIGN(const HandlePtr parent, locator.directory(image.at.parent));
        TRY(lend_directory(parent->fd.get(), [&] {
            return locator.journal().attic().link_out(*image.object, parent->fd.get(),
                                                      image.at.name);
        }));
        crash_point("vanished.put-back");
    }
    return {};
}

}  // namespace unwrite::overlay
