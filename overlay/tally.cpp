#include "overlay/tally.h"

#include <algorithm>

namespace unwrite::overlay {

namespace {

Result<std::optional<ObjectKey>> key_at(View& view, const NameKey& at) {
    if (!view.path(at)) return std::optional<ObjectKey>();
    TRY_ASSIGN(const auto found, view.at(at));
    return found ? std::optional(found->key) : std::nullopt;
}

const ObjectKey& subject_of(const Difference& difference) {
    return difference.older ? difference.older->key : difference.newer->key;
}

}  // namespace

Result<std::uint64_t> Tally::files() {
    const Capture::Touched touched = capture_.take_touched();
    if (known_ && touched.empty()) return files_;
    const bool some = known_ && !touched.all;
    known_ = false;
    if (!some || !count_again(touched)) TRY(count_all());
    known_ = true;
    return files_;
}

void Tally::expect(std::uint64_t files) {
    if (!known_) return;
    const auto own = this->files();
    if (!own || *own != files) forget();
}

// At once, and not when the next one asks: much takes long to drop, too.
void Tally::forget() {
    known_ = false;
    files_ = 0;
    intervals_.clear();
    parts_.clear();
    came_.clear();
    went_.clear();
    names_.clear();
    names_of_.clear();
    moved_.clear();
}

void Tally::sealed(journal::DeltaNumber opened) {
    if (known_) add_interval(opened);
}

void Tally::add_interval(journal::DeltaNumber number) {
    Interval interval;
    interval.layer = std::make_shared<Layer>();
    interval.layer->number = number;
    interval.follower = std::make_unique<journal::DeltaFollower>(journal_.state_dir().deltas(),
                                                                 number, interval.layer->delta);
    intervals_.push_back(std::move(interval));
}

// What is compressed meanwhile gives its space back only when nobody has it open.
Result<> Tally::let_go() {
    for (Interval& interval : intervals_) {
        Layer& layer = *interval.layer;
        if (!layer.data.is_outdated()) continue;
        TRY_ASSIGN(auto opened,
                   journal::open_delta_data(journal_.state_dir().deltas(), layer.number));
        if (opened) layer.data = std::move(opened);
    }
    return {};
}

// The newest is the open one: more will come.
Result<> Tally::read_on() {
    TRY(let_go());
    for (auto interval = intervals_.rbegin(); interval != intervals_.rend(); ++interval) {
        if (!interval->follower) break;
        Layer& layer = *interval->layer;
        TRY_ASSIGN(const auto added, interval->follower->read_on());
        layer.index(added);
        if (!layer.data && !layer.delta.objects.empty()) {
            TRY_ASSIGN(layer.data,
                       journal::open_delta_data(journal_.state_dir().deltas(), layer.number));
        }
        if (interval != intervals_.rbegin()) interval->follower.reset();
    }
    return {};
}

std::vector<LayerPtr> Tally::layers() const {
    std::vector<LayerPtr> layers;
    for (auto interval = intervals_.rbegin(); interval != intervals_.rend(); ++interval) {
        if (!interval->layer->delta.empty()) layers.push_back(interval->layer);
    }
    return layers;
}

Result<> Tally::count_all() {
    History history;
    {
        const std::lock_guard lock(journal_.store_mutex());
        TRY_ASSIGN(history, History::read(journal_.store()));
    }
    TRY_ASSIGN(const auto crossings, history.path_to(history.head.root));
    forget();
    for (auto crossing = crossings.rbegin(); crossing != crossings.rend(); ++crossing) {
        if (crossing->delta != 0) add_interval(crossing->delta);
    }
    TRY(read_on());
    const auto live = std::make_shared<LiveNamesOf>(locator_);
    View older(live, layers());
    View newer(live, {});
    TRY_ASSIGN(const Differences all, differences_between(older, newer));
    put_in(all);
    return {};
}

Result<> Tally::count_again(const Capture::Touched& touched) {
    TRY(read_on());
    const auto live = std::make_shared<LiveNamesOf>(locator_);
    View older(live, layers());
    View newer(live, {});
    Scope scope;
    TRY(gather(older, newer, touched, scope));
    take_out(scope);
    scope.moved = &moved_;
    TRY_ASSIGN(const Differences some, differences_within(older, newer, scope));
    put_in(some);
    return {};
}

// A name leads to what stood and stands there, an object to all its changed names, and both to the
// directory that came or went with them, which counts what it holds.
Result<> Tally::gather(View& older, View& newer, const Capture::Touched& touched, Scope& scope) {
    std::vector<ObjectKey> reached(touched.objects.begin(), touched.objects.end());
    const auto add_name = [&](const NameKey& at) {
        if (!scope.names.insert(at).second) return;
        const auto known = names_.find(at);
        const bool was_there = known != names_.end() && known->second.older;
        if (was_there) add_holder(older, went_, at, reached);
        add_holder(newer, came_, at, reached);
        if (known == names_.end()) return;
        for (const auto& side : {known->second.older, known->second.newer}) {
            if (side) reached.push_back(*side);
        }
    };
    for (const NameKey& at : touched.names) {
        add_name(at);
        const bool mentioned =
            std::any_of(older.layers().begin(), older.layers().end(),
                        [&](const LayerPtr& layer) { return layer->name(at) != nullptr; });
        if (!mentioned) continue;
        for (View* view : {&older, &newer}) {
            TRY_ASSIGN(const auto key, key_at(*view, at));
            if (key) reached.push_back(*key);
        }
    }
    while (!reached.empty()) {
        const ObjectKey key = reached.back();
        reached.pop_back();
        if (!scope.objects.insert(key).second) continue;
        if (const auto names = names_of_.find(key); names != names_of_.end()) {
            for (const NameKey& at : names->second)
                add_name(at);
        }
    }
    return {};
}

void Tally::add_holder(View& view, const Directories& directories, const NameKey& at,
                       std::vector<ObjectKey>& reached) const {
    if (directories.empty()) return;
    const auto& parent = view.path(at.parent);
    if (!parent) return;
    for (std::string path = *parent; !path.empty();) {
        if (const auto found = directories.find(path); found != directories.end())
            reached.push_back(found->second);
        const std::size_t slash = path.rfind('/');
        path.resize(slash == std::string::npos ? 0 : slash);
    }
}

void Tally::take_out(const Scope& scope) {
    for (const ObjectKey& key : scope.objects) {
        const auto parts = parts_.find(key);
        if (parts == parts_.end()) continue;
        for (const Part& part : parts->second) {
            files_ -= part.files;
            if (!part.path.empty()) (part.came ? came_ : went_).erase(part.path);
        }
        parts_.erase(parts);
    }
    for (const NameKey& at : scope.names) {
        moved_.erase(at);
        const auto known = names_.find(at);
        if (known == names_.end()) continue;
        for (const auto& side : {known->second.older, known->second.newer}) {
            if (!side) continue;
            const auto names = names_of_.find(*side);
            names->second.erase(at);
            if (names->second.empty()) names_of_.erase(names);
        }
        names_.erase(known);
    }
}

void Tally::put_in(const Differences& differences) {
    for (const Difference& difference : differences.list) {
        Part part;
        part.files = files_in(difference.change);
        if (is_whole_directory(difference.change)) {
            part.path = difference.change.path;
            part.came = difference.change.kind == ChangeKind::kCreated;
            (part.came ? came_ : went_).insert_or_assign(part.path, subject_of(difference));
        }
        files_ += part.files;
        parts_[subject_of(difference)].push_back(std::move(part));
    }
    for (const ChangedName& changed : differences.changed) {
        for (const auto& side : {changed.older, changed.newer}) {
            if (side) names_of_[*side].insert(changed.at);
        }
        names_.insert_or_assign(changed.at, changed);
    }
    moved_.insert(differences.moved.begin(), differences.moved.end());
}

}  // namespace unwrite::overlay
