#include "fs/caches.h"

#include <poll.h>

#include <cerrno>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/syscalls.h"
#include "fs/announce.h"
#include "fs/tuning.h"

namespace unwrite::fs {

namespace {

std::unique_ptr<Helper> start_helper(const char* name, Descriptors descriptors) {
    auto helper = Helper::start(name, descriptors);
    if (helper) return std::move(*helper);
    log::warning("mount: no helper thread " + std::string(name) + ": " + helper.error().message());
    return nullptr;
}

using Clock = std::chrono::steady_clock;

/// Until the writes that the workers took are answered. A worker counts a write before it is seen
/// to have looked for one. False when that takes too long.
bool await_taken(const WriteBack& writes, Clock::time_point end) {
    while (writes.receiving != 0) {
        if (Clock::now() >= end) return false;
        std::this_thread::yield();
    }
    while (writes.in_flight != 0) {
        if (Clock::now() >= end) return false;
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    return true;
}

/// A request that no worker has taken yet.
bool is_any_waiting(const Server& server) {
    pollfd device{fuse_session_fd(server.session), POLLIN, 0};
    return ::poll(&device, 1, 0) != 0;
}

/// So few run that the kernel holds no write back for them, as far as they were taken.
bool are_few(const WriteBack& writes) {
    return writes.resizes == 0 && writes.others() + writes.in_flight < tuning::kCongested;
}

/// True when at a moment of this call they were few, and none was in the queue.
bool is_calm(const Server& server) {
    const WriteBack& writes = server.write_back;
    const auto taken = [&] { return writes.taken + writes.others_taken; };
    const std::uint64_t before = taken();
    if (!are_few(writes)) return false;
    // When none was taken meanwhile, so many ran when nothing was in the queue, or fewer.
    return !is_any_waiting(server) && writes.receiving == 0 && taken() == before;
}

/// Until then; where there is always something in the queue, until they are few. False when it
/// takes too long.
bool await_calm(const Server& server, Clock::time_point end) {
    const auto begin = Clock::now();
    while (!is_calm(server)) {
        const auto now = Clock::now();
        const bool few = are_few(server.write_back);
        if (few && now - begin >= tuning::kNeverEmpty) return true;
        if (now >= end) return false;
        if (few)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    return true;
}

/// Called by the syncer, a guest: not by whoever can be waited for.
Result<> start_writes(const MountPlace& place) {
    TRY_ASSIGN(const UniqueFd root, place.open());
    return sys::sync_filesystem(root.get());
}

/// Is answered when all requests of before were taken.
Result<> make_request(const MountPlace& place) {
    TRY_ASSIGN(const UniqueFd root, place.open());
    ignore(sys::statvfs_fd(root.get()), "the request is what counts");
    return {};
}

}  // namespace

Caches::Caches(Server& server, MountPlace place)
    : server_(server),
      place_(std::move(place)),
      syncer_(start_helper("unwrite-sync", Descriptors::kOwn)),
      announcer_(start_helper("unwrite-notify", Descriptors::kOwn)),
      notifier_(start_helper("unwrite-forget", Descriptors::kShared)),
      sweeper_(start_helper("unwrite-sweep", Descriptors::kShared)) {
    if (server_.behind >= 0) start_behind();
    server_.syncer = syncer_ ? syncer_->thread() : 0;
    server_.announcer = announcer_ ? announcer_->thread() : 0;
}

void Caches::start_behind() {
    auto behind = Behind::start(server_, server_.behind);
    if (behind) {
        behind_ = *std::move(behind);
        return;
    }
    server_.behind = -1;
    log::warning("mount: nobody to look for changes behind it: " + behind.error().message());
}

Caches::~Caches() {
    behind_.reset();
    end();
}

/// A job of the syncer's, with that much patience.
Result<> Caches::ask_syncer(Result<> (*job)(const MountPlace&), Clock::time_point end) {
    auto result = std::make_shared<Result<>>(Error(ETIMEDOUT));
    syncer_->post([job, result, place = place_] { *result = job(place); });
    if (!syncer_->wait(until(end))) return Error(ETIMEDOUT);
    return *result;
}

/// Files are written through; what is dirty are pages of shared mappings, which have no request of
/// their own.
///
/// The kernel starts their writes here but does not wait for a FUSE filesystem to answer them.
/// Requests come in order. So when none is left in the queue, or a later one is answered, all
/// started ones were taken but those that the kernel holds back: while kBackground requests run
/// that nobody waits for, and while the file is getting another size (whoever changes it sends them
/// once he is awake). Newer kernels do not even start them while kCongested such requests run
/// (fuse_writepages(); of late syncfs(2) does not insist on it, sync_inodes_sb()).
///
/// So a round that begins without one and brings none leaves none, when there were few requests all
/// that time: syncfs(2) has been over all dirty pages before it returned.
Result<> Caches::write_back_all(Clock::time_point begin, Clock::time_point end) {
    const WriteBack& writes = server_.write_back;
    bool repeated = false;
    int drained = 0;  // rounds at whose end nothing was under way
    for (;;) {
        const std::uint64_t before = writes.taken;
        const std::uint64_t resized = writes.resized;
        // When these ended, others may have come into the queue that nobody has taken yet.
        const bool were_running = writes.in_flight != 0;
        if (!await_calm(server_, end)) return Error(ETIMEDOUT);
        const std::uint64_t answered = writes.others_answered;
        TRY(ask_syncer(start_writes, end));
        if (!await_calm(server_, end)) return Error(ETIMEDOUT);
        if (is_any_waiting(server_)) TRY(ask_syncer(make_request, end));
        if (!await_taken(writes, end)) return Error(ETIMEDOUT);
        const std::uint64_t after = writes.taken;
        const bool crowded = writes.others_taken - answered >= tuning::kCongested;
        const bool repeat = writes.resized != resized && !std::exchange(repeated, true);
        const bool last = after == before && !were_running && !crowded && !repeat;
        if (last || fuse_session_exited(server_.session) != 0) return {};
        // Who stores on and on lets no round be without writes. What was stored before that is
        // written: the kernel sends what it held back before a write that was answered is over.
        if (!crowded && is_calm(server_) && writes.in_flight == 0 && writes.taken == after)
            ++drained;
        if (drained >= 3 && Clock::now() - begin >= tuning::kStoringPatience) return {};
        if (Clock::now() >= end) return Error(ETIMEDOUT);
    }
}

/// For a mount whose root cannot be opened: another is over it, somebody detached it, or it is not
/// for this user. The kernel writes the dirty pages that it is told to drop, and waits for the
/// answers (Linux' invalidate_inode_pages2_range()), perhaps longer than this does: a restore that
/// follows has pages dropped by another helper.
Result<> Caches::write_back_each(Clock::time_point end) {
    if (!sweeper_) return Error(ENOSYS);
    sweeper_->post([this, end] {
        for (const overlay::NodeId id : server_.tree.files()) {
            if (Clock::now() >= end || fuse_session_exited(server_.session) != 0) return;
            server_.drop_pages(id);
        }
    });
    if (sweeper_->wait(until(end)) && Clock::now() < end) return {};
    return Error(ETIMEDOUT);
}

void Caches::write_back(std::chrono::milliseconds patience) {
    if (!syncer_ || !server_.ready || fuse_session_exited(server_.session) != 0) return;
    const auto begin = Clock::now();
    const auto end = begin + patience;
    auto done = write_back_all(begin, end);
    if (!done && done.error().number() != ETIMEDOUT) {
        log::info("mount: writing back mapped pages file by file: " + done.error().message());
        done = write_back_each(end);
    }
    if (!done)
        log::warning("mount: writing back mapped pages, going on without: " +
                     done.error().message());
}

void Caches::forget(const overlay::Restored& restored) {
    if (!server_.ready || !notifier_) return;
    server_.nudges.expect();
    // All names at once, without a lock: nothing that waits at the gate is in the way. Where much
    // is kept also when none changed: the answer to a look-up may be under way, with attributes
    // from before, of an object that the kernel does not know yet.
    if (restored.names || server_.keeps) server_.drop_names();
    if (behind_) behind_->restored(restored.objects);
    // Dropping a page waits for a request of that page, and a dirty page's request waits at the
    // closed gate: patience ends.
    auto copy = std::make_shared<const overlay::Restored>(restored);
    notifier_->post([this, copy] { forget_objects(*copy); });
    if (notifier_->wait(tuning::kForgetPatience)) return;
    log::info("mount: the kernel still uses pages that were restored; going on without");
    for (const overlay::NodeId id : restored.objects)
        server_.drop_attributes(id);
}

void Caches::forget_objects(const overlay::Restored& restored) {
    for (const overlay::NodeId id : restored.objects)
        server_.drop_pages(id);
}

/// Without epochs names are dropped one by one, which needs the lock of the parent: only after the
/// gate is open again. A name that is not on the (possibly cut) list may be seen for another second
/// (tuning::kEntrySeconds).
void Caches::forget_names(const overlay::Restored& restored) {
    for (const auto& change : restored.changed_names) {
        if (change.parent == 0) continue;
        fuse_lowlevel_notify_inval_entry(server_.session, change.parent, change.name.data(),
                                         change.name.size());
    }
}

void Caches::announce(const overlay::Restored& restored) {
    if (!server_.ready || !notifier_) return;
    auto copy = std::make_shared<const overlay::Restored>(restored);
    if (restored.names && !server_.epochs) {
        notifier_->post([this, copy] { forget_names(*copy); });
        notifier_->wait(tuning::kForgetPatience);
    }
    tell_watchers(std::move(copy));
}

void Caches::tell_watchers(std::shared_ptr<const overlay::Restored> restored) {
    const unsigned answered = server_.nudges.take_expected();
    if (!announcer_) {
        server_.nudges.settled(answered);
        return;
    }
    announcer_->post([this, restored, answered] {
        announce_restored(server_, place_, *restored);
        server_.nudges.settled(answered);
    });
}

// Pages go when the attributes turn out to be others; those of mappings, which do not ask, when the
// notifier comes to it: a writer may have them until its request is answered.
void Caches::exchanged(const overlay::Restored& changed) {
    if (!server_.ready || !notifier_) return;
    server_.nudges.expect();
    if (changed.names) server_.drop_names();
    if (behind_) behind_->restored(changed.objects);
    for (const overlay::NodeId id : changed.objects)
        server_.drop_attributes(id);
    auto copy = std::make_shared<const overlay::Restored>(changed);
    notifier_->post([this, copy] {
        forget_objects(*copy);
        if (copy->names && !server_.epochs) forget_names(*copy);
    });
    tell_watchers(std::move(copy));
}

bool Caches::settle(std::chrono::milliseconds patience) {
    return !announcer_ || announcer_->wait(patience);
}

Result<> Caches::unmount(bool lazily) {
    if (!syncer_) return place_.unmount(lazily);
    auto result = std::make_shared<Result<>>(Error(ECANCELED));
    syncer_->post([place = place_, lazily, result] { *result = place.unmount(lazily); });
    if (!syncer_->wait()) return Error(ECANCELED);
    return *result;
}

void Caches::end() {
    for (Helper* helper : {sweeper_.get(), notifier_.get(), announcer_.get(), syncer_.get()})
        if (helper != nullptr) helper->end();
    server_.syncer = 0;
    server_.announcer = 0;
}

}  // namespace unwrite::fs
