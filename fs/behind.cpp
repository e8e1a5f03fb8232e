#include "fs/behind.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <utility>

#include "fs/threads.h"
#include "fs/tuning.h"

namespace unwrite::fs {

Result<std::unique_ptr<Behind>> Behind::start(Server& server, int source) {
    TRY_ASSIGN(Event stopping, Event::make());
    TRY_ASSIGN(Event forgotten, Event::make());
    TRY_ASSIGN(auto expirer, Helper::start("unwrite-expire", Descriptors::kShared));
    std::unique_ptr<Behind> behind(
        new Behind(server, source, std::move(stopping), std::move(forgotten), std::move(expirer)));
    TRY_ASSIGN(behind->thread_,
               start_thread("unwrite-behind", [self = behind.get()] { self->live(); }));
    return Result<std::unique_ptr<Behind>>(std::move(behind));
}

Behind::~Behind() {
    stopping_.set();
    if (thread_.joinable()) thread_.join();
}

void Behind::names_forgotten() {
    names_forgotten_.set();
}

void Behind::live() {
    while (!stopping_.is_set()) {
        std::array<struct pollfd, 3> sources{{{source_, POLLIN, 0},
                                              {names_forgotten_.fd(), POLLIN, 0},
                                              {stopping_.fd(), POLLIN, 0}}};
        if (::poll(sources.data(), sources.size(), milliseconds_left()) < 0) continue;
        if (sources[2].revents != 0) return;
        if (sources[1].revents != 0) {
            names_forgotten_.clear();
            tell_again_later({true, {}, {}});
        }
        if (sources[0].revents != 0) {
            std::this_thread::sleep_for(tuning::kBehindDelay);
            fetch();
        }
        if (is_due()) tell_again();
    }
}

bool Behind::is_due() const {
    return waits() && Clock::now() >= due_;
}

/// Until something is to be told again; -1: nothing is.
int Behind::milliseconds_left() const {
    if (!waits()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(due_ - Clock::now());
    return left.count() > 0 ? static_cast<int>(left.count()) : 0;
}

void Behind::fetch() {
    for (;;) {
        overlay::ChangedBehind changed = server_.tree.changed_behind();
        if (changed.empty()) return;
        tell(changed);
        tell_again_later(std::move(changed));
    }
}

void Behind::tell(const overlay::ChangedBehind& changed) {
    if (!server_.ready) return;             // the kernel knows nothing yet
    constexpr off_t kAttributesAlone = -1;  // pages go when size or time turn out to be others
    for (const overlay::NodeId id : changed.objects)
        fuse_lowlevel_notify_inval_inode(server_.session, id, kAttributesAlone, 0);
    tell_names(changed);
}

#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 18)

void Behind::tell_names(const overlay::ChangedBehind& changed) {
    if (!changed.all && changed.names.empty()) return;
    if (!changed.all) {
        expirer_->post([session = server_.session, names = changed.names] {
            for (const auto& at : names)
                fuse_lowlevel_notify_expire_entry(session, at.parent, at.name.data(),
                                                  at.name.size());
        });
        if (expirer_->wait(tuning::kExpirePatience)) return;
    }
    fuse_lowlevel_notify_increment_epoch(server_.session);
}

#else

void Behind::tell_names(const overlay::ChangedBehind& /*changed*/) {}  // names are not kept long

#endif

void Behind::tell_again_later(overlay::ChangedBehind changed) {
    if (!waits()) due_ = Clock::now() + tuning::kBehindAgain;
    later_.all |= changed.all;
    later_.objects.insert(later_.objects.end(), changed.objects.begin(), changed.objects.end());
    later_.names.insert(later_.names.end(), changed.names.begin(), changed.names.end());
    if (later_.names.size() > tuning::kMostBehind) later_.all = true;
    if (later_.all) later_.names.clear();
    if (later_.objects.size() > 2 * tuning::kMostBehind) {
        std::sort(later_.objects.begin(), later_.objects.end());
        later_.objects.erase(std::unique(later_.objects.begin(), later_.objects.end()),
                             later_.objects.end());
    }
}

// Each is told again after one to two such times.
void Behind::tell_again() {
    tell(again_);
    again_ = std::exchange(later_, overlay::ChangedBehind{});
    due_ = Clock::now() + tuning::kBehindAgain;
}

}  // namespace unwrite::fs
