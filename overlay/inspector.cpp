#include "overlay/inspector.h"

#include <algorithm>

#include "base/progress.h"
#include "overlay/line_diff.h"

namespace unwrite::overlay {

namespace {

constexpr std::uint64_t kMostShown = 20'000;
constexpr std::uint64_t kMostText = 256ULL * 1024 * 1024;
constexpr std::size_t kFewSteps = 8;

// One side of a file for the diff; too large or unreadable: without bytes.
DiffSide side_of(View& view, const std::optional<Located>& found, const std::string& path,
                 bool read) {
    DiffSide side;
    if (!found) return side;
    side.as.path = path;
    if (S_ISLNK(found->type)) {
        side.as.mode = git_mode(S_IFLNK);
        if (!read) return side;
        if (auto target = view.link_target(*found)) side.bytes = *std::move(target);
        return side;
    }
    if (!S_ISREG(found->type)) return side;
    const auto attributes = view.attributes(*found);
    side.as.mode = git_mode(attributes ? attributes->mode : S_IFREG | 0644U);
    if (!read) return side;
    const auto size = view.size(*found);
    if (!size || *size > kMaxTextSize) return side;
    const auto content = view.content(*found);
    if (!content) return side;
    if (auto bytes = content->read_all()) side.bytes = *std::move(bytes);
    return side;
}

Result<LineDiff> compare(View& older, View& newer, const FilePair& pair, bool with_text,
                         bool may_read) {
    const bool same = pair.older && pair.newer && !pair.change.content;
    const bool read = may_read && !same;
    const DiffSide was = side_of(older, pair.older, pair.older_path, read);
    const DiffSide is = side_of(newer, pair.newer, pair.change.path, read);
    return line_diff(was, is, same, with_text);
}

void tell_ignored(FilePair& pair, Ignored& ignored) {
    if (!S_ISDIR(pair.change.type)) pair.change.ignored = ignored.covers(pair.change.path) ? 1 : 0;
}

bool is_wanted(const Change& change, const std::vector<std::string>& paths) {
    if (paths.empty()) return true;
    return std::any_of(paths.begin(), paths.end(),
                       [&](const std::string& path) { return concerns(change, path); });
}

// "./a/b/" as "a/b"; "." as "".
std::string plain_path(const std::string& path) {
    std::string plain;
    std::size_t begin = 0;
    while (begin < path.size()) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const std::string part = path.substr(begin, end - begin);
        if (!part.empty() && part != ".") plain = join_path(plain, part);
        begin = end + 1;
    }
    return plain;
}

// A changed file is listed under one of its names; whoever asks by another means it, too.
Result<std::vector<Change>> changes_at(View& older, View& newer,
                                       const std::optional<std::string>& path) {
    if (!path) return changes_between(older, newer);
    TRY_ASSIGN(Differences differences, differences_between(older, newer));
    std::set<ObjectKey> asked;
    for (View* view : {&older, &newer}) {
        TRY_ASSIGN(const auto found, view->find(*path));
        if (found && !S_ISDIR(found->type)) asked.insert(found->key);
    }
    const auto is_asked = [&](const std::optional<Located>& side) {
        return side && asked.contains(side->key);
    };
    std::vector<Change> changes;
    for (Difference& difference : differences.list) {
        if (concerns(difference.change, *path) || is_asked(difference.older) ||
            is_asked(difference.newer))
            changes.push_back(std::move(difference.change));
    }
    return changes;
}

}  // namespace

// What one call works with: the history and the layers as they were when it began.
struct Inspector::Desk {
    History history;
    Layers layers;
    std::shared_ptr<LiveNamesOf> live;

    View live_view() const { return View(live, {}); }
    Result<View> view(NodeNumber node) {
        const auto known = trunk.find(node);
        if (known != trunk.end()) return View(live, known->second);
        return View::of_node(live, layers, history, node);
    }
    /// The ways to the states above the live one are parts of one: for who looks at all of them.
    Result<> read_trunk();
    std::unordered_map<NodeNumber, Way> trunk{};
};

Result<> Inspector::Desk::read_trunk() {
    TRY_ASSIGN(const auto path, history.path_to(history.trunk().front()));
    TRY_ASSIGN(const auto crossed, layers.read(path));
    const auto stack = std::make_shared<LayerStack>(crossed);
    live->expect(Way(stack, 0, crossed.size()));
    auto next = crossed.begin();
    for (const Crossing& crossing : path) {
        if (next != crossed.end() && (*next)->number == crossing.delta) ++next;
        const auto left = static_cast<std::size_t>(crossed.end() - next);
        trunk.insert_or_assign(crossing.reached, Way(stack, left, crossed.size()));
    }
    return {};
}

