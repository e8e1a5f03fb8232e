// Differences between two views: which names stand for other objects, which objects have other
// attributes or content. Only what the layers between the two mention is looked at, so the cost is
// that of what changed, whatever the tree holds.
//
// What is told apart, and how:
//  * An object whose name changed is kRenamed, with `content`/`attributes` when it changed as well.
//    What is below a renamed directory is not listed unless it changed itself.
//  * Another object of the same type at an old name, where the old object is nowhere else, is
//    kModified (an atomic save); when it came from another name, that name is kDeleted.
//  * Another type at a name is a kDeleted and a kCreated with the same path.
//  * Another directory at a name, where the old one is nowhere else, is compared file by file with
//    it, as if it were the same one (`rm -r d; git checkout d`); in a tree that git ignores, or
//    with more than 20,000 objects, the two are a kDeleted and a kCreated. (A path that both
//    ignored ones have counts once.)
//  * A created or deleted directory is one difference with what is below counted; objects that were
//    moved in or out are not counted there but are kRenamed.
//  * git's bookkeeping is no difference: an index with the same entries, lock files (git_index.h).
//  * Another name of an object that keeps one (hard link) is kCreated, and kDeleted when it goes.
//  * What ends as it began is no difference; nor is the mtime of a directory; the mtime of a file
//    only when its content was not written.
#pragma once

#include <unordered_set>

#include "overlay/operations.h"
#include "overlay/view.h"

namespace unwrite::overlay {

struct Difference {
    Change change{};
    std::optional<Located> older{};
    std::optional<Located> newer{};
    std::string older_path{};  ///< of `older` in its view; empty when there is none
};

/// The names that stand for different objects in the two views.
using ChangedNames = std::unordered_set<NameKey>;

/// One of them, with what stands there.
struct ChangedName {
    NameKey at{};
    std::optional<ObjectKey> older{};
    std::optional<ObjectKey> newer{};
};

struct Differences {
    std::vector<Difference> list{};  ///< sorted by path; kDeleted before kCreated
    ChangedNames names{};
    std::vector<ChangedName> changed{};  ///< the same names
    /// One difference may depend on what is below another: it cannot be told by a Scope.
    bool entangled = false;
    ChangedNames moved{};  ///< of them those that renames speak of: left out where directories are
                           ///< counted or walked
};

/// How closely the two sides are compared.
enum class Detail {
    kFull,
    /// No content is read and nothing is counted below a directory, so that a restore does not wait
    /// for its own description: what was written counts as modified, even to what it was before.
    kRough,
};

Result<Differences> differences_between(View& older, View& newer, Detail detail = Detail::kFull);

/// A part of all that may differ which hangs together with nothing outside: whenever a name is in
/// it, so are the objects that stand there in either view, and with an object all changed names of
/// it.
struct Scope {
    ChangedNames names{};
    std::unordered_set<ObjectKey> objects{};
    const ChangedNames* moved = nullptr;  ///< outside, as in Differences
};
/// The differences there alone.
Result<Differences> differences_within(View& older, View& newer, const Scope& scope);

/// The files that moved along with a renamed directory: those that stood below it before.
class MovedAlong {
 public:
    MovedAlong(View& newer, const Differences& differences);
    /// Until `visit` returns false; `by_itself`: the file has a difference of its own.
    Result<> each(const Difference& renamed,
                  const std::function<bool(const Walked&, bool by_itself)>& visit);

 private:
    View& newer_;
    const Differences& differences_;
    // What was changed has a difference at one of its names, and not always at the same one.
    std::unordered_set<ObjectKey> changed_;
    std::unordered_set<std::string> renamed_;  // paths that were moved by themselves
    std::unordered_set<std::string> made_;  // those that have a difference on the newer side alone
};

/// True when two regular files or symlinks differ in what they hold. Different objects of the same
/// size above 64 MiB count as different without being read.
Result<bool> content_differs(View& older, const Located& a, View& newer, const Located& b,
                             const Way& between);

}  // namespace unwrite::overlay
