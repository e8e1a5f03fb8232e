#include "journal/journal.h"

#include <fcntl.h>
#include <sys/random.h>

#include <cerrno>
#include <charconv>
#include <utility>

#include "base/boot_mark.h"
#include "base/crash_point.h"
#include "base/log.h"
#include "journal/delta_format.h"
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
constexpr const char* kBootFile = "boot";
constexpr const char* kIdentityFile = "identity";

Error not_its_database(const std::string& why) {
    return Error(ErrorKind::kRecovery, EIO, "cannot open .unwrite: " + why,
                 "put the right journal.db back; to begin without the history, with the files as "
                 "they are, rename .unwrite: what you deleted is in its attic/");
}

bool has_entries(int parent, const std::string& name) {
    const auto fd = sys::open_at(parent, name, O_RDONLY | O_DIRECTORY);
    const auto empty = fd ? sys::is_empty_directory(fd->get()) : Result<bool>(fd.error());
    return !empty || !*empty;
}

Result<std::uint32_t> random_identity() {
    std::uint32_t identity = 0;
    while (identity == 0 || identity > 0x7fffffffU) {
        if (::getrandom(&identity, sizeof identity, 0) != sizeof identity) return sys::last_error();
    }
    return identity;
}

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

// A kill in the middle of the making leaves no database or an empty one, and nothing else. True: it
// may be made.
Result<bool> Journal::check_database() {
    const int state = state_dir_.fd();
    const auto file = sys::stat_at(state, "journal.db");
    if (!file && file.error().number() != ENOENT) return file.error();
    if (!has_entries(state, "deltas") && !has_entries(state, "attic")) return true;
    if (file && file->st_size > 0) return false;
    return not_its_database(std::string("its database, journal.db, is ") +
                            (file ? "empty" : "missing") + ", and the history cannot be read");
}

// The same number is in a file and in the database, so that another database is not taken for this
// one. The file comes first, and is durable.
Result<> Journal::check_identity(bool writes) {
    TRY_ASSIGN(const std::uint32_t known, store_->identity());
    TRY_ASSIGN(const std::string text, read_whole(state_dir_.fd(), kIdentityFile));
    std::uint32_t wanted = 0;
    std::from_chars(text.data(), text.data() + text.size(), wanted, 16);
    if (known != 0 && known != wanted)
        return not_its_database("its database, journal.db, belongs to another workspace");
    if (known != 0 || !writes) return {};
    if (wanted == 0) {
        TRY_ASSIGN(wanted, random_identity());
        char digits[8];
        const auto end = std::to_chars(digits, digits + sizeof digits, wanted, 16).ptr;
        TRY(sys::replace_file_at(state_dir_.fd(), kIdentityFile, std::string(digits, end) + "\n",
                                 0600, sys::Durable::kYes));
        crash_point("state.identity-written");
    }
    return store_->set_identity(wanted);
}

// A number is given out by the database before a file has it. Only a power cut takes that back.
Result<> Journal::check_age(bool same_boot) {
    TRY_ASSIGN(const DeltaNumber next, store_->next_delta());
    TRY_ASSIGN(const std::vector<DeltaNumber> files, list_deltas(state_dir_.deltas()));
    if (!same_boot || files.empty() || files.back() < next) return {};
    return not_its_database(
        "its database, journal.db, is an older copy: it knows nothing of "
        "what was recorded since then");
}

Result<> Journal::take_unclaimed() {
    LostFound lost_found(state_dir_.fd(), state_dir_.deltas(), *attic_, *places_);
    TRY_ASSIGN(const std::set<DeltaNumber> referenced, referenced_deltas());
    TRY_ASSIGN(std::vector<DeltaNumber> others, list_deltas(state_dir_.deltas()));
    std::erase_if(others, [&](DeltaNumber number) { return referenced.contains(number); });
    // First: their numbers may be given out again.
    TRY(lost_found.take_deltas(others));
    lost_ = lost_found.taken();
    const auto claimed = mentioned_by_all_deltas();
    if (!claimed && claimed.error().kind() != ErrorKind::kCorrupt) return claimed.error();
    if (!claimed) {
        unproved_ = true;
        log::error("nothing is removed from the attic: " + claimed.error().message());
        return {};
    }
    TRY_ASSIGN(const sys::StatX root, sys::statx_at(workspace_.get(), ""));
    TRY(lost_found.take_objects(*claimed, {referenced.begin(), referenced.end()},
                                {root.st.st_ino, root.birth}));
    lost_ = lost_found.taken();
    return {};
}

