#include "fs/mount.h"

#include <poll.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/log.h"
#include "base/syscalls.h"
#include "fs/caches.h"
#include "fs/held.h"
#include "fs/mounting.h"
#include "fs/tuning.h"
#include "fs/workers.h"

namespace unwrite::fs {

class Mount::Impl {
 public:
    static Result<std::unique_ptr<Impl>> create(overlay::Tree& tree, const MountOptions& options);
    ~Impl();

    Result<> serve();
    void stop() { stop_.set(); }
    bool is_ending() const { return stop_.is_set(); }
    std::chrono::milliseconds patience() const { return patience_; }
    /// Null when nothing is served.
    std::shared_ptr<Caches> caches() const {
        const std::scoped_lock lock(mutex_);
        return caches_;
    }

 private:
    Impl(overlay::Tree& tree, Event stop) : server_(tree), stop_(std::move(stop)) {}
    void notice(overlay::Tree& tree);
    Result<> begin();
    Result<> start();
    void wait_for_end() const;
    void close();
    void unmount();

    Server server_;
    Event stop_;
    unsigned most_workers_ = tuning::kMostWorkers;
    Idle idle_ = Idle::kChoose;
    bool spin_ = true;
    std::chrono::milliseconds patience_{};
    MountPlace place_;
    SessionPointer session_;
    overlay::Waiting* waiting_ = nullptr;
    std::unique_ptr<Held> held_;
    std::unique_ptr<Workers> workers_;

