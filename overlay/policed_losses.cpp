// What the breaker counts of a request: what it would destroy of what was there before.
#include <fcntl.h>

#include <algorithm>

#include "overlay/policed_tree.h"

namespace unwrite::overlay {

namespace {

// A count over the whole tree may cost seconds; it is not made anew for each refusal.
constexpr auto kBetweenCounts = std::chrono::seconds(1);
constexpr int kRestAfterCount = 10;  // times as long as it took

}  // namespace

// Nothing when nobody counts what the caller does.
std::optional<SessionNumber> PolicedTree::counted(const Caller& caller, bool weighs) const {
    if (!weighs || caller.pid <= 0) return std::nullopt;
    const Origins::Belonging belonging = origins_.belonging_of(caller);
    if (!belonging.agent && breaker_.limits().subjects == Subjects::kAgents) return std::nullopt;
    return belonging.session;
}

void PolicedTree::enter(Loss& loss, NodeId directory) const {
    if (const auto object = objects_.get(directory)) enter(loss, *object);
}

void PolicedTree::enter(Loss& loss, const ObjectPtr& directory) const {
    const ObjectKey& key = directory->key();
    if (is_of_this_task(key)) return;
    const auto known = std::find(loss.directories.begin(), loss.directories.end(), key);
    if (known == loss.directories.end()) loss.directories.push_back(key);
}

void PolicedTree::stands(NodeId parent, std::string_view name) {
    if (!breaker_.has_deleted()) return;
    if (const auto path = path_below(parent, name)) breaker_.stands(*path);
}

// One more deletion. Counts what is there no farther than the answer needs, and four times that, so
// that the next count is long after.
bool PolicedTree::is_within_share(SessionNumber session) {
    if (breaker_.known_there() >= breaker_.needed(session)) return true;
    const std::lock_guard lock(counting_);
    const std::uint64_t needed = breaker_.needed(session);
    if (breaker_.known_there() >= needed) return true;
    const auto begin = Breaker::Clock::now();
    if (begin < count_again_after_) return false;
    std::uint64_t there = 0;
    ignore(walk_all([&](const std::string& path, const sys::StatX& x) {
               if (S_ISDIR(x.st.st_mode)) return true;
               if (!is_of_this_task(key_of(x))) ++there;
               breaker_.stands(path);  // it may have come back by a restore
               return there < 4 * needed;
           }),
           "what cannot be listed cannot be deleted either");
    breaker_.know_there(there);
    if (there >= 4 * needed) return true;
    const auto end = Breaker::Clock::now();
    count_again_after_ =
        end + std::max<Breaker::Clock::duration>(kBetweenCounts, kRestAfterCount * (end - begin));
    return there >= breaker_.needed(session);
}

Result<> PolicedTree::may_lose(const Caller& caller, const char* operation, const PathOf& path_of,
                               SessionNumber session, const Loss& loss) {
    if (loss.empty()) return {};
    const auto ask_about = [&](const Breaker::Excess& excess) {
        return ask(caller, operation, path_of().value_or(std::string()),
                   {excess.key, excess.detail + "; the answer is for all that goes beyond it",
                    EACCES, excess.key});
    };
    if (!loss.deleted.empty() && !is_within_share(session))
        TRY(ask_about(breaker_.share_excess(session)));
    const auto beyond = breaker_.weigh(session, loss);
    for (const Breaker::Excess& excess : beyond)
        TRY(ask_about(excess));
    if (!beyond.empty()) breaker_.count(session, loss);
    return {};
}

/// Whether the name may be made, or taken away with the file that stands there.
Result<> PolicedTree::may_lose_name(const Caller& caller, const char* operation, NodeId parent,
                                    std::string_view name, bool goes) {
    const BreakerLimits& limits = breaker_.limits();
    const bool deletes = goes && limits.weighs_deletions();
    const auto session = counted(caller, deletes || limits.weighs_directories());
    if (!session) return {};
    Loss loss;
    if (limits.weighs_directories()) enter(loss, parent);
    if (deletes) {
        const auto there = standing(parent, name);
        if (there && !S_ISDIR(there->st.st_mode) && !is_of_this_task(key_of(*there)))
            loss.deleted = path_below(parent, name).value_or(std::string());
    }
    return may_lose(
        caller, operation, [&] { return path_below(parent, name); }, *session, loss);
}

// What is replaced is overwritten: its name stays.
Result<> PolicedTree::may_replace(const Caller& caller, NodeId parent, NodeId to_parent,
                                  std::string_view to_name, bool replaces) {
    const BreakerLimits& limits = breaker_.limits();
    const auto session = counted(caller, limits.weighs_bytes() || limits.weighs_directories());
    if (!session) return {};
    Loss loss;
    if (limits.weighs_directories()) {
        enter(loss, parent);
        enter(loss, to_parent);
    }
    if (limits.weighs_bytes() && replaces) {
        const auto there = standing(to_parent, to_name);
        if (there && S_ISREG(there->st.st_mode) && !is_of_this_task(key_of(*there)))
            loss.bytes = static_cast<std::uint64_t>(there->st.st_size);
    }
    return may_lose(
        caller, "rename", [&] { return path_below(to_parent, to_name); }, *session, loss);
}

/// Content, or with `length` 0 attributes alone.
Result<> PolicedTree::may_overwrite(const Caller& caller, const char* operation, NodeId id,
                                    std::uint64_t offset, std::uint64_t length) {
    const BreakerLimits& limits = breaker_.limits();
    const auto session = counted(caller, limits.weighs_bytes() || limits.weighs_directories());
    if (!session) return {};
    const auto object = objects_.get(id);
    if (!object || is_of_this_task((*object)->key())) return {};
    Loss loss;
    const ObjectPtr above = objects_.place(**object).parent;
    if (limits.weighs_directories() && above) enter(loss, above);
    if (limits.weighs_bytes() && length > 0 && S_ISREG((*object)->type())) {
        const auto st = objects_.stat(*object);
        const std::uint64_t size = st ? static_cast<std::uint64_t>(st->st_size) : 0;
        if (offset < size) loss.bytes = std::min(size - offset, length);
    }
    return may_lose(
        caller, operation, [&] { return this->path_of(id); }, *session, loss);
}

}  // namespace unwrite::overlay