// The new mark is the last thing: a kill before it, and all of this is done again.
Result<> Journal::settle(const std::string& mark) {
    TRY_ASSIGN(std::string before, read_whole(state_dir_.fd(), kBootFile));
    if (!before.empty() && before.back() == '\n') before.pop_back();
    const bool same = !mark.empty() && before == mark;
    TRY(check_age(same));
    if (same) return attic_->remove_leftovers();
    TRY(look_at_cut());
    TRY(take_unclaimed());
    boot_mark_ = mark;
    crash_point("state.unclaimed-taken");
    return cut_ ? Result<>() : settled();
}

Result<> Journal::settled() {
    if (boot_mark_.empty()) return {};
    cut_.reset();
    if (unproved_) return {};
    return sys::replace_file_at(state_dir_.fd(), kBootFile, std::exchange(boot_mark_, {}) + "\n",
                                0600);
}

Result<> Journal::look_at_cut() {
    TRY_ASSIGN(const auto mark, read_watermark(state_dir_.fd()));
    if (!mark || mark->ended) return {};
    cut_ = Cut{*mark, {}};
    for (const ObjectKey& key : attic_->list()) {
        const auto st = sys::stat_at(attic_->directory(), Attic::file_name(key));
        if (st && is_late(*st, *mark)) cut_->late.push_back(key);
    }
    return trim_after_cut();
}

// What is in pieces behind the watermark is what a process killed in an append would leave, only
// more of it. (What is in pieces before it is damage.) An interval that ended behind it has a seal
// of what did not reach the disk: it gets one of what did, and its state counts as unproved.
Result<> Journal::trim_after_cut() {
    const int deltas = state_dir_.deltas();
    const auto proved = [this](DeltaNumber number) {
        return number == cut_->mark.delta ? cut_->mark.log_end : 0;
    };
    TRY_ASSIGN(const Head head, store_->head());
    TRY_ASSIGN(const std::vector<Node> nodes, store_->nodes());
    Store::Change change;
    for (const Node& node : nodes) {
        if (node.delta < cut_->mark.delta || node.number <= cut_->mark.node) continue;
        TRY_ASSIGN(const std::string log, read_whole(deltas, delta_log_name(node.delta)));
        const std::vector<DeltaSeal> seals = store_->seals(node.delta);
        const auto whole = check_seal(deltas, node.delta, log, seals);
        if (whole) continue;
        if (whole.error().kind() != ErrorKind::kCorrupt) return whole.error();
        TRY(trim_delta(deltas, node.delta, proved(node.delta)));
        const auto seal = measure_delta(deltas, node.delta);
        if (seal) change.seals.push_back(*seal);
        cut_->broken.push_back(node.number);
    }
    if (head.open_delta >= cut_->mark.delta)
        TRY(trim_delta(deltas, head.open_delta, proved(head.open_delta)));
    if (!change.seals.empty()) TRY(store_->apply(change));
    return {};
}

Result<std::unique_ptr<Journal>> Journal::open(int workspace, Options options) {
    TRY_ASSIGN(StateDir state_dir, StateDir::open(workspace, options.create));
    if (options.lock) TRY(state_dir.lock());
    std::unique_ptr<Journal> journal(new Journal(std::move(state_dir)));
    TRY_ASSIGN(journal->workspace_, sys::duplicate(workspace));
    journal->ordered_ = options.ordered;
    const int state = journal->state_dir_.fd();
    // The database needs room only to be read.
    Ballast& ballast = journal->ballast_;
    if (ballast.free() < ballast.size() / 2) ballast.give(Ballast::Part::kHalf);
    TRY_ASSIGN(const bool create, journal->check_database());
    TRY_ASSIGN(journal->store_, Store::open(state, options.durable, create));
    TRY(journal->check_identity(options.lock));
    TRY_ASSIGN(UniqueFd attic, journal->state_dir_.open_attic());
    TRY_ASSIGN(journal->attic_, Attic::open(std::move(attic)));
    TRY_ASSIGN(journal->places_, Places::open(state));
    TRY_ASSIGN(journal->checksums_, Checksums::open(state));
    TRY(journal->check_root(options.lock));
    if (options.lock) {
        TRY(remove_pack_leftovers(journal->state_dir_.deltas()));
        TRY(journal->seal_old_deltas());
        TRY(journal->settle(sys::boot_mark(workspace)));
        TRY(journal->drop_old_checksums());
        ballast.fill(Ballast::When::kCalm);
    }
    if (options.durable) TRY(sync_state(workspace, state));
    return journal;
}

