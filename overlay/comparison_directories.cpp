#include <set>

#include "overlay/attributes.h"
#include "overlay/comparison.h"
#include "overlay/git_index.h"

namespace unwrite::overlay {

namespace {

/// Larger directories that replaced one another are not compared file by file.
constexpr std::size_t kMostMerged = 20'000;

bool is_lock(const Located& found, const std::string& path) {
    return S_ISREG(found.type) && path.ends_with(".lock") && is_git_lock(path);
}

}  // namespace

// What is below two directories that are compared as one, by its path there.
struct Comparison::Merging {
    using Objects = std::map<std::string, Placed>;
    Objects older{};
    Objects newer{};
    bool too_much = false;
};

// Objects that are on the other side too (moved in or out) are not counted: they are differences of
// their own.
Result<> Comparison::count_below(View& view, const Placed& placed, Change& change) {
    if (detail_ == Detail::kRough) return {};
    change.files = 0;
    bool passed = false;
    // Where another ignored directory stands now, a path that it has counts there.
    std::unordered_set<std::string> there;
    const auto pair = pairs_.find(placed.at);
    const bool replaced = change.kind == ChangeKind::kDeleted && pair != pairs_.end() &&
                          pair->second.newer && S_ISDIR(pair->second.newer->type) &&
                          !is_moved(placed.at) && newer_.path(placed.at) == placed.path &&
                          ignored_.covers_all_in(placed.path);
    if (replaced) {
        TRY(newer_.walk(*pair->second.newer, [&](const Walked& walked) {
            if (is_moved(walked.at)) return false;
            if (!S_ISDIR(walked.found.type)) there.insert(walked.path);
            return true;
        }));
    }
    TRY(view.walk(placed.found, [&](const Walked& walked) {
        if (is_moved(walked.at)) {
            passed = true;
            return false;
        }
        const std::string path = join_path(change.path, walked.path);
        if (is_lock(walked.found, path)) return true;
        ++change.below;
        if (S_ISREG(walked.found.type))
            change.bytes += or_if_vanished(view.size(walked.found), std::uint64_t{0}).value_or(0);
        if (S_ISDIR(walked.found.type) || there.contains(walked.path)) return true;
        ++change.files;
        if (ignored_.covers(path)) ++change.ignored;
        return true;
    }));
    if (change.files == 0 && !passed && !replaced) change.files = 1;
    return {};
}

Result<> Comparison::count_renamed(Difference& difference) {
    result_.entangled = true;
    if (detail_ == Detail::kRough || scope_ != nullptr) return {};
    Change& change = difference.change;
    change.files = 0;
    bool holds_any = false;
    MovedAlong along(newer_, result_);
    TRY(along.each(difference, [&](const Walked& walked, bool by_itself) {
        holds_any = true;
        if (by_itself) return true;
        ++change.files;
        if (ignored_.covers(join_path(change.path, walked.path))) ++change.ignored;
        return true;
    }));
    if (!holds_any) change.files = 1;
    return {};
}

// `rm -r d` and making it again, as `git checkout` does, leaves another directory in its place.
Result<> Comparison::replaced_directories() {
    for (const auto& [at, pair] : pairs_) {
        const bool two = pair.older && pair.newer && pair.older->key != pair.newer->key &&
                         S_ISDIR(pair.older->type) && S_ISDIR(pair.newer->type);
        if (!two || is_moved(at) || gained_.contains(pair.older->key) ||
            lost_.contains(pair.newer->key))
            continue;
        TRY(merge({at, *older_.path(at), *pair.older}, {at, *newer_.path(at), *pair.newer}));
    }
    return {};
}

Result<> Comparison::merge(const Placed& was, const Placed& is) {
    result_.entangled = true;
    if (detail_ == Detail::kRough || scope_ != nullptr) return {};
    Merging merging;
    const auto gather = [&](View& view, const Placed& placed, Merging::Objects& objects) {
        return view.walk(placed.found, [&](const Walked& walked) {
            if (is_moved(walked.at) || merging.too_much) return false;
            const std::string path = join_path(placed.path, walked.path);
            if (is_lock(walked.found, path)) return true;
            objects.insert_or_assign(walked.path, Placed{walked.at, path, walked.found});
            merging.too_much = objects.size() > kMostMerged;
            return true;
        });
    };
    if (!ignored_.covers_all_in(is.path)) {
        TRY(gather(older_, was, merging.older));
        TRY(gather(newer_, is, merging.newer));
    }
    if (merging.too_much || ignored_.covers_all_in(is.path)) return {};
    merged_.insert(was.at);
    return merge_children(merging, was, is);
}

Result<> Comparison::merge_children(Merging& merging, const Placed& was, const Placed& is) {
    const auto one = [&](const Placed& older, const Placed& newer) {
        const bool moved = older.path != newer.path && !S_ISDIR(newer.found.type);
        return add_both(moved ? ChangeKind::kRenamed : ChangeKind::kModified, older, newer);
    };
    const std::size_t begin = result_.list.size();
    TRY(one(was, is));
    std::set<std::string> whole;  // directories that came or went as one
    const auto is_in_one = [&](std::string path) {
        while (!path.empty() && !whole.contains(path))
            path.resize(path.find('/') == std::string::npos ? 0 : path.rfind('/'));
        return !path.empty();
    };
    for (const auto& [path, older] : merging.older) {
        const auto newer = merging.newer.find(path);
        const bool both = newer != merging.newer.end() &&
                          (newer->second.found.type & S_IFMT) == (older.found.type & S_IFMT);
        if (both) TRY(one(older, newer->second));
        if (both || is_in_one(path)) continue;
        TRY(add_one(ChangeKind::kDeleted, older_, older));
        if (S_ISDIR(older.found.type)) whole.insert(path);
    }
    whole.clear();
    for (const auto& [path, newer] : merging.newer) {
        const auto older = merging.older.find(path);
        const bool both = older != merging.older.end() &&
                          (older->second.found.type & S_IFMT) == (newer.found.type & S_IFMT);
        if (both || is_in_one(path)) continue;
        TRY(add_one(ChangeKind::kCreated, newer_, newer));
        if (S_ISDIR(newer.found.type)) whole.insert(path);
    }
    // Who replaced the directory made what is in it.
    Change by;
    book(by, &is.at, is.found.key);
    for (std::size_t i = begin; i < result_.list.size(); ++i) {
        if (result_.list[i].change.origins.empty()) result_.list[i].change.origins = by.origins;
    }
    return {};
}

bool Comparison::are_same_indexes(const Placed& was, const Placed& is) {
    if (!S_ISREG(was.found.type) || !S_ISREG(is.found.type)) return false;
    if (!is_git_index(was.path) || !is_git_index(is.path)) return false;
    const auto bytes_of = [](View& view, const Located& found) -> std::optional<std::string> {
        const auto size = view.size(found);
        if (!size || *size > kMaxGitIndex) return std::nullopt;
        const auto content = view.content(found);
        if (!content) return std::nullopt;
        auto bytes = content->read_all();
        return bytes ? std::optional(*std::move(bytes)) : std::nullopt;
    };
    const auto one = bytes_of(older_, was.found);
    const auto two = bytes_of(newer_, is.found);
    return one && two && same_git_entries(*one, *two);
}

MovedAlong::MovedAlong(View& newer, const Differences& differences)
    : newer_(newer), differences_(differences) {
    for (const Difference& difference : differences.list) {
        if (!difference.newer) continue;
        if (difference.change.kind == ChangeKind::kModified ||
            difference.change.kind == ChangeKind::kAttributes)
            changed_.insert(difference.newer->key);
        else
            (difference.older ? renamed_ : made_).insert(difference.change.path);
    }
}

Result<> MovedAlong::each(const Difference& renamed,
                          const std::function<bool(const Walked&, bool by_itself)>& visit) {
    bool go_on = true;
    return newer_.walk(*renamed.newer, [&](const Walked& walked) {
        if (!go_on || differences_.moved.contains(walked.at)) return false;
        const std::string path = join_path(renamed.change.path, walked.path);
        if (made_.contains(path)) return false;
        if (S_ISDIR(walked.found.type)) return true;
        const bool by_itself = changed_.contains(walked.found.key) || renamed_.contains(path);
        if (!is_lock(walked.found, path)) go_on = visit(walked, by_itself);
        return true;
    });
}

}  // namespace unwrite::overlay
