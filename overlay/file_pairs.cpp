#include "overlay/file_pairs.h"

#include <algorithm>

#include "overlay/attributes.h"
#include "overlay/git_index.h"

namespace unwrite::overlay {

namespace {

class Expansion {
 public:
    Expansion(View& older, View& newer, const Differences& differences, std::uint64_t most_below,
              Ignored* ignored)
        : older_(older),
          newer_(newer),
          differences_(differences),
          most_below_(most_below),
          ignored_(ignored),
          along_(newer, differences) {}

    Result<std::vector<FilePair>> run() {
        for (const Difference& difference : differences_.list)
            TRY(expand(difference));
        std::stable_sort(pairs_.begin(), pairs_.end(), [](const FilePair& a, const FilePair& b) {
            if (a.change.path != b.change.path) return a.change.path < b.change.path;
            return a.change.kind == ChangeKind::kDeleted && b.change.kind != ChangeKind::kDeleted;
        });
        return join_made_again();
    }

 private:
    Result<> expand(const Difference& difference);
    Result<std::vector<FilePair>> below_one_side(const Difference& difference);
    Result<std::uint64_t> files_below(View& view, const Located& directory);
    Result<std::vector<FilePair>> below_renamed(const Difference& difference);
    Result<std::vector<FilePair>> join_made_again();
    Result<std::optional<FilePair>> joined(FilePair& was, FilePair& is);
    bool is_left_whole(const std::string& path) const {
        return ignored_ != nullptr && ignored_->covers_all_in(path);
    }

    View& older_;
    View& newer_;
    const Differences& differences_;
    const std::uint64_t most_below_;
    Ignored* const ignored_;  // null: what git ignores is taken apart, too
    MovedAlong along_;
    std::vector<FilePair> pairs_;
};

Result<> Expansion::expand(const Difference& difference) {
    const Change& change = difference.change;
    std::vector<FilePair> files;
    const std::uint64_t left_whole = ignored_ != nullptr ? change.ignored : 0;
    const bool is_small = change.below <= most_below_ + left_whole;
    if (S_ISDIR(change.type) && is_small && !is_left_whole(change.path)) {
        if (change.kind == ChangeKind::kCreated || change.kind == ChangeKind::kDeleted) {
            TRY_ASSIGN(files, below_one_side(difference));
        } else if (change.kind == ChangeKind::kRenamed) {
            TRY_ASSIGN(files, below_renamed(difference));
        }
    }
    if (files.empty()) {
        pairs_.push_back({change, difference.older, difference.newer, difference.older_path});
    } else {
        std::move(files.begin(), files.end(), std::back_inserter(pairs_));
    }
    return {};
}

Result<std::uint64_t> Expansion::files_below(View& view, const Located& directory) {
    std::uint64_t files = 0;
    TRY(view.walk(directory, [&](const Walked& walked) {
        if (differences_.moved.contains(walked.at)) return false;
        if (!S_ISDIR(walked.found.type)) ++files;
        return true;
    }));
    return files;
}

Result<std::vector<FilePair>> Expansion::below_one_side(const Difference& difference) {
    const bool created = difference.change.kind == ChangeKind::kCreated;
    View& view = created ? newer_ : older_;
    std::vector<FilePair> files;
    TRY(view.walk(created ? *difference.newer : *difference.older, [&](const Walked& walked) {
        if (differences_.moved.contains(walked.at)) return false;
        FilePair pair;
        pair.change.kind = difference.change.kind;
        pair.change.path = join_path(difference.change.path, walked.path);
        pair.change.type = walked.found.type;
        pair.change.origins = difference.change.origins;
        const bool is_directory = S_ISDIR(walked.found.type);
        if (is_directory && !is_left_whole(pair.change.path)) return true;
        if (S_ISREG(walked.found.type)) {
            if (is_git_lock(pair.change.path)) return true;
            pair.change.bytes = view.size(walked.found).value_or(0);
        }
        if (is_directory) {
            pair.change.files = files_below(view, walked.found).value_or(0);
            pair.change.ignored = pair.change.below = pair.change.files;
            if (pair.change.files == 0) return false;
        }
        if (!created) pair.older_path = pair.change.path;
        (created ? pair.newer : pair.older) = walked.found;
        files.push_back(std::move(pair));
        return !is_directory;
    }));
    return files;
}

// What was made below it, moved there or changed has differences of its own. A file that was
// replaced by its like has none.
Result<std::vector<FilePair>> Expansion::below_renamed(const Difference& difference) {
    std::vector<FilePair> files;
    std::uint64_t seen = 0;
    TRY(along_.each(difference, [&](const Walked& walked, bool by_itself) {
        if (++seen > most_below_) return false;
        if (by_itself) return true;
        FilePair pair;
        pair.change.kind = ChangeKind::kRenamed;
        pair.change.path = join_path(difference.change.path, walked.path);
        pair.change.old_path = join_path(difference.change.old_path, walked.path);
        pair.change.type = walked.found.type;
        pair.change.origins = difference.change.origins;
        pair.older_path = pair.change.old_path;
        pair.older = walked.found;
        pair.newer = walked.found;
        files.push_back(std::move(pair));
        return true;
    }));
    if (seen > most_below_) files.clear();
    return files;
}

Result<std::optional<FilePair>> Expansion::joined(FilePair& was, FilePair& is) {
    FilePair pair = std::move(is);
    pair.older = was.older;
    pair.older_path = was.older_path;
    pair.change.kind = ChangeKind::kModified;
    auto differs = content_differs(older_, *pair.older, newer_, *pair.newer, {});
    pair.change.content = std::move(differs).value_or(true);
    const auto before = older_.attributes(*pair.older);
    const auto after = newer_.attributes(*pair.newer);
    pair.change.aspects = before && after ? different_aspects(*before, *after) : 0;
    pair.change.attributes = pair.change.aspects != 0;
    if (!pair.change.content && !pair.change.attributes) return std::optional<FilePair>();
    if (!pair.change.content) pair.change.kind = ChangeKind::kAttributes;
    pair.change.origins.insert(pair.change.origins.end(), was.change.origins.begin(),
                               was.change.origins.end());
    std::sort(pair.change.origins.begin(), pair.change.origins.end());
    pair.change.origins.erase(std::unique(pair.change.origins.begin(), pair.change.origins.end()),
                              pair.change.origins.end());
    return std::optional<FilePair>(std::move(pair));
}

Result<std::vector<FilePair>> Expansion::join_made_again() {
    std::vector<FilePair> all;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
        const bool has_next =
            i + 1 < pairs_.size() && pairs_[i + 1].change.path == pairs_[i].change.path;
        if (has_next && pairs_[i].change.kind == ChangeKind::kDeleted &&
            pairs_[i + 1].change.kind == ChangeKind::kCreated &&
            pairs_[i].change.type == pairs_[i + 1].change.type && !S_ISDIR(pairs_[i].change.type)) {
            TRY_ASSIGN(auto pair, joined(pairs_[i], pairs_[i + 1]));
            if (pair) all.push_back(*std::move(pair));
            ++i;
            continue;
        }
        all.push_back(std::move(pairs_[i]));
    }
    return all;
}

}  // namespace

Result<std::vector<FilePair>> file_pairs(View& older, View& newer, const Differences& differences,
                                         std::uint64_t most_below, Ignored* ignored) {
    return Expansion(older, newer, differences, most_below, ignored).run();
}

}  // namespace unwrite::overlay