// After a cut the numbers behind the watermark may be given out again.
Result<> Journal::drop_old_checksums() {
    for (const std::string& problem : checksums_->problems())
        log::warning(problem);
    TRY_ASSIGN(const std::set<DeltaNumber> referenced, referenced_deltas());
    return checksums_->keep_only(referenced, cut_ ? cut_->mark.delta : ~DeltaNumber{0});
}

// An older program left no seals. Whatever its deltas are now is all that can be known of them.
Result<> Journal::seal_old_deltas() {
    if (!store_->lacks_seals()) return {};
    TRY_ASSIGN(const std::vector<Node> nodes, store_->nodes());
    std::vector<DeltaSeal> seals;
    for (const Node& node : nodes) {
        if (node.delta == 0) continue;
        const auto seal = measure_delta(state_dir_.deltas(), node.delta);
        // One that is damaged gets none: it is refused, as it was.
        if (seal) seals.push_back(*seal);
        if (!seal && seal.error().kind() != ErrorKind::kCorrupt) return seal.error();
    }
    crash_point("state.seals-begin");
    return store_->begin_seals(seals);
}

/// The delta of the open interval has none, nor has the one that a restore is making.
Result<std::optional<std::vector<DeltaSeal>>> Journal::seals_of(DeltaNumber number) {
    const std::lock_guard lock(store_mutex_);
    std::vector<DeltaSeal> seals = store_->seals(number);
    if (seals.empty()) {
        TRY_ASSIGN(const Head head, store_->head());
        TRY_ASSIGN(const std::optional<Pending> pending, store_->pending());
        if (number == head.open_delta || (pending && pending->inverse == number) ||
            store_->lacks_seals())
            return std::optional<std::vector<DeltaSeal>>();
    }
    return std::optional(std::move(seals));
}

Result<Delta> Journal::read_delta(DeltaNumber number) {
    const int deltas = state_dir_.deltas();
    TRY_ASSIGN(auto seals, seals_of(number));
    for (;;) {
        TRY_ASSIGN(const std::string log, read_whole(deltas, delta_log_name(number)));
        const Result<> whole = seals ? check_seal(deltas, number, log, *seals) : Result<>();
        if (whole) {
            TRY_ASSIGN(ParsedDelta parsed, parse_delta(std::as_bytes(std::span(log)), number));
            return std::move(parsed.delta);
        }
        // Somebody may have sealed or compressed it meanwhile.
        TRY_ASSIGN(auto now, seals_of(number));
        if (now == seals) return whole.error();
        seals = std::move(now);
    }
}

NoteSeal Journal::note_seals() {
    return [this](const DeltaSeal& seal) -> Result<> {
        const std::lock_guard lock(store_mutex_);
        if (store_->seals(seal.delta).empty()) return {};
        Store::Change change;
        change.seals.push_back(seal);
        TRY(store_->apply(change));
        return {};
    };
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
        TRY_ASSIGN(const Delta delta, read_delta(number));
        keys.merge(delta.mentioned());
    }
    return keys;
}

Result<> Journal::remove_unreferenced_deltas() {
    if (unproved_) return {};
    TRY_ASSIGN(const std::vector<DeltaNumber> files, list_deltas(state_dir_.deltas()));
    TRY_ASSIGN(const std::set<DeltaNumber> referenced, referenced_deltas());
    bool synced = false;
    for (const DeltaNumber number : files) {
        if (referenced.contains(number)) continue;
        if (!std::exchange(synced, true)) TRY(sync_before_removal());
        TRY(remove_delta(state_dir_.deltas(), number));
    }
    return {};
}

}  // namespace unwrite::journal
