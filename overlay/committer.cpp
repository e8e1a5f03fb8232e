#include "overlay/committer.h"

#include <fcntl.h>
#include <pthread.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <utility>

#include "base/crash_point.h"
#include "base/log.h"
#include "journal/delta_format.h"
#include "overlay/history.h"

namespace unwrite::overlay {

namespace {

// With what it takes to sync, the watermark is at most two seconds old.
constexpr std::chrono::milliseconds kPause{900};
// bench/budget knows it by this.
constexpr const char* kName = "unwrite-disk";
// The kernel's clock for the times of files goes in steps.
constexpr std::int64_t kStep = 20'000'000;

std::int64_t file_clock_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

Result<> sync_file(int directory, const std::string& name) {
    const auto file = sys::open_at(directory, name, O_RDONLY | O_NOFOLLOW);
    if (!file && file.error().number() == ENOENT) return {};
    if (!file) return file.error();
    return sys::sync_data(file->get());
}

}  // namespace

Result<> Committer::start() {
    const int state = journal_.state_dir().fd();
    TRY_ASSIGN(const auto before, journal::read_watermark(state));
    const std::lock_guard committing(committing_);
    mark_ = before.value_or(journal::Watermark{});
    // After a clean end all is on the disk, and nothing was captured since. In a fresh state
    // directory nothing is captured at all. Otherwise the old time stays until the first commit.
    if (!before || before->ended) mark_.time_ns = file_clock_ns() - kStep;
    if (before && before->ended) last_ = {mark_.delta, mark_.log_end, mark_.data_end, 0};
    mark_.ended = false;
    ++mark_.sequence;
    const Result<> begun = journal::write_watermark(state, mark_);
    // On a full disk, say. An old one that says too much must not stay.
    if (!begun) {
        log::warning("keep a watermark: " + begun.error().message());
        TRY(journal::remove_watermark(state));
    }
    on_ = true;
    thread_ = std::thread([this] {
        ::pthread_setname_np(::pthread_self(), kName);
        work();
    });
    return {};
}

void Committer::stop() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void Committer::work() {
    std::unique_lock lock(mutex_);
    bool failing = false;
    while (!wake_.wait_for(lock, kPause, [this] { return stop_; })) {
        lock.unlock();
        const Result<> done = commit_open();
        // Once, for it is tried again every second.
        if (!done && !std::exchange(failing, true))
            log::warning("bring the journal to the disk: " + done.error().message());
        if (done) failing = false;
        lock.lock();
    }
}

/// The gate is closed, or the caller has a pass.
Result<Committer::Taken> Committer::take() {
    Taken taken;
    taken.time_ns = file_clock_ns() - kStep;
    TRY_ASSIGN(taken.files, capture_.writer().files());
    // What changes again what is captured leaves no record, but is younger than the old mark.
    taken.seen.passes = gate_.passes() - own_passes_;
    taken.seen.delta = taken.files.number;
    taken.seen.log_end = taken.files.log_end;
    taken.seen.data_end = taken.files.data_end;
    return taken;
}

Result<> Committer::look_for_states() {
    const std::lock_guard lock(journal_.store_mutex());
    TRY_ASSIGN(const History history, History::read(journal_.store()));
    newest_ = history.nodes.size() == 0 ? 0 : history.nodes.rbegin()->number;
    return {};
}

Result<> Committer::commit_open() {
    auto pass = gate_.pass();
    if (!pass) return {};  // wounded: nothing changes
    {
        // In this order, for a restore has the gate closed when it calls commit().
        const std::lock_guard committing(committing_);
        ++own_passes_;
        TRY_ASSIGN(const Taken taken, take());
        // Once more after the last change: it may have been under way when its pass was counted.
        const bool same = taken.seen == last_;
        if (std::exchange(settled_, same) && same && newest_ == mark_.node) return {};
        TRY(look_for_states());
        { const Gate::Pass left = *std::move(pass); }
        // Where nothing was recorded only the time goes on: that costs a write in place, and no
        // commit of the filesystem's own journal.
        Seen recorded = taken.seen;
        recorded.passes = last_.passes;
        if (recorded != last_ || newest_ != mark_.node) TRY(sync_records(taken));
        TRY(bring(taken));
    }
    return bring_states(false);
}

Result<> Committer::commit() {
    if (!on_) return {};
    const std::lock_guard committing(committing_);
    TRY_ASSIGN(const Taken taken, take());
    TRY(sync_records(taken));
    return bring(taken);
}

Result<> Committer::end() {
    if (!on_) return {};
    {
        const std::lock_guard committing(committing_);
        TRY_ASSIGN(const Taken taken, take());
        TRY(look_for_states());
        if (taken.seen != last_ || newest_ != mark_.node) {
            TRY(sync_records(taken));
            TRY(bring(taken));
        }
    }
    return bring_states(true);
}

// Deltas have rising numbers, those of restores too.
Result<> Committer::sync_sealed(journal::DeltaNumber from, journal::DeltaNumber to) {
    const int deltas = journal_.state_dir().deltas();
    for (journal::DeltaNumber number = from; number != 0 && number < to; ++number) {
        TRY(sync_file(deltas, journal::delta_data_name(number)));
        TRY(sync_file(deltas, journal::delta_log_name(number)));
    }
    return {};
}

// The order is the point: no record before its bytes, no row before its records, and the watermark
// last. Files go one by one: to sync the whole filesystem would let the changed files overtake the
// records.
Result<> Committer::sync_records(const Taken& taken) {
    TRY(sync_sealed(last_.delta != 0 ? last_.delta : mark_.delta, taken.seen.delta));
    TRY(taken.files.sync(journal_.state_dir().deltas()));
    const int state = journal_.state_dir().fd();
    TRY(sys::sync(journal_.state_dir().deltas()));
    TRY(sync_file(state, "places.log"));
    TRY(sys::sync(journal_.attic().directory()));
    crash_point("committer.attic");
    TRY(journal_.store().sync());
    return sys::sync(state);
}

Result<> Committer::bring(const Taken& taken) {
    mark_.time_ns = taken.time_ns;
    mark_.delta = taken.seen.delta;
    mark_.log_end = taken.seen.log_end;
    mark_.data_end = taken.seen.data_end;
    TRY(write_mark());
    last_ = taken.seen;
    return {};
}

// A state is made of the files as they are, so the filesystem is synced: only when the records of
// all before it are on the disk. That may take long if other programs write much. Nobody waits for
// it: not with committing_ held, for a restore takes that with the gate closed.
Result<> Committer::bring_states(bool ended) {
    std::unique_lock committing(committing_);
    const journal::NodeNumber newest = newest_;
    if (newest != mark_.node) {
        committing.unlock();
        TRY(sys::sync_filesystem(journal_.state_dir().fd()));
        committing.lock();
    } else if (!ended) {
        return {};
    }
    mark_.node = newest;
    mark_.ended = ended;
    return write_mark();
}

Result<> Committer::write_mark() {
    ++mark_.sequence;
    crash_point("committer.mark");
    return journal::write_watermark(journal_.state_dir().fd(), mark_);
}

}  // namespace unwrite::overlay
