#include "overlay/breaker.h"

#include <algorithm>

namespace unwrite::overlay {

namespace {

std::string key_of(const char* name, std::uint64_t limit) {
    return std::string("policy.breaker.") + name + " = " + std::to_string(limit);
}

}  // namespace

std::uint64_t Breaker::fresh(const Counts& counts, const Loss& loss) {
    return static_cast<std::uint64_t>(
        std::count_if(loss.directories.begin(), loss.directories.end(),
                      [&](const ObjectKey& key) { return !counts.directories.contains(key); }));
}

Breaker::Counts& Breaker::counts_of(SessionNumber session) {
    Counts& counts = sessions_[session];
    const auto now = now_();
    for (Rate* rate : {&counts.deletion_rate, &counts.byte_rate, &counts.directory_rate})
        rate->roll(now);
    return counts;
}

std::uint64_t Breaker::gone_of(SessionNumber session) const {
    const auto found = sessions_.find(session);
    return found == sessions_.end() ? 0 : found->second.gone.size();
}

void Breaker::add(Counts& counts, const Loss& loss) {
    if (!loss.deleted.empty()) {
        has_deleted_ = true;
        counts.gone.insert(std::hash<std::string>()(loss.deleted));
        ++counts.deletions;
        ++counts.deletion_rate.amount;
        if (there_ > 0) --there_;
    }
    counts.bytes += loss.bytes;
    counts.byte_rate.amount += loss.bytes;
    counts.directory_rate.amount += fresh(counts, loss);
    counts.directories.insert(loss.directories.begin(), loss.directories.end());
}

std::vector<Breaker::Excess> Breaker::weigh(SessionNumber session, const Loss& loss) {
    const std::lock_guard lock(mutex_);
    Counts& counts = counts_of(session);
    const std::uint64_t deleted = loss.deleted.empty() ? 0 : 1;
    const std::uint64_t entered = fresh(counts, loss);
    std::vector<Excess> beyond;
    const auto look = [&](const char* name, std::uint64_t limit, std::uint64_t had,
                          std::uint64_t more, const char* what) {
        if (limit == 0 || more == 0 || had + more <= limit) return;
        beyond.push_back({key_of(name, limit), "it would be " + std::to_string(had + more) + what});
    };
    look("deletions", limits_.deletions, counts.deletions, deleted, " deleted files");
    look("deletions_per_second", limits_.deletions_per_second, counts.deletion_rate.amount, deleted,
         " deleted files within a second");
    look("overwritten", limits_.overwritten, counts.bytes, loss.bytes, " overwritten bytes");
    look("overwritten_per_second", limits_.overwritten_per_second, counts.byte_rate.amount,
         loss.bytes, " overwritten bytes within a second");
    look("directories", limits_.directories, counts.directories.size(), entered, " directories");
    look("directories_per_second", limits_.directories_per_second, counts.directory_rate.amount,
         entered, " directories within a second");
    if (beyond.empty()) add(counts, loss);
    return beyond;
}

void Breaker::count(SessionNumber session, const Loss& loss) {
    const std::lock_guard lock(mutex_);
    add(counts_of(session), loss);
}

// With g files gone and t there, one more is within the share when (g + 1) <= share * (g + t).
std::uint64_t Breaker::needed(SessionNumber session) const {
    if (limits_.deleted_share == 0) return 0;
    const std::lock_guard lock(mutex_);
    const std::uint64_t gone = gone_of(session);
    if (gone + 1 < kFewest) return 0;
    const std::uint64_t all =
        ((gone + 1) * 100 + limits_.deleted_share - 1) / limits_.deleted_share;
    return all > gone ? all - gone : 0;
}

Breaker::Excess Breaker::share_excess(SessionNumber session) const {
    const std::lock_guard lock(mutex_);
    const std::uint64_t gone = gone_of(session);
    return {key_of("deleted_share", limits_.deleted_share) + "%",
            "it would be " + std::to_string(gone + 1) + " deleted files of " +
                std::to_string(gone + there_) + " that were there before"};
}

void Breaker::know_there(std::uint64_t files) {
    const std::lock_guard lock(mutex_);
    there_ = files;
}

std::uint64_t Breaker::known_there() const {
    const std::lock_guard lock(mutex_);
    return there_;
}

void Breaker::stands(const std::string& path) {
    const std::size_t hash = std::hash<std::string>()(path);
    const std::lock_guard lock(mutex_);
    for (auto& [session, counts] : sessions_)
        if (counts.gone.erase(hash) > 0) ++there_;
}

void Breaker::begin() {
    const std::lock_guard lock(mutex_);
    sessions_.clear();
    there_ = 0;
    has_deleted_ = false;
}

}  // namespace unwrite::overlay
