#include "overlay/outside.h"

#include <functional>
#include <set>

#include "base/lend_mode.h"
#include "journal/state_dir.h"
#include "overlay/git_index.h"
#include "overlay/view.h"

namespace unwrite::overlay {

namespace {

/// False: what is below it is not looked at.
using Look = std::function<Result<bool>(const std::string& path, const sys::StatX& x)>;

/// An open directory whose names are still to be looked at.
struct Pending {
    std::shared_ptr<UniqueFd> parent;
    std::string name;
    std::string path;
};

Result<> look_below(Pending top, const Look& look) {
    std::vector<Pending> pending;
    pending.push_back(std::move(top));
    while (!pending.empty()) {
        const Pending next = std::move(pending.back());
        pending.pop_back();
        auto fd = sys::open_listing_unseen(next.parent->get(), next.name);
        if (!fd) continue;  // it vanished, or nobody may look
        const auto here = std::make_shared<UniqueFd>(*std::move(fd));
        TRY_ASSIGN(const auto entries, sys::read_directory(here->get()));
        const auto own = sys::statx_at(here->get(), "");
        if (!own) continue;
        for (const auto& entry : entries) {
            const auto x = sys::statx_at(here->get(), entry.name);
            if (!x) continue;
            std::string path = join_path(next.path, entry.name);
            TRY_ASSIGN(const bool below, look(path, *x));
            if (below && S_ISDIR(x->st.st_mode) && sys::is_same_filesystem(*own, *x))
                pending.push_back({here, entry.name, std::move(path)});
        }
    }
    return {};
}

/// Looks at each object that stands where something else is to stand, and at what is below.
Result<> look_at_leaving(Locator& locator, const WantedNames& wanted, const Look& look) {
    Locator::Paths paths;
    // What is to stand somewhere does not go.
    std::unordered_set<ObjectKey> stays;
    for (const auto& [at, object] : wanted) {
        if (object) stays.insert(*object);
    }
    // Names lie below each other: each object is looked at once.
    std::unordered_set<ObjectKey> seen;
    const Look look_at = [&](const std::string& path, const sys::StatX& x) -> Result<bool> {
        if (stays.contains(key_of(x)) || !seen.insert(key_of(x)).second) return false;
        return look(path, x);
    };
    for (const auto& [at, object] : wanted) {
        const auto parent = locator.known_directory(at.parent);
        if (!parent) {
            if (is_absence(parent.error())) continue;
            return parent.error();
        }
        Result<sys::StatX> x = Error(ENOENT);
        TRY(sys::lend_access((*parent)->fd.get(), [&]() -> Result<> {
            x = sys::statx_at((*parent)->fd.get(), at.name);
            return {};
        }));
        if (!x || object == key_of(*x)) continue;
        // What is in the attic is not in anybody's hands.
        const auto above = locator.live_path(at.parent, paths);
        if (!above) continue;
        std::string path = join_path(*above, at.name);
        TRY_ASSIGN(const bool below, look_at(path, *x));
        if (!below || !S_ISDIR(x->st.st_mode)) continue;
        TRY_ASSIGN(UniqueFd directory, sys::duplicate((*parent)->fd.get()));
        TRY(look_below({std::make_shared<UniqueFd>(std::move(directory)), at.name, std::move(path)},
                       look_at));
    }
    return {};
}

/// What the history speaks of. It is read only when somebody asks, for that is rarely needed.
class Mentioned {
 public:
    explicit Mentioned(journal::Journal& journal) : journal_(journal) {}
    Result<bool> has(const ObjectKey& key) {
        if (!keys_) TRY(read());
        return keys_->contains(key);
    }

 private:
    Result<> read() {
        TRY_ASSIGN(keys_, journal_.mentioned_by_all_deltas());
        TRY_ASSIGN(const auto deltas, journal_.referenced_deltas());
        for (const journal::DeltaNumber number : deltas) {
            TRY_ASSIGN(const journal::Delta delta, journal_.read_delta(number));
            // Also what it says no more of than who made it (Capture::claim()).
            for (const auto& [object, image] : delta.objects)
                keys_->insert(object);
        }
        return {};
    }

    journal::Journal& journal_;
    std::optional<std::set<ObjectKey>> keys_;
};

}  // namespace

WantedNames wanted_names(const journal::Delta& images) {
    WantedNames wanted;
    for (const auto& [at, state] : images.names)
        wanted.emplace(at, state.image.object);
    return wanted;
}

// The farthest edge has the last word.
WantedNames wanted_names(const Edges& edges) {
    WantedNames wanted;
    for (const Edge& edge : edges) {
        for (const auto& [at, state] : edge.delta.names)
            wanted.insert_or_assign(at, state.image.object);
    }
    return wanted;
}

Result<std::vector<std::string>> find_outside(Locator& locator, const Capture& capture,
                                              const WantedNames& wanted) {
    std::vector<std::string> found;
    Mentioned mentioned(locator.journal());
    const Look look = [&](const std::string& path, const sys::StatX& x) -> Result<bool> {
        const ObjectKey key = key_of(x);
        const Capture::Known known = capture.known(key, x.st);
        const bool differs = S_ISREG(x.st.st_mode) && known.differs;
        if ((known.made || known.changed) && !differs) return true;
        if (is_git_index(path) || is_git_lock(path)) return false;
        if (is_shared_git_store(locator.objects(), path)) return false;
        if (!differs) {
            TRY_ASSIGN(const bool ours, mentioned.has(key));
            if (ours) return true;
        }
        found.push_back(S_ISDIR(x.st.st_mode) ? path + '/' : path);
        return false;
    };
    TRY(look_at_leaving(locator, wanted, look));
    return found;
}

Result<> take_for_made(Locator& locator, Capture& capture, const WantedNames& wanted) {
    return look_at_leaving(locator, wanted,
                           [&](const std::string& path, const sys::StatX& x) -> Result<bool> {
                               // Others are at work there all the time, and what is ours has been
                               // claimed.
                               if (is_shared(locator.objects().top_of(path).top->git_place()))
                                   return true;
                               capture.take_for_made(key_of(x), x.st);
                               return true;
                           });
}

Result<> take_displaced_for_made(journal::Attic& attic, Capture& capture) {
    for (const ObjectKey& key : attic.list()) {
        const std::string name = journal::Attic::file_name(key);
        const auto own = sys::statx_at(attic.directory(), name);
        if (!own || !S_ISDIR(own->st.st_mode)) continue;
        TRY_ASSIGN(UniqueFd directory, sys::duplicate(attic.directory()));
        TRY(look_below({std::make_shared<UniqueFd>(std::move(directory)), name, name},
                       [&](const std::string&, const sys::StatX& x) -> Result<bool> {
                           capture.take_for_made(key_of(x), x.st);
                           return true;
                       }));
    }
    return {};
}

}  // namespace unwrite::overlay