    mutable std::mutex mutex_;
    std::condition_variable left_;
    std::shared_ptr<Caches> caches_;                                          // guarded by mutex_
    enum class Phase { kMounted, kServing, kOver } phase_ = Phase::kMounted;  // guarded by mutex_
};

Result<std::unique_ptr<Mount::Impl>> Mount::Impl::create(overlay::Tree& tree,
                                                         const MountOptions& options) {
    TRY_ASSIGN(Event stop, Event::make());
    std::unique_ptr<Impl> impl(new Impl(tree, std::move(stop)));
    if (options.workers != 0) impl->most_workers_ = options.workers;
    impl->idle_ = options.idle;
    impl->spin_ = options.spin;
    impl->waiting_ = options.waiting;
    impl->patience_ = options.patience;
    TRY_ASSIGN(const std::string mountpoint, resolve_mountpoint(options.mountpoint));
    if (options.data_path == DataPathKind::kPassthrough) {
        const auto allowed = tree.allow_unseen();
        if (!allowed) return allowed.error().with_context("mount " + mountpoint + ": passthrough");
        if (!has_passthrough()) return Error(ENOTSUP);
        impl->server_.data_path = make_passthrough(tree);
        impl->server_.apart = false;
    }
    if (options.keep_long && options.data_path == DataPathKind::kObserved) impl->notice(tree);
    TRY_ASSIGN(impl->session_, open_session(impl->server_, options, mountpoint));
    auto place = MountPlace::at(mountpoint);
    if (!place) {
        ignore(unmount_path(mountpoint, true, false), "the first failure is the one to report");
        return std::move(place).error();
    }
    impl->place_ = *std::move(place);
    return Result<std::unique_ptr<Impl>>(std::move(impl));
}

void Mount::Impl::notice(overlay::Tree& tree) {
    const auto source = tree.notice_behind();
    server_.behind = source ? *source : -1;
    if (!source) {
        log::info("mount: changes behind it are seen after a second, not told (" +
                  source.error().message() + ")");
    }
}

Mount::Impl::~Impl() {
    stop();
    std::unique_lock lock(mutex_);
    left_.wait(lock, [&] { return phase_ != Phase::kServing; });
    lock.unlock();
    if (phase_ == Phase::kMounted && session_) unmount();
    server_.tree.set_caches(nullptr);
}

Result<> Mount::Impl::begin() {
    const std::scoped_lock lock(mutex_);
    if (phase_ != Phase::kMounted) {
        return Error(ErrorKind::kUsage, EINVAL, "serve " + place_.path() + ": served already");
    }
    phase_ = Phase::kServing;
    return {};
}

Result<> Mount::Impl::start() {
    if (waiting_ != nullptr) {
        TRY_ASSIGN(held_, Held::start(server_, *waiting_));
    }
    TRY_ASSIGN(workers_, Workers::make(server_, most_workers_, idle_, spin_));
    // Before the first request is answered: a checkpoint may follow it at once and needs the
    // mappings written back.
    {
        auto caches = std::make_shared<Caches>(server_, place_);
        const std::scoped_lock lock(mutex_);
        caches_ = std::move(caches);
    }
    auto started = workers_->start();
    if (started) return {};
    const std::scoped_lock lock(mutex_);
    caches_.reset();  // nobody answers what it would ask
    return started;
}

void Mount::Impl::wait_for_end() const {
    std::array<struct pollfd, 2> events = {
        {{stop_.fd(), POLLIN, 0}, {workers_->ended().fd(), POLLIN, 0}}};
    while (::poll(events.data(), events.size(), -1) <= 0) {
        // interrupted by a signal, whose handler may have called stop()
    }
}

/// Takes the mount away while requests are still answered, so that the kernel can write back what
/// it holds.
void Mount::Impl::unmount() {
    const auto helpers = caches();
    if (!helpers) {
        ignore(place_.unmount(true), "the session is closed next, and the mount is dead then");
        return;
    }
    helpers->settle(tuning::kClosingPatience);
    const auto end = std::chrono::steady_clock::now() + tuning::kClosingWriteBack;
    // Before Linux 6.16 nobody who unmaps a file waits for what is written of it then, and a mount
    // that is taken away gives up what it did not answer (fuse_vma_close(), fuse_kill_sb_anon()).
    helpers->write_back(until(end));
    const auto clean = helpers->unmount(false);
    if (clean) return;
    log::info("unmount " + place_.path() + ": " + clean.error().message() + "; detaching it");
    helpers->write_back(until(end));
    const auto detached = helpers->unmount(true);
    if (!detached && detached.error().number() != ESTALE) {
        log::warning("unmount " + place_.path() + ": " + detached.error().message());
    }
}

void Mount::Impl::close() {
    if (held_) held_->refuse_all();  // who waits keeps files open
    unmount();
    if (const auto helpers = caches()) helpers->end();
    if (workers_) {
        workers_->stop();
        workers_->join();
    }
    held_.reset();
    std::shared_ptr<Caches> helpers;
    {
        const std::scoped_lock lock(mutex_);
        helpers.swap(caches_);
    }
    helpers.reset();
    const std::scoped_lock lock(mutex_);
    phase_ = Phase::kOver;
    left_.notify_all();
}

Result<> Mount::Impl::serve() {
    TRY(begin());
    const auto started = start();
    if (started) wait_for_end();
    close();
    return started;
}

Mount::Mount(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Mount::~Mount() = default;

Result<std::unique_ptr<Mount>> Mount::create(overlay::Tree& tree, MountOptions options) {
    TRY_ASSIGN(auto impl, Impl::create(tree, options));
    std::unique_ptr<Mount> mount(new Mount(std::move(impl)));
    tree.set_caches(mount.get());
    return Result<std::unique_ptr<Mount>>(std::move(mount));
}

Result<> Mount::serve() {
    return impl_->serve();
}
void Mount::stop() {
    impl_->stop();
}
bool Mount::is_ending() const {
    return impl_->is_ending();
}

void Mount::write_back() {
    if (const auto caches = impl_->caches()) caches->write_back(impl_->patience());
}

void Mount::forget(const overlay::Restored& restored) {
    if (const auto caches = impl_->caches()) caches->forget(restored);
}

void Mount::exchanged(const overlay::Restored& changed) {
    if (const auto caches = impl_->caches()) caches->exchanged(changed);
}

void Mount::announce(const overlay::Restored& restored) {
    if (const auto caches = impl_->caches()) caches->announce(restored);
}

bool Mount::settle(unsigned milliseconds) {
    const auto caches = impl_->caches();
    return !caches || caches->settle(std::chrono::milliseconds(milliseconds));
}

}  // namespace unwrite::fs
