// LiveNamesOf: what stands in the live tree, asked for by key, without a search of the tree for
// each question: by the hints of the table of objects and of the journal, then by one walk for all
// that is still unknown. What is nowhere is remembered. One per operation; not thread-safe. The
// live tree may change meanwhile: what vanished is just not found.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "overlay/layer_stack.h"
#include "overlay/locator.h"

namespace unwrite::overlay {

/// An object as it was found, and how to open it.
struct Located {
    ObjectKey key{};
    std::uint32_t type = 0;  ///< S_IFMT bits
    HandlePtr
        parent{};  ///< where it stands live; null: only the locator knows (an image placed it)
    std::string name{};           ///< there
    std::uint64_t live_size = 0;  ///< st_size when it was found live
};

class LiveNamesOf {
 public:
    explicit LiveNamesOf(Locator& locator) : locator_(locator) {}

    Locator& locator() { return locator_; }
    const ObjectKey& root() const { return locator_.objects().root()->key(); }
    bool is_top(const ObjectKey& key) const { return locator_.objects().is_top(key); }
    bool is_state_dir(const NameKey& at) const;

    Result<HandlePtr> directory(const ObjectKey& key);
    /// ENOENT, remembered, when the object is nowhere.
    Result<HandlePtr> open(const Located& found, Access access);
    /// What stands at a name; nothing when it is absent or its parent is nowhere.
    Result<std::optional<Located>> at(const NameKey& name);

    /// Names of the object that the hints know, verified when first asked for.
    const std::vector<NameKey>& hinted(const ObjectKey& key);
    /// True when hinted() knows the one name that a directory has.
    bool is_placed_directory(const ObjectKey& key);
    /// True when the object surely has no live name (it is in the attic and has no other link).
    bool is_gone(const ObjectKey& key) const;
    /// How many live names the object has at most; 0 for what is nowhere. A directory has one.
    std::uint64_t links(const ObjectKey& key);
    /// What these layers mention may be asked for: one walk finds all of it.
    void expect(const Way& layers);
    /// All names of the object, by a walk for everything expected (if there was none yet).
    const std::vector<NameKey>& searched(const ObjectKey& key);

 private:
    Result<HandlePtr> open_anew(const Located& found, Access access);
    void walk();
    void want_expected();
    void want(const Layer& layer);
    std::vector<NameKey> verified_hints(const ObjectKey& key);

    Locator& locator_;
    std::unordered_set<ObjectKey> nowhere_;
    // The file that was opened for reading last: both views of a comparison ask for it, and then
    // for its attributes.
    ObjectKey last_key_{};
    HandlePtr last_;
    std::unordered_map<ObjectKey, std::vector<NameKey>> hinted_;
    std::unordered_set<ObjectKey> placed_directories_;
    std::unordered_set<journal::DeltaNumber> wanted_layers_;
    struct Expected {
        Way layers;
        bool wanted = false;  ///< `wanted_` has them
    };
    std::vector<Expected> expected_;
    std::unordered_map<ObjectKey, std::vector<NameKey>> wanted_;
    bool walked_ = false;  // since something was wanted
};

/// True for the errors that say "not there": what vanished while it was looked at is skipped, not
/// reported.
bool is_vanished(const Error& error);

}  // namespace unwrite::overlay
