#include "journal/journal.h"

#include <fcntl.h>

#include <cerrno>

#include "journal/frames.h"
#include "journal/pack.h"

namespace unwrite::journal {

namespace {

/// What the making of the state directory wrote survives a power cut.
Result<> sync_state(int workspace, int state) {
    TRY_ASSIGN(const UniqueFd version, sys::open_at(state, "VERSION", O_RDONLY));
    TRY(sys::sync(version.get()));
    TRY(sys::sync(state));
    return sys::sync(workspace);
}

constexpr const char* kRootFile = "root";

}  // namespace

// The journal knows objects by their inodes: in a copy of the directory those are others, and to
// take anything back there would be guesswork.
Result<> Journal::check_root(bool writes) {
    TRY_ASSIGN(const sys::StatX x, sys::statx_at(workspace_.get(), ""));
    const ObjectKey here{x.st.st_ino, x.birth};
    const int state = state_dir_.fd();
    TRY_ASSIGN(std::string text, read_whole(state, kRootFile));
    if (!text.empty() && text.back() == '\n') text.pop_back();
    const auto known = Attic::parse_name(text);
    if (known == here) return {};
    if (known) {
        TRY_ASSIGN(const bool bare, is_bare());
        if (!bare) {
            return Error(
                ErrorKind::kRefused, ESTALE,
                "cannot open .unwrite: it was made for another directory, of which this one is a "
                "copy, and what it remembers is of the files there",
                "take things back in the original; to begin anew here, with the files as "
                "they are, remove .unwrite");
        }
        if (writes) TRY(places_->clear());
    }
    if (!writes) return {};
    return sys::replace_file_at(state, kRootFile, Attic::file_name(here) + "\n", 0600);
}

Result<bool> Journal::is_bare() {
    TRY_ASSIGN(const std::vector<Node> nodes, store_->nodes());
    TRY_ASSIGN(const std::optional<Pending> pending, store_->pending());
    if (nodes.size() != 1 || pending) return false;
    TRY_ASSIGN(const Head head, store_->head());
    return !delta_has_records(state_dir_.deltas(), head.open_delta);
}

Result<std::unique_ptr<Journal>> Journal::open(int workspace, Options options) {
    TRY_ASSIGN(StateDir state_dir, StateDir::open(workspace, options.create));
    if (options.lock) TRY(state_dir.lock());
    std::unique_ptr<Journal> journal(new Journal(std::move(state_dir)));
    TRY_ASSIGN(journal->workspace_, sys::duplicate(workspace));
    const int state = journal->state_dir_.fd();
    TRY_ASSIGN(journal->store_, Store::open(state, options.durable));
    TRY_ASSIGN(UniqueFd attic, journal->state_dir_.open_attic());
    TRY_ASSIGN(journal->attic_, Attic::open(std::move(attic)));
    if (options.lock) {
        TRY(journal->attic_->remove_leftovers());
        TRY(remove_pack_leftovers(journal->state_dir_.deltas()));
    }
    TRY_ASSIGN(journal->places_, Places::open(state));
    TRY(journal->check_root(options.lock));
    if (options.durable) TRY(sync_state(workspace, state));
    return journal;
}

Result<std::set<DeltaNumber>> Journal::referenced_deltas() {
    const std::lock_guard lock(store_mutex_);
    TRY_ASSIGN(const Head head, store_->head());
    TRY_ASSIGN(const std::vector<Node> nodes, store_->nodes());
    TRY_ASSIGN(const std::optional<Pending> pending, store_->pending());
    std::set<DeltaNumber> deltas{head.open_delta};
    for (const Node& node : nodes)
        deltas.insert(node.delta);
    if (pending) deltas.insert(pending->inverse);
    deltas.erase(0);
    return deltas;
}

Result<std::set<ObjectKey>> Journal::mentioned_by_all_deltas() {
    TRY_ASSIGN(const std::set<DeltaNumber> deltas, referenced_deltas());
    std::set<ObjectKey> keys;
    for (const DeltaNumber number : deltas) {
        TRY_ASSIGN(const Delta delta, read_delta(state_dir_.deltas(), number));
        keys.merge(delta.mentioned());
    }
    return keys;
}

Result<> Journal::remove_unreferenced_deltas() {
    TRY_ASSIGN(const std::vector<DeltaNumber> files, list_deltas(state_dir_.deltas()));
    TRY_ASSIGN(const std::set<DeltaNumber> referenced, referenced_deltas());
    for (const DeltaNumber number : files) {
        if (!referenced.contains(number)) TRY(remove_delta(state_dir_.deltas(), number));
    }
    return {};
}

}  // namespace unwrite::journal