Result<std::unique_ptr<Inspector::Desk>> Inspector::open_desk() {
    auto desk =
        std::make_unique<Desk>(Desk{{}, Layers(journal_), std::make_shared<LiveNamesOf>(locator_)});
    const std::lock_guard lock(journal_.store_mutex());
    TRY_ASSIGN(desk->history, History::read(journal_.store()));
    return desk;
}

// As diff() counts them.
Result<> Inspector::count_lines(View& older, View& newer, const Differences& differences,
                                Status& status) {
    Ignored ignored(newer);
    TRY_ASSIGN(auto pairs, file_pairs(older, newer, differences, kMostShown, &ignored));
    Progress progress("comparing", pairs.size());
    for (FilePair& pair : pairs) {
        progress.step();
        tell_ignored(pair, ignored);
        const std::uint64_t left_out = lines_left_out(pair.change);
        status.lines_not_counted += left_out;
        if (left_out > 0) continue;
        TRY_ASSIGN(const LineDiff diff, compare(older, newer, pair, false, true));
        status.lines.added += diff.lines.added;
        status.lines.removed += diff.lines.removed;
    }
    return {};
}

Result<Status> Inspector::status(const std::string& since, bool count) {
    TRY_ASSIGN(const auto desk, open_desk());
    const History& history = desk->history;
    Status status;
    status.root = history.head.root;
    status.current = history.head.current;
    const NodeNumber checkpoint = history.newest_checkpoint(/*named=*/true);
    if (checkpoint != 0) status.checkpoint = history.nodes.at(checkpoint).name;
    TRY_ASSIGN(const NodeNumber from, history.resolve(since, status.root));
    status.tags = history.nodes.at(from).tags;
    TRY_ASSIGN(View older, desk->view(from));
    View newer = desk->live_view();
    TRY_ASSIGN(Differences differences, differences_between(older, newer));
    if (count) {
        TRY(count_lines(older, newer, differences, status));
    }
    for (Difference& difference : differences.list)
        status.changes.push_back(std::move(difference.change));
    status.task_open = !status.changes.empty();
    if (from != status.root) {
        TRY_ASSIGN(View root, desk->view(status.root));
        TRY_ASSIGN(const auto changes, changes_between(root, newer));
        status.task_open = !changes.empty();
    }
    return status;
}

bool Inspector::is_taken(const StepFilter& filter, const std::set<OriginNumber>& origins) const {
    if (filter.takes_all()) return true;
    if (origins.empty()) return filter.takes(0);
    return std::any_of(origins.begin(), origins.end(), [&](OriginNumber origin) {
        return filter.takes(origins_.run_of_origin(origin));
    });
}

bool Inspector::is_taken(const StepFilter& filter, const Change& change) const {
    return filter.takes_all() ||
           is_taken(filter, std::set<OriginNumber>(change.origins.begin(), change.origins.end()));
}

// A directory that came is one change, its maker's; what another made or changed in it has a row of
// its own.
Result<> Inspector::add_in_made_directories(Desk& desk, const Step& step, View& newer,
                                            const std::vector<Change>& all,
                                            std::vector<Change>& taken) {
    std::map<std::string, Change> rows;
    std::map<std::string, std::set<OriginNumber>> found;  // by whom
    const auto add = [&](const std::string& path, ChangeKind kind, mode_t type,
                         const std::set<OriginNumber>& by) {
        const auto is_inside = [&](const Change& change) {
            return change.kind == ChangeKind::kCreated && is_whole_directory(change) &&
                   path.starts_with(change.path + "/") && !is_taken(step.filter, change);
        };
        if (std::none_of(all.begin(), all.end(), is_inside)) return;
        const auto [row, is_new] = rows.try_emplace(path);
        if (is_new || kind == ChangeKind::kCreated) row->second.kind = kind;
        row->second.path = path;
        row->second.type = type;
        row->second.content = true;
        found[path].insert(by.begin(), by.end());
    };
    TRY_ASSIGN(const auto layers, layers_of(desk, step));
    std::map<ObjectKey, std::pair<std::string, mode_t>> saved_anew;  // by what was there before
    for (const LayerPtr& layer : layers) {
        for (const auto& [at, state] : layer->delta.names) {
            const auto path = newer.path(at);
            const auto& was = state.image.object;
            const bool replaced = was && S_ISREG(state.image.type) && !newer.path(*was);
            const bool is_its = is_taken(step.filter, state.origins);
            if (!path || (!is_its && !replaced)) continue;
            TRY_ASSIGN(const auto there, newer.at(at));
            if (!there) continue;
            if (is_its) add(*path, ChangeKind::kCreated, there->type, state.origins);
            if (replaced) saved_anew.try_emplace(*was, *path, there->type);
        }
        for (const auto& [key, image] : layer->delta.objects) {
            if (!is_taken(step.filter, image.origins)) continue;
            if (const auto& path = newer.path(key)) {
                const std::string known = *path;
                TRY_ASSIGN(const auto there, newer.object(key));
                // The times of a directory change with every name in it.
                if (there && !S_ISDIR(there->type))
                    add(known, ChangeKind::kModified, there->type, image.origins);
            } else if (const auto now = saved_anew.find(key); now != saved_anew.end()) {
                const auto& [name, type] = now->second;
                add(name, ChangeKind::kModified, type, image.origins);
            }
        }
    }
    for (auto& [path, change] : rows) {
        change.origins.assign(found[path].begin(), found[path].end());
        taken.push_back(std::move(change));
    }
    return {};
}

