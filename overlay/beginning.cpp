#include "overlay/beginning.h"

#include <sys/stat.h>

#include "overlay/view.h"

namespace unwrite::overlay {

namespace {

constexpr std::size_t kMostKnown = 10'000;

}  // namespace

struct Beginning::State {
    explicit State(journal::Journal& journal)
        : layers(journal), pool(std::make_shared<journal::DeltaDataPool>(&journal.checksums())) {}
    unsigned generation = 0;
    Layers layers;
    std::shared_ptr<LayerStack> stack = std::make_shared<LayerStack>();
    std::shared_ptr<Layer> open{};  ///< of the open interval: more will come
    std::unique_ptr<journal::DeltaFollower> follower{};
    std::shared_ptr<journal::DeltaDataPool> pool;
    std::unordered_map<std::string, bool> known{};  ///< what was found; no more than kMostKnown
};

Beginning::Beginning(Locator& locator, journal::Journal& journal)
    : locator_(locator), journal_(journal) {}

Beginning::~Beginning() = default;

void Beginning::forget() {
    generation_.fetch_add(1);
    const std::lock_guard lock(mutex_);
    state_.reset();
}

Result<Beginning::State*> Beginning::state() {
    const unsigned generation = generation_.load();
    if (!state_ || state_->generation != generation) {
        state_.reset();
        auto made = std::make_unique<State>(journal_);
        made->generation = generation;
        History history;
        {
            const std::lock_guard lock(journal_.store_mutex());
            TRY_ASSIGN(history, History::read(journal_.store()));
        }
        TRY_ASSIGN(auto crossings, history.path_to(history.head.root));
        // The first is that of the open interval, which is followed.
        if (!crossings.empty() && crossings.front().edge == 0) crossings.erase(crossings.begin());
        TRY_ASSIGN(const auto crossed, made->layers.read(crossings));
        made->stack = std::make_shared<LayerStack>(crossed);
        made->open = std::make_shared<Layer>();
        made->open->number = history.head.open_delta;
        made->follower = std::make_unique<journal::DeltaFollower>(
            journal_.state_dir().deltas(), made->open->number, made->open->delta);
        made->stack->add(made->open);
        state_ = std::move(made);
    }
    state_->pool->close_outdated();
    TRY_ASSIGN(const auto added, state_->follower->read_on());
    Layer& open = *state_->open;
    open.index(added);
    if (!open.data && !open.delta.objects.empty()) {
        TRY_ASSIGN(open.data, journal::DeltaData::find(journal_.state_dir().deltas(), open.number,
                                                       state_->pool));
    }
    return state_.get();
}

Result<bool> Beginning::has(const std::string& path) {
    if (path.empty()) return true;
    const std::lock_guard lock(mutex_);
    if (state_ && state_->generation == generation_.load()) {
        const auto known = state_->known.find(path);
        if (known != state_->known.end()) return known->second;
    }
    TRY_ASSIGN(State* const now, state());
    View root(std::make_shared<LiveNamesOf>(locator_), Way(now->stack, 0, now->stack->size()));
    TRY_ASSIGN(const auto found, root.find(path));
    if (now->known.size() >= kMostKnown) now->known.clear();
    now->known[path] = found.has_value();
    return found.has_value();
}

Result<std::optional<std::string>> Beginning::bytes(const std::string& path, std::uint64_t most) {
    const std::lock_guard lock(mutex_);
    TRY_ASSIGN(State* const now, state());
    View root(std::make_shared<LiveNamesOf>(locator_), Way(now->stack, 0, now->stack->size()));
    TRY_ASSIGN(const auto found, root.find(path));
    if (!found || !S_ISREG(found->type)) return std::optional<std::string>();
    TRY_ASSIGN(const std::uint64_t size, root.size(*found));
    if (size > most) return std::optional<std::string>();
    TRY_ASSIGN(const Content content, root.content(*found));
    TRY_ASSIGN(std::string bytes, content.read_all());
    return std::optional(std::move(bytes));
}

}  // namespace unwrite::overlay
