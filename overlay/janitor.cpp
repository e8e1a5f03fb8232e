#include "overlay/janitor.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>

#include "base/crash_point.h"
#include "base/lend_mode.h"
#include "base/log.h"

namespace unwrite::overlay {

namespace {

// Objects removed under one closing of the gate: a few hundred microseconds of waiting for everyone
// else.
constexpr std::size_t kBatch = 32;
// Between two batches, or whoever waits at the gate would find it closed again.
constexpr std::chrono::microseconds kPause{500};

}  // namespace

Janitor::Janitor(Objects& objects, Capture& capture, journal::Journal& journal, Gate& gate)
    : objects_(objects), capture_(capture), journal_(journal), gate_(gate), thread_([this] {
          work();
      }) {}

Janitor::~Janitor() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

void Janitor::free(std::vector<Leftovers> leftovers) {
    std::erase(leftovers, nullptr);
    if (leftovers.empty()) return;
    {
        const std::lock_guard lock(mutex_);
        for (Leftovers& one : leftovers)
            leftovers_.push_back(std::move(one));
    }
    wake_.notify_one();
}

void Janitor::remove_orphan(const ObjectKey& key) {
    {
        const std::lock_guard lock(mutex_);
        orphans_.push_back(key);
    }
    wake_.notify_one();
}

void Janitor::remove_deltas(std::vector<journal::DeltaNumber> dropped) {
    {
        const std::lock_guard lock(mutex_);
        dropped_.insert(dropped_.end(), dropped.begin(), dropped.end());
    }
    wake_.notify_one();
}

// One by one, and with pauses: there may be thousands, and the disk is others' as well.
void Janitor::remove_dropped_deltas() {
    {
        const std::lock_guard lock(mutex_);
        if (dropped_.empty()) return;
    }
    const Result<> synced = journal_.sync_before_removal();
    if (!synced) {
        log::warning("remove dropped deltas: " + synced.error().message());
        return;
    }
    for (std::size_t count = 1;; ++count) {
        journal::DeltaNumber number = 0;
        {
            const std::lock_guard lock(mutex_);
            if (dropped_.empty()) return;
            number = dropped_.back();
            dropped_.pop_back();
        }
        const auto removed = journal::remove_delta(journal_.state_dir().deltas(), number);
        if (!removed) log::warning("remove a dropped delta: " + removed.error().message());
        if (count % kBatch == 0) std::this_thread::sleep_for(kPause);
    }
}

void Janitor::sweep() {
    {
        const std::lock_guard lock(mutex_);
        sweep_asked_ = true;
    }
    wake_.notify_one();
}

void Janitor::work() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
        wake_.wait(lock, [this] {
            return stop_ || sweep_asked_ || !leftovers_.empty() || !orphans_.empty() ||
                   !dropped_.empty();
        });
        if (stop_) return;
        if (!leftovers_.empty()) {
            std::vector<Leftovers> freed = std::exchange(leftovers_, {});
            lock.unlock();
            freed.clear();
            lock.lock();
            continue;
        }
        if (!dropped_.empty()) {
            lock.unlock();
            remove_dropped_deltas();
            lock.lock();
            continue;
        }
        if (!orphans_.empty()) {
            const ObjectKey key = orphans_.front();
            orphans_.pop_front();
            lock.unlock();
            remove_one_orphan(key);
            lock.lock();
            continue;
        }
        sweep_asked_ = false;
        lock.unlock();
        const auto swept = sweep_now();
        if (!swept) log::warning("sweep the attic: " + swept.error().message());
        lock.lock();
    }
}

// An orphan was created in the open interval, so no delta can mention it; the pass keeps the
// interval from ending meanwhile. With another name it could be looked up, and that name captured
// and removed, just now: then it is left for a sweep.
void Janitor::remove_one_orphan(const ObjectKey& key) {
    const auto pass = gate_.pass();
    if (!pass) return;
    const auto st = sys::stat_at(journal_.attic().directory(), journal::Attic::file_name(key));
    if (!st || (!S_ISDIR(st->st_mode) && st->st_nlink > 1)) return;
    if (!capture_.is_disposable(key) || objects_.find(key)) return;
    ignore(journal_.places().forget(key), "a place that is left is a hint that leads nowhere");
    const auto removed = journal_.attic().remove(key);
    if (!removed) {
        log::warning("remove an orphan from the attic: " + removed.error().message());
        return;
    }
    capture_.drop_created(key);
}