// What was recorded from the beginning of the step to its end.
Result<std::vector<LayerPtr>> Inspector::layers_of(Desk& desk, const Step& step) {
    const NodeNumber tip = step.node == 0 ? desk.history.head.current : step.node;
    std::vector<LayerPtr> layers;
    if (step.node == 0) {
        TRY_ASSIGN(auto open, desk.layers.read(desk.history.head.open_delta));
        layers.push_back(std::move(open));
    }
    for (const NodeNumber edge : edges_of(desk.history, step, tip)) {
        TRY_ASSIGN(auto layer, desk.layers.read(desk.history.nodes.at(edge).delta));
        layers.push_back(std::move(layer));
    }
    return layers;
}

Result<std::vector<Change>> Inspector::changes_of(Desk& desk, const Step& step,
                                                  const std::optional<std::string>& path) {
    if (!desk.history.nodes.contains(step.since)) return std::vector<Change>();
    TRY_ASSIGN(View older, desk.view(step.since));
    View newer = desk.live_view();
    if (step.node != 0) {
        TRY_ASSIGN(newer, desk.view(step.node));
    }
    TRY_ASSIGN(auto changes, changes_at(older, newer, path));
    if (step.filter.takes_all()) return changes;
    std::vector<Change> taken;
    for (const Change& change : changes) {
        if (is_taken(step.filter, change)) taken.push_back(change);
    }
    TRY(add_in_made_directories(desk, step, newer, changes, taken));
    if (path) std::erase_if(taken, [&](const Change& change) { return !concerns(change, *path); });
    return taken;
}

Inspector::StepReader::StepReader(Inspector& inspector) : inspector_(inspector) {}

Inspector::StepReader::~StepReader() = default;

Result<std::vector<Change>> Inspector::StepReader::changes_of(const Step& step) {
    if (!desk_) {
        TRY_ASSIGN(desk_, inspector_.open_desk());
    }
    // Each state by itself is a walk down to it; for so many, all of the trunk is less.
    if (++asked_ == kFewSteps) TRY(desk_->read_trunk());
    return inspector_.changes_of(*desk_, step, std::nullopt);
}

Result<std::vector<Change>> Inspector::changes_of(const Step& step) {
    return StepReader(*this).changes_of(step);
}

// The steps of the trunk as undo counts them; of other nodes each by itself.
Result<Log> Inspector::log(const std::string& path, bool all, bool changes,
                           const std::vector<Step>& open) {
    TRY_ASSIGN(const auto desk, open_desk());
    const History& history = desk->history;
    const auto wanted = path.empty() ? std::nullopt : std::optional(plain_path(path));
    Log log;
    log.current = history.head.current;
    log.root = history.head.root;
    log.origins = origins_.all();
    const auto trunk = history.trunk();
    const std::set<NodeNumber> on_trunk(trunk.begin(), trunk.end());
    std::map<NodeNumber, Step> steps;
    for (Step& step : steps_of(history, history.head.current, 0, origins_.active_runs()))
        steps.emplace(step.node, std::move(step));
    if (changes || wanted) TRY(desk->read_trunk());
    // Below a commit or a task that kept them, older ones are another task's.
    const NodeNumber top = history.is_on_trunk(log.root) ? log.root : 0;
    std::set<NodeNumber> running;
    for (const Step& step : open) {
        std::vector<Change> made;
        if (changes || wanted) {
            TRY_ASSIGN(made, changes_of(*desk, step, wanted));
            if (made.empty()) continue;
            if (!changes) made.clear();
        }
        if (step.run == 0) {
            log.open_changes = std::move(made);
        } else if (const Node* const mark = history.nodes.find(step.run)) {
            LogEntry entry;
            entry.node = *mark;
            entry.on_trunk = entry.running = true;
            entry.since = step.since;
            entry.changes = std::move(made);
            log.entries.push_back(std::move(entry));
            running.insert(step.run);
        }
    }
    for (auto row = history.nodes.rbegin(); row != history.nodes.rend(); ++row) {
        LogEntry entry;
        entry.node = *row;
        entry.on_trunk = on_trunk.contains(row->number);
        const auto listed = steps.find(row->number);
        std::optional<Step> step;
        if (listed != steps.end()) step = listed->second;
        if (!entry.on_trunk) step = step_of(history, row->number);
        // A hidden node that somebody went back to is a step if it changed anything.
        if (step && is_hidden(row->kind)) {
            TRY_ASSIGN(const auto made, changes_of(*desk, *step, std::nullopt));
            if (made.empty()) step.reset();
        }
        entry.is_step = step || row->parent == 0;
        if (!all && (!entry.on_trunk || !entry.is_step || row->number < top)) continue;
        if (running.contains(row->number)) continue;
        if (step) {
            entry.since = step->since;
            entry.nested = step->nested;
            entry.undone = step->undone;
            if (changes || wanted) {
                TRY_ASSIGN(entry.changes, changes_of(*desk, *step, wanted));
            }
        }
        if (wanted && entry.changes.empty()) continue;
        if (!changes) entry.changes.clear();
        log.entries.push_back(std::move(entry));
    }
    return log;
}

