// View: the state of a node, seen from the live one: the live tree with the images of the crossings
// on the way laid over it. Nothing is changed and nothing is copied; what the layers do not mention
// is read from the live tree (and from the attic) when asked for. The view without layers is the
// live state.
//
// A later crossing covers an earlier one. The live tree may change while a view is used: what
// vanishes is not found, and an answer may mix two moments, but it never fails for that reason. Not
// thread-safe; views of one operation share their LiveNamesOf.
#pragma once

#include <functional>

#include "overlay/content.h"
#include "overlay/live_names_of.h"

namespace unwrite::overlay {

/// An entry of a directory in a view.
struct Child {
    NameKey at{};
    Located found{};
};

/// One object of a walk; `path` is relative to where the walk began.
struct Walked {
    const NameKey& at;
    const Located& found;
    const std::string& path;
};

class View {
 public:
    View(std::shared_ptr<LiveNamesOf> live, Way layers);
    /// The state of a node of the history.
    static Result<View> of_node(const std::shared_ptr<LiveNamesOf>& live, Layers& layers,
                                const History& history, journal::NodeNumber node);

    const Way& layers() const { return layers_; }
    const ObjectKey& root() const { return live_->root(); }
    bool is_top(const ObjectKey& key) const { return live_->is_top(key); }
    LiveNamesOf& live() const { return *live_; }

    /// What stands at a name; nothing when it is absent (also the state directory).
    Result<std::optional<Located>> at(const NameKey& name);
    /// What stands at a path ("" or ".": the root).
    Result<std::optional<Located>> find(const std::string& path);
    /// The object itself, by its key; nothing when it has no name in this view.
    Result<std::optional<Located>> object(const ObjectKey& key);
    /// A name of the object in this view (any one of several); nothing for the root and for what
    /// has none.
    std::optional<NameKey> name_of(const ObjectKey& key);
    /// False: the object surely stands at no other name than this one. Costs no search.
    bool may_stand_elsewhere(const ObjectKey& key, const NameKey& name);
    /// The path of an object, or of a name whether something stands there or not; nothing when it
    /// is not below the root. "" is the root.
    const std::optional<std::string>& path(const ObjectKey& key);
    std::optional<std::string> path(const NameKey& name);

    /// The image of the last layer that has one, else the live object's.
    Result<journal::Attributes> attributes(const Located& found);
    Result<std::uint64_t> size(const Located& found);
    /// Of a regular file.
    Result<Content> content(const Located& found);
    Result<std::string> link_target(const Located& found);

    /// Calls `visit` for every entry of a directory, in no order, until it returns false.
    Result<> children(const Located& directory, const std::function<bool(Child&&)>& visit);
    /// Calls `visit` for everything below a directory, a directory before what it holds; does not
    /// descend where it returns false. Depth is cut at some thousand levels.
    Result<> walk(const Located& directory, const std::function<bool(const Walked&)>& visit);

 private:
    const journal::NameState* image_of(const NameKey& name) const;
    Result<> live_children(const Located& directory,
                           const std::unordered_map<std::string, const journal::NameState*>& images,
                           const std::function<bool(Child&&)>& visit, bool& go_on);

    std::shared_ptr<LiveNamesOf> live_;
    Way layers_;
    std::unordered_map<ObjectKey, std::optional<std::string>> paths_;
};

/// "a" and "b" as "a/b"; "" is the root.
std::string join_path(const std::string& parent, const std::string& name);

}  // namespace unwrite::overlay