// Empties a directory of the attic. What is needed or held open, and every directory in it, moves
// up into the attic: depth costs nothing.
Result<> Janitor::empty_directory(const ObjectKey& key, const std::set<ObjectKey>& needed,
                                  std::vector<ObjectKey>& more) {
    journal::Attic& attic = journal_.attic();
    TRY_ASSIGN(const UniqueFd fd,
               sys::open_listing_unseen(attic.directory(), journal::Attic::file_name(key)));
    TRY_ASSIGN(const auto entries, sys::read_directory(fd.get()));
    for (const auto& entry : entries) {
        TRY_ASSIGN(const sys::StatX x, sys::statx_at(fd.get(), entry.name));
        const ObjectKey child = key_of(x);
        const bool kept =
            needed.contains(child) || capture_.is_watched(child) || objects_.find(child) != nullptr;
        if (S_ISDIR(x.st.st_mode) || kept) {
            TRY(attic.displace(fd.get(), entry.name, child, S_ISDIR(x.st.st_mode)));
            objects_.moved_to_attic(child);
            if (!kept) more.push_back(child);
        } else {
            TRY(sys::unlink(fd.get(), entry.name));
        }
    }
    return {};
}

Result<bool> Janitor::remove_unneeded(const ObjectKey& key, const std::set<ObjectKey>& needed,
                                      std::vector<ObjectKey>& more) {
    if (needed.contains(key) || capture_.is_watched(key)) return false;
    if (const ObjectPtr object = objects_.find(key)) {
        // Somebody has it open and it has no other name: it stays until it is forgotten and swept
        // again.
        if (!objects_.place(*object).parent) return false;
    }
    journal::Attic& attic = journal_.attic();
    if (!attic.contains(key)) return false;
    TRY_ASSIGN(const struct stat st,
               sys::stat_at(attic.directory(), journal::Attic::file_name(key)));
    if (S_ISDIR(st.st_mode)) TRY(empty_directory(key, needed, more));
    // What was in it was not taken away behind the mount.
    TRY(journal_.places().forget(key));
    crash_point("janitor.remove");
    TRY(attic.remove(key));
    return true;
}

Result<std::uint64_t> Janitor::sweep_now() {
    const std::lock_guard sweeping(sweep_mutex_);
    std::uint64_t removed = 0;
    if (journal_.is_unproved()) return removed;
    for (;;) {
        std::uint64_t restores = 0;
        {
            const Gate::Closed closed = gate_.close();
            capture_.watch(true);
            restores = restores_;
        }
        const auto finished = sweep_watched(restores, removed);
        capture_.watch(false);
        if (!finished) return finished.error();
        if (*finished) return removed;
    }
}

// What is captured from here on is watched, so what no delta mentions and nobody captured since is
// not needed. A restore makes deltas out of others, and displaces objects into the anchors that
// they have: nothing known from before it holds after it.
Result<bool> Janitor::sweep_watched(std::uint64_t restores, std::uint64_t& removed) {
    std::vector<ObjectKey> todo = journal_.attic().list();
    TRY_ASSIGN(const auto needed, journal_.mentioned_by_all_deltas());
    std::erase_if(todo, [&](const ObjectKey& key) { return needed.contains(key); });
    if (!todo.empty()) TRY(journal_.sync_before_removal());
    for (; !todo.empty(); std::this_thread::sleep_for(kPause)) {
        const Gate::Closed closed = gate_.close();
        if (restores_ != restores) return false;
        for (std::size_t i = 0; i < kBatch && !todo.empty(); ++i) {
            const ObjectKey key = todo.back();
            todo.pop_back();
            std::vector<ObjectKey> more;
            TRY_ASSIGN(const bool gone, remove_unneeded(key, needed, more));
            removed += gone ? 1 : 0;
            todo.insert(todo.end(), more.begin(), more.end());
        }
        const std::lock_guard lock(mutex_);
        if (stop_) break;
    }
    return true;
}

}  // namespace unwrite::overlay