Result<NodeNumber> Inspector::marked() {
    TRY_ASSIGN(const auto desk, open_desk());
    const History& history = desk->history;
    const NodeNumber root = history.head.root;
    const NodeNumber top = history.is_on_trunk(root) ? root : 0;
    const auto active = origins_.active_runs();
    for (const Step& step : steps_of(history, history.head.current, 0, active)) {
        if (step.node < top) return history.head.current;
        if (active.contains(step.node)) continue;
        const Node* const node = history.nodes.find(step.node);
        if (node == nullptr || !is_hidden(node->kind)) return step.node;
        // A hidden node that somebody went back to is a step if it changed anything.
        TRY_ASSIGN(const auto made, changes_of(*desk, step, std::nullopt));
        if (!made.empty()) return step.node;
    }
    const auto trunk = history.trunk();
    return trunk.empty() || trunk.front() < top ? history.head.current : trunk.front();
}

Result<std::vector<FileDiff>> Inspector::diff(const std::string& from, const std::string& to,
                                              const std::vector<std::string>& paths, bool text) {
    TRY_ASSIGN(const auto desk, open_desk());
    TRY_ASSIGN(const NodeNumber from_node, desk->history.resolve(from, desk->history.head.root));
    TRY_ASSIGN(View older, desk->view(from_node));
    View newer = desk->live_view();
    StepFilter filter;
    if (!to.empty()) {
        TRY_ASSIGN(const NodeNumber to_node, desk->history.resolve(to, 0));
        const auto step = from == to + "^" ? step_of(desk->history, to_node) : std::nullopt;
        if (step) filter = step->filter;
        // What ends no step is a state, and compared with now.
        if (step || from != to + "^") {
            TRY_ASSIGN(newer, desk->view(to_node));
        }
    }
    std::vector<std::string> wanted(paths.size());
    std::transform(paths.begin(), paths.end(), wanted.begin(), plain_path);
    TRY_ASSIGN(Differences differences, differences_between(older, newer));
    std::erase_if(differences.list, [&](const Difference& difference) {
        return !is_wanted(difference.change, wanted) || !is_taken(filter, difference.change);
    });
    Ignored ignored(newer);
    // Who asks for a path, or for the text, sees what is in it.
    const bool leaves_whole = !text && wanted.empty();
    TRY_ASSIGN(auto pairs, file_pairs(older, newer, differences, kMostShown,
                                      leaves_whole ? &ignored : nullptr));
    std::vector<FileDiff> diffs;
    std::uint64_t total = 0;
    Progress progress("comparing", pairs.size());
    for (FilePair& pair : pairs) {
        progress.step();
        if (!is_wanted(pair.change, wanted) || !is_taken(filter, pair.change)) continue;
        tell_ignored(pair, ignored);
        if (!wanted.empty() && !text && !S_ISDIR(pair.change.type)) pair.change.ignored = 0;
        const bool counts = text || !leaves_whole || lines_left_out(pair.change) == 0;
        LineDiff lines;
        if (counts) {
            TRY_ASSIGN(lines, compare(older, newer, pair, text, total < kMostText));
        }
        total += lines.text.size();
        if (!text) lines.text.clear();
        diffs.push_back({std::move(pair.change), lines.binary, std::move(lines.text), lines.lines});
    }
    return diffs;
}

Result<std::vector<Change>> Inspector::changes_to(NodeNumber target, Detail detail) {
    TRY_ASSIGN(const auto desk, open_desk());
    View older = desk->live_view();
    TRY_ASSIGN(View newer, desk->view(target));
    return changes_between(older, newer, detail);
}

}  // namespace unwrite::overlay
