#include "overlay/differences.h"

#include <algorithm>

#include "overlay/attributes.h"
#include "overlay/comparison.h"
#include "overlay/git_index.h"

namespace unwrite::overlay {

using journal::Attributes;
using journal::ObjectImage;

namespace {

constexpr std::uint64_t kMaxCompared = 64ULL * 1024 * 1024;

bool same_mtime(const Attributes& a, const Attributes& b) {
    return a.mtime_s == b.mtime_s && a.mtime_ns == b.mtime_ns;
}

// Each byte once: many layers may have captured the same ones.
Ranges joined(Ranges ranges) {
    std::sort(ranges.begin(), ranges.end());
    Ranges joined;
    for (const auto& [begin, end] : ranges) {
        if (joined.empty() || begin > joined.back().second)
            joined.emplace_back(begin, end);
        else
            joined.back().second = std::max(joined.back().second, end);
    }
    return joined;
}

// The ranges in which one object can differ: what the layers between captured, and what was cut or
// grown.
Ranges touched_ranges(const ObjectKey& key, const Way& between, std::uint64_t size) {
    Ranges ranges;
    std::uint64_t least = size;
    bool all = false;
    between.each_imaging(key, [&](const LayerPtr& layer) {
        const ObjectImage& image = *layer->object(key);
        all = image.size == size && is_whole(image);
        if (image.size) least = std::min(least, *image.size);
        for (const auto& range : image.content)
            ranges.emplace_back(range.offset, range.offset + range.length);
        return !all;
    });
    if (all) return {{0, size}};
    if (least < size) ranges.emplace_back(least, size);
    return joined(std::move(ranges));
}

bool says_anything(const ObjectImage& image) {
    return image.attributes || image.size || !image.content.empty();
}

bool was_written(const ObjectKey& key, const Way& between) {
    bool written = false;
    between.each_imaging(key, [&](const LayerPtr& layer) {
        const ObjectImage& image = *layer->object(key);
        written = image.size || !image.content.empty();
        return !written;
    });
    return written;
}

Result<bool> files_differ(View& older, const Located& a, View& newer, const Located& b,
                          const Way& between) {
    if (a.key == b.key && !was_written(a.key, between)) return false;
    TRY_ASSIGN(const std::uint64_t size, older.size(a));
    TRY_ASSIGN(const std::uint64_t other_size, newer.size(b));
    if (size != other_size) return true;
    if (a.key != b.key && size > kMaxCompared) return true;
    TRY_ASSIGN(const Content one, older.content(a));
    TRY_ASSIGN(const Content two, newer.content(b));
    const Ranges ranges = a.key == b.key ? touched_ranges(a.key, between, size) : Ranges{{0, size}};
    const auto equal = equal_in(one, two, ranges);
    // What is damaged is not said to be the same, and keeps nobody from seeing all else.
    if (!equal && equal.error().kind() == ErrorKind::kCorrupt) return true;
    if (!equal) return equal.error();
    return !*equal;
}

// Devices are told apart by their number.
Result<bool> devices_differ(View& older, const Located& a, View& newer, const Located& b) {
    TRY_ASSIGN(const HandlePtr one, older.live().open(a, Access::kPath));
    TRY_ASSIGN(const HandlePtr two, newer.live().open(b, Access::kPath));
    TRY_ASSIGN(const struct stat first, sys::stat_fd(one->fd.get()));
    TRY_ASSIGN(const struct stat second, sys::stat_fd(two->fd.get()));
    return first.st_rdev != second.st_rdev;
}

}  // namespace

Result<Differences> Comparison::run() {
    TRY(compare_names());
    TRY(replaced_in_place());
    TRY(renamed());
    TRY(replaced_directories());
    TRY(vanished_and_made());
    TRY(changed_objects());
    for (Difference& difference : result_.list) {
        if (difference.change.kind == ChangeKind::kRenamed && S_ISDIR(difference.change.type))
            TRY(count_renamed(difference));
    }
    std::stable_sort(
        result_.list.begin(), result_.list.end(), [](const Difference& a, const Difference& b) {
            if (a.change.path != b.change.path) return a.change.path < b.change.path;
            return a.change.kind == ChangeKind::kDeleted && b.change.kind != ChangeKind::kDeleted;
        });
    return std::move(result_);
}

Result<> Comparison::compare_names() {
    if (scope_ != nullptr) {
        for (const NameKey& at : scope_->names) {
            if (between_.names(at)) TRY(compare_name(at));
        }
        return {};
    }
    for (const LayerPtr& layer : between_) {
        for (const auto& [at, state] : layer->delta.names) {
            if (!pairs_.contains(at)) TRY(compare_name(at));
        }
    }
    return {};
}

// A name counts on the side where its directory exists.
Result<> Comparison::compare_name(const NameKey& at) {
    NamePair& pair = pairs_[at];
    const auto older_path = older_.path(at);
    const auto newer_path = newer_.path(at);
    if (older_path) {
        TRY_ASSIGN(pair.older, older_.at(at));
    }
    if (newer_path) {
        TRY_ASSIGN(pair.newer, newer_.at(at));
    }
    if (pair.older && pair.newer && pair.older->key == pair.newer->key) return {};
    if (pair.older) lost_[pair.older->key].push_back({at, *older_path, *pair.older});
    if (pair.newer) gained_[pair.newer->key].push_back({at, *newer_path, *pair.newer});
    if (!pair.older && !pair.newer) return {};
    result_.names.insert(at);
    const auto key_of = [](const std::optional<Located>& found) {
        return found ? std::optional(found->key) : std::nullopt;
    };
    result_.changed.push_back({at, key_of(pair.older), key_of(pair.newer)});
    return {};
}

static void take(std::map<ObjectKey, std::vector<Placed>>& from, const ObjectKey& key,
                 const NameKey& at) {
    const auto found = from.find(key);
    std::erase_if(found->second, [&](const Placed& placed) { return placed.at == at; });
    if (found->second.empty()) from.erase(found);
}

Result<> Comparison::replaced_in_place() {
    for (const auto& [at, pair] : pairs_) {
        if (!pair.older || !pair.newer || pair.older->key == pair.newer->key) continue;
        if (pair.older->type != pair.newer->type || S_ISDIR(pair.older->type)) continue;
        if (gained_.contains(pair.older->key)) continue;
        const Placed was{at, *older_.path(at), *pair.older};
        const Placed is{at, *newer_.path(at), *pair.newer};
        take(lost_, was.found.key, at);
        take(gained_, is.found.key, at);
        TRY(add_both(ChangeKind::kModified, was, is));
    }
    return {};
}

Result<> Comparison::renamed() {
    const auto by_path = [](const Placed& a, const Placed& b) { return a.path < b.path; };
    for (auto& [key, was] : lost_) {
        const auto found = gained_.find(key);
        if (found == gained_.end()) continue;
        auto& is = found->second;
        std::sort(was.begin(), was.end(), by_path);
        std::sort(is.begin(), is.end(), by_path);
        const std::size_t count = std::min(was.size(), is.size());
        for (std::size_t i = 0; i < count; ++i) {
            result_.moved.insert({was[i].at, is[i].at});
            TRY(add_both(ChangeKind::kRenamed, was[i], is[i]));
        }
        was.erase(was.begin(), was.begin() + static_cast<std::ptrdiff_t>(count));
        is.erase(is.begin(), is.begin() + static_cast<std::ptrdiff_t>(count));
    }
    return {};
}

// What lies in a directory that came or went itself is counted there.
Result<> Comparison::vanished_and_made() {
    for (const auto& [key, places] : lost_) {
        for (const Placed& placed : places) {
            if (newer_.path(placed.at.parent) && !merged_.contains(placed.at))
                TRY(add_one(ChangeKind::kDeleted, older_, placed));
        }
    }
    for (const auto& [key, places] : gained_) {
        for (const Placed& placed : places) {
            if (older_.path(placed.at.parent) && !merged_.contains(placed.at))
                TRY(add_one(ChangeKind::kCreated, newer_, placed));
        }
    }
    return {};
}

Result<> Comparison::changed_objects() {
    if (scope_ != nullptr) {
        for (const ObjectKey& key : scope_->objects) {
            if (is_imaged(key)) TRY(changed_object(key));
        }
        return {};
    }
    for (const LayerPtr& layer : between_) {
        for (const auto& [key, image] : layer->delta.objects)
            if (says_anything(image)) TRY(changed_object(key));
    }
    return {};
}

bool Comparison::is_imaged(const ObjectKey& key) const {
    bool any = false;
    between_.each_imaging(key, [&](const LayerPtr& layer) {
        any = says_anything(*layer->object(key));
        return !any;
    });
    return any;
}

Result<> Comparison::changed_object(const ObjectKey& key) {
    if (!done_.insert(key).second) return {};
    // A path first: what has none was made or removed, and is spoken of by its name.
    auto older_path = older_.path(key);
    if (!older_path) return {};
    auto newer_path = newer_.path(key);
    if (!newer_path) return {};
    TRY_ASSIGN(const auto was, older_.object(key));
    TRY_ASSIGN(const auto is, newer_.object(key));
    if (!was || !is) return {};
    if (const auto at = older_.name_of(key)) {
        TRY_ASSIGN(const auto stayed, name_that_stayed(key, *at));
        if (!stayed) return {};  // spoken of by the names
        older_path = older_.path(*stayed);
        newer_path = newer_.path(*stayed);
        if (!older_path || !newer_path) return {};
    }
    return add_both(ChangeKind::kModified, {{}, *older_path, *was}, {{}, *newer_path, *is});
}

// A file may have several names, of which some stand for another file now.
Result<std::optional<NameKey>> Comparison::name_that_stayed(const ObjectKey& key,
                                                            const NameKey& older_name) {
    TRY_ASSIGN(const auto now, newer_.at(older_name));
    if (now && now->key == key) return std::optional(older_name);
    auto newer_name = newer_.name_of(key);
    if (!newer_name) return newer_name;
    TRY_ASSIGN(const auto then, older_.at(*newer_name));
    if (!then || then->key != key) newer_name.reset();
    return newer_name;
}

Result<std::uint32_t> Comparison::aspects_that_differ(const Located& a, const Located& b) {
    if (a.key == b.key) {
        bool mentioned = false;
        between_.each_imaging(a.key, [&](const LayerPtr& layer) {
            mentioned = layer->object(a.key)->attributes.has_value();
            return !mentioned;
        });
        if (!mentioned) return 0U;
    }
    TRY_ASSIGN(const Attributes was, older_.attributes(a));
    TRY_ASSIGN(const Attributes is, newer_.attributes(b));
    const bool touched =
        a.key == b.key && S_ISREG(a.type) && !was_written(a.key, between_) && !same_mtime(was, is);
    return different_aspects(was, is) | (touched ? kAspectTime : 0U);
}

Result<> Comparison::compare_objects(const Located& was, const Located& is, Change& change) {
    if (detail_ == Detail::kRough) {
        change.content = was.key != is.key || was_written(was.key, between_);
        if (change.content) return {};
    } else {
        TRY_ASSIGN(change.content,
                   or_if_vanished(content_differs(older_, was, newer_, is, between_), true));
    }
    TRY_ASSIGN(change.aspects, or_if_vanished(aspects_that_differ(was, is), 0U));
    change.attributes = change.aspects != 0;
    return {};
}

Result<bool> Comparison::differs(const ObjectKey& then, const ObjectKey& now) {
    TRY_ASSIGN(const auto was, older_.object(then));
    TRY_ASSIGN(const auto is, newer_.object(now));
    if (!was || !is || was->type != is->type) return true;
    if (then != now && S_ISDIR(was->type)) return true;
    Change change;
    TRY(compare_objects(*was, *is, change));
    return change.content || change.attributes;
}

Result<> Comparison::add_both(ChangeKind kind, const Placed& was, const Placed& is) {
    if (is_git_lock(was.path) && is_git_lock(is.path) && S_ISREG(is.found.type)) return {};
    Difference difference;
    Change& change = difference.change;
    TRY(compare_objects(was.found, is.found, change));
    if (change.content && are_same_indexes(was, is)) change.content = false;
    if (was.found.key == is.found.key || !newer_.may_stand_elsewhere(was.found.key, was.at))
        done_.insert(was.found.key);
    if (was.found.key == is.found.key || !older_.may_stand_elsewhere(is.found.key, is.at))
        done_.insert(is.found.key);
    // Moved along with the directory above it, back to where it was.
    if (kind == ChangeKind::kRenamed && was.path == is.path) kind = ChangeKind::kModified;
    if (kind != ChangeKind::kRenamed) {
        if (!change.content && !change.attributes) return {};
        kind = change.content ? ChangeKind::kModified : ChangeKind::kAttributes;
    } else {
        change.old_path = was.path;
    }
    change.kind = kind;
    change.path = is.path.empty() ? "." : is.path;
    change.type = is.found.type;
    if (S_ISREG(is.found.type)) {
        TRY_ASSIGN(change.bytes, or_if_vanished(newer_.size(is.found), std::uint64_t{0}));
    }
    change.ignored = S_ISDIR(change.type) || !ignored_.covers(change.path) ? 0 : 1;
    const bool named = !(was.at.name.empty() && is.at.name.empty());
    if (named) {
        book(change, &was.at, was.found.key);
        book(change, &is.at, is.found.key);
    } else {
        book(change, nullptr, is.found.key);
    }
    difference.older = was.found;
    difference.newer = is.found;
    difference.older_path = was.path;
    result_.list.push_back(std::move(difference));
    return {};
}

Result<> Comparison::add_one(ChangeKind kind, View& view, const Placed& placed) {
    if (is_git_lock(placed.path) && S_ISREG(placed.found.type)) return {};
    Difference difference;
    Change& change = difference.change;
    change.kind = kind;
    change.path = placed.path;
    change.type = placed.found.type;
    if (S_ISDIR(change.type)) {
        TRY(count_below(view, placed, change));
    } else {
        change.ignored = ignored_.covers(change.path) ? 1 : 0;
    }
    if (S_ISREG(change.type)) {
        TRY_ASSIGN(change.bytes, or_if_vanished(view.size(placed.found), std::uint64_t{0}));
    }
    book(change, &placed.at, placed.found.key);
    (kind == ChangeKind::kDeleted ? difference.older : difference.newer) = placed.found;
    if (kind == ChangeKind::kDeleted) difference.older_path = placed.path;
    result_.list.push_back(std::move(difference));
    return {};
}

bool Comparison::is_moved(const NameKey& at) const {
    return result_.moved.contains(at) || (scope_ != nullptr && scope_->moved->contains(at));
}

void Comparison::book(Change& change, const NameKey* name, const ObjectKey& object) const {
    std::set<OriginNumber> origins(change.origins.begin(), change.origins.end());
    const auto add_all_of = [&](const ObjectKey& key) {
        between_.each_imaging(key, [&](const LayerPtr& layer) {
            const auto& more = layer->object(key)->origins;
            origins.insert(more.begin(), more.end());
            return true;
        });
    };
    if (name != nullptr) {
        between_.each_naming(*name, [&](const LayerPtr& layer) {
            const journal::NameState& state = *layer->name(*name);
            origins.insert(state.origins.begin(), state.origins.end());
            // Who wrote to a file that somebody then saved as a new one changed it as well.
            const auto& replaced = state.image.object;
            if (replaced && S_ISREG(state.image.type) && !newer_.path(*replaced))
                add_all_of(*replaced);
            return true;
        });
    }
    // The times of a directory change with every name in it, whoever made that.
    if (name == nullptr || !S_ISDIR(change.type)) add_all_of(object);
    change.origins.assign(origins.begin(), origins.end());
}

Result<Differences> differences_between(View& older, View& newer, Detail detail) {
    return Comparison(older, newer, detail, nullptr).run();
}

Result<Differences> differences_within(View& older, View& newer, const Scope& scope) {
    return Comparison(older, newer, Detail::kFull, &scope).run();
}

Result<bool> content_differs(View& older, const Located& a, View& newer, const Located& b,
                             const Way& between) {
    if (S_ISREG(a.type)) return files_differ(older, a, newer, b, between);
    if (a.key == b.key) return false;
    if (S_ISLNK(a.type)) {
        TRY_ASSIGN(const std::string one, older.link_target(a));
        TRY_ASSIGN(const std::string two, newer.link_target(b));
        return one != two;
    }
    if (S_ISCHR(a.type) || S_ISBLK(a.type)) return devices_differ(older, a, newer, b);
    return false;
}

}  // namespace unwrite::overlay
