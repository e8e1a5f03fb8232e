// Comparison: how the differences of two views are found (differences.h says what they are).
// differences.cpp has names and objects, comparison_directories.cpp what is counted and compared
// below directories.
#pragma once

#include <cerrno>
#include <map>

#include "overlay/differences.h"
#include "overlay/ignored.h"

namespace unwrite::overlay {

/// What stands at a name in one of the views.
struct Placed {
    NameKey at;
    std::string path;
    Located found;
};

class Comparison {
 public:
    Comparison(View& older, View& newer, Detail detail, const Scope* scope)
        : older_(older),
          newer_(newer),
          detail_(detail),
          scope_(scope),
          between_(Way::between(older.layers(), newer.layers())),
          ignored_(newer) {}

    Result<Differences> run();
    /// Whether what `now` is would be listed as changed where `then` stood. A directory differs
    /// from every other.
    Result<bool> differs(const ObjectKey& then, const ObjectKey& now);

 private:
    struct NamePair {
        std::optional<Located> older;
        std::optional<Located> newer;
    };

    Result<> compare_names();
    Result<> compare_name(const NameKey& at);
    Result<> replaced_in_place();
    Result<> renamed();
    Result<> vanished_and_made();
    Result<> replaced_directories();
    Result<> merge(const Placed& was, const Placed& is);
    struct Merging;
    Result<> merge_children(Merging& merging, const Placed& was, const Placed& is);
    Result<> count_renamed(Difference& difference);
    Result<bool> differs_by_itself(const NameKey& at, const Located& found);
    bool are_same_indexes(const Placed& was, const Placed& is);
    Result<> changed_objects();
    bool is_imaged(const ObjectKey& key) const;
    Result<> changed_object(const ObjectKey& key);
    Result<std::optional<NameKey>> name_that_stayed(const ObjectKey& key,
                                                    const NameKey& older_name);
    bool is_moved(const NameKey& at) const;
    Result<> add_both(ChangeKind kind, const Placed& was, const Placed& is);
    Result<> add_one(ChangeKind kind, View& view, const Placed& placed);
    Result<> count_below(View& view, const Placed& placed, Change& change);
    Result<> compare_objects(const Located& was, const Located& is, Change& change);
    Result<std::uint32_t> aspects_that_differ(const Located& a, const Located& b);
    void book(Change& change, const NameKey* name, const ObjectKey& object) const;

    View& older_;
    View& newer_;
    const Detail detail_;
    const Scope* const scope_;  // null: everything
    const Way between_;
    Ignored ignored_;
    std::map<NameKey, NamePair> pairs_;
    std::map<ObjectKey, std::vector<Placed>> lost_;  // names an object had and has no more
    std::map<ObjectKey, std::vector<Placed>> gained_;
    std::unordered_set<ObjectKey> done_;  // objects that a difference speaks of
    std::unordered_set<NameKey> merged_;  // names of directories that were compared as one
    Differences result_;
};

/// An answer about something that may have vanished: then `otherwise`.
template <class T>
Result<T> or_if_vanished(Result<T> result, T otherwise) {
    if (result || !(is_vanished(result.error()) || result.error().number() == EACCES))
        return result;
    return otherwise;
}

}  // namespace unwrite::overlay
