// The seals of deltas, as the store keeps them.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "journal/store_state.h"

namespace unwrite::journal {

// A row that was damaged says nothing: then its delta has no seal, and is refused.
Result<> Store::State::read_seals() {
    seals.clear();
    TRY(select_seals.bind());
    for (;;) {
        TRY_ASSIGN(const bool row, select_seals.step());
        if (!row) break;
        const auto at = [&](int column) {
            return static_cast<std::uint64_t>(select_seals.number(column));
        };
        const DeltaSeal seal{at(0), at(1), static_cast<std::uint32_t>(at(2)), at(3)};
        if (checksum_of(seal) == at(4)) seals[seal.delta].push_back(seal);
    }
    select_seals.rewind();
    return {};
}

Result<> Store::State::add_seals(const std::vector<DeltaSeal>& added) {
    for (const DeltaSeal& seal : added) {
        TRY(insert_seal.run(seal.delta, seal.log_size, seal.log_crc, seal.data_size,
                            checksum_of(seal)));
        auto& same_delta = seals[seal.delta];
        if (std::find(same_delta.begin(), same_delta.end(), seal) == same_delta.end())
            same_delta.push_back(seal);
    }
    return {};
}

// Of edges that get another delta, or go. (What drops all others is followed by the removal of
// their files; their seals go with the numbers, which are never used again.)
Result<> Store::State::remove_unneeded_seals(const Change& change) {
    std::vector<NodeNumber> numbers = change.remove_nodes;
    if (change.remove_other_nodes) {
        TRY(database.execute("DELETE FROM seals"));
        seals.clear();
    } else {
        for (const Node& node : change.update_nodes)
            numbers.push_back(node.number);
    }
    for (const NodeNumber number : numbers) {
        TRY(select_edge.bind(number));
        TRY_ASSIGN(const bool row, select_edge.step());
        const auto delta = row ? static_cast<DeltaNumber>(select_edge.number(0)) : 0;
        select_edge.rewind();
        const bool stays = std::any_of(change.update_nodes.begin(), change.update_nodes.end(),
                                       [&](const Node& node) { return node.delta == delta; }) ||
                           std::any_of(change.add_nodes.begin(), change.add_nodes.end(),
                                       [&](const Node& node) { return node.delta == delta; });
        if (delta == 0 || stays) continue;
        TRY(delete_seals.run(delta));
        seals.erase(delta);
    }
    return {};
}

std::vector<DeltaSeal> Store::seals(DeltaNumber delta) const {
    const auto found = state_->seals.find(delta);
    return found == state_->seals.end() ? std::vector<DeltaSeal>() : found->second;
}

// A commit that is not synced is whole in the write-ahead log as soon as that is on the disk.
// Without one the rollback journal is in use, and that syncs by itself.
Result<> Store::sync() {
    const auto log = sys::open_at(state_->directory.get(), "journal.db-wal", O_RDONLY);
    if (!log && log.error().number() != ENOENT) return log.error();
    if (log) TRY(sys::sync_data(log->get()));
    return {};
}

bool Store::lacks_seals() const {
    return state_->lacks_seals;
}

}  // namespace unwrite::journal
