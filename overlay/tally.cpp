#include "overlay/tally.h"

#include <algorithm>
#include <utility>

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
    if (!follow(capture_.take_touched())) {
        TRY(count_all());
        state_->known = true;
    }
    return state_->files;
}

/// Whether the number is known still, after what was touched was compared again.
bool Tally::follow(const Capture::Touched& touched) {
    if (state_->known && !touched.empty()) {
        state_->known = false;
        const bool apart = !touched.all && !state_->entangled;
        state_->known = apart && count_again(touched).ok() && !state_->entangled;
    }
    return state_->known;
}

// To compare much of it again is for who asks next, and perhaps nobody does.
void Tally::expect(std::uint64_t files) {
    if (!state_->known) return;
    const Capture::Touched touched = capture_.take_touched();
    const std::size_t count = touched.names.size() + touched.objects.size();
    const bool much = count >= kMuch && count > files / 2;
    if (much || (follow(touched) && state_->files != files)) state_->known = false;
}

Leftovers Tally::forget() {
    if (state_->intervals.empty()) return nullptr;
    return std::exchange(state_, std::make_shared<State>(journal_.checksums()));
}

void Tally::sealed(journal::DeltaNumber opened) {
    if (state_->known) add_interval(opened);
}

void Tally::add_interval(journal::DeltaNumber number) {
    Interval interval;
    interval.layer = std::make_shared<Layer>();
    interval.layer->number = number;
    interval.follower = std::make_unique<journal::DeltaFollower>(journal_.state_dir().deltas(),
                                                                 number, interval.layer->delta);
    state_->stack->add(interval.layer);
    state_->intervals.push_back(std::move(interval));
}

// The newest is the open one: more will come.
Result<> Tally::read_on() {
    // What is compressed meanwhile gives its space back only when nobody has it open.
    state_->pool->close_outdated();
    for (auto interval = state_->intervals.rbegin(); interval != state_->intervals.rend();
         ++interval) {
        if (!interval->follower) break;
        Layer& layer = *interval->layer;
        TRY_ASSIGN(const auto added, interval->follower->read_on());
        layer.index(added);
        if (!layer.data && !layer.delta.objects.empty()) {
            TRY_ASSIGN(layer.data, journal::DeltaData::find(journal_.state_dir().deltas(),
                                                            layer.number, state_->pool));
        }
        if (interval != state_->intervals.rbegin()) interval->follower.reset();
    }
    if (state_->stack->size() > 0) state_->stack->settle(state_->stack->size() - 1);
    return {};
}

Way Tally::layers() const {
    return {state_->stack, 0, state_->stack->size()};
}

Result<> Tally::count_all() {
    History history;
    {
        const std::lock_guard lock(journal_.store_mutex());
        TRY_ASSIGN(history, History::read(journal_.store()));
    }
    TRY_ASSIGN(const auto crossings, history.path_to(history.head.root));
    state_ = std::make_shared<State>(journal_.checksums());
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
    scope.moved = &state_->moved;
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
        const auto known = state_->names.find(at);
        const bool was_there = known != state_->names.end() && known->second.older;
        if (was_there) add_holder(older, state_->went, at, reached);
        add_holder(newer, state_->came, at, reached);
        if (known == state_->names.end()) return;
        for (const auto& side : {known->second.older, known->second.newer}) {
            if (side) reached.push_back(*side);
        }
    };
    for (const NameKey& at : touched.names) {
        add_name(at);
        if (!older.layers().names(at)) continue;
        for (View* view : {&older, &newer}) {
            TRY_ASSIGN(const auto key, key_at(*view, at));
            if (key) reached.push_back(*key);
        }
    }
    while (!reached.empty()) {
        const ObjectKey key = reached.back();
        reached.pop_back();
        if (!scope.objects.insert(key).second) continue;
        if (const auto names = state_->names_of.find(key); names != state_->names_of.end()) {
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
        const auto parts = state_->parts.find(key);
        if (parts == state_->parts.end()) continue;
        for (const Part& part : parts->second) {
            state_->files -= part.files;
            if (!part.path.empty()) (part.came ? state_->came : state_->went).erase(part.path);
        }
        state_->parts.erase(parts);
    }
    for (const NameKey& at : scope.names) {
        state_->moved.erase(at);
        const auto known = state_->names.find(at);
        if (known == state_->names.end()) continue;
        for (const auto& side : {known->second.older, known->second.newer}) {
            if (!side) continue;
            const auto names = state_->names_of.find(*side);
            names->second.erase(at);
            if (names->second.empty()) state_->names_of.erase(names);
        }
        state_->names.erase(known);
    }
}

void Tally::put_in(const Differences& differences) {
    for (const Difference& difference : differences.list) {
        Part part;
        part.files = files_in(difference.change);
        if (is_whole_directory(difference.change)) {
            part.path = difference.change.path;
            part.came = difference.change.kind == ChangeKind::kCreated;
            (part.came ? state_->came : state_->went)
                .insert_or_assign(part.path, subject_of(difference));
        }
        state_->files += part.files;
        state_->parts[subject_of(difference)].push_back(std::move(part));
    }
    for (const ChangedName& changed : differences.changed) {
        for (const auto& side : {changed.older, changed.newer}) {
            if (side) state_->names_of[*side].insert(changed.at);
        }
        state_->names.insert_or_assign(changed.at, changed);
    }
    state_->entangled = state_->entangled || differences.entangled;
    state_->moved.insert(differences.moved.begin(), differences.moved.end());
}

}  // namespace unwrite::overlay
