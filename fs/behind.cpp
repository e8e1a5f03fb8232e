#include "fs/behind.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <utility>

#include "fs/threads.h"
#include "fs/tuning.h"

namespace unwrite::fs {

namespace {

void add(const overlay::ChangedBehind& changed, overlay::ChangedBehind& to) {
    to.names |= changed.names;
    to.objects.insert(to.objects.end(), changed.objects.begin(), changed.objects.end());
    if (to.objects.size() < tuning::kMostBehind) return;
    std::sort(to.objects.begin(), to.objects.end());
    to.objects.erase(std::unique(to.objects.begin(), to.objects.end()), to.objects.end());
}

}  // namespace

Result<std::unique_ptr<Behind>> Behind::start(Server& server, int source) {
    TRY_ASSIGN(Event wanted, Event::make());
    std::unique_ptr<Behind> behind(new Behind(server, source, std::move(wanted)));
    TRY_ASSIGN(behind->thread_,
               start_thread("unwrite-behind", [self = behind.get()] { self->live(); }));
    return Result<std::unique_ptr<Behind>>(std::move(behind));
}

Behind::~Behind() {
    {
        const std::scoped_lock lock(mutex_);
        stop_ = true;
        wanted_.set();
    }
    if (thread_.joinable()) thread_.join();
}

void Behind::restored(const std::vector<overlay::NodeId>& objects) {
    const std::scoped_lock lock(mutex_);
    any_restored_ = true;
    restored_.insert(restored_.end(), objects.begin(), objects.end());
    wanted_.set();
}

void Behind::live() {
    for (;;) {
        std::array<struct pollfd, 2> sources{{{source_, POLLIN, 0}, {wanted_.fd(), POLLIN, 0}}};
        if (::poll(sources.data(), sources.size(), milliseconds_left()) < 0) continue;
        if (sources[1].revents != 0) {
            const std::scoped_lock lock(mutex_);
            if (stop_) return;
            wanted_.clear();
            take_restored();
        }
        if (sources[0].revents != 0) {
            std::this_thread::sleep_for(tuning::kBehindDelay);
            fetch();
        }
        if (names_ && Clock::now() >= names_due_) drop_names();
        if (Clock::now() >= due_) tell_again();
    }
}

/// mutex_ is held.
void Behind::take_restored() {
    if (!any_restored_) return;
    add({true, std::exchange(restored_, {})}, later_);
    any_restored_ = false;
    due_ = std::min(due_, Clock::now() + tuning::kBehindAgain);
}

/// Until something is to be told; -1: nothing is.
int Behind::milliseconds_left() const {
    const auto next = names_ ? std::min(due_, names_due_) : due_;
    if (next == Clock::time_point::max()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
    return left.count() > 0 ? static_cast<int>(left.count()) : 0;
}

/// Some of what there is; poll() says whether there is more.
void Behind::fetch() {
    const overlay::ChangedBehind changed = server_.tree.changed_behind();
    if (changed.empty()) return;
    tell(changed);
    add(changed, later_);
    due_ = std::min(due_, Clock::now() + tuning::kBehindAgain);
}

void Behind::tell(const overlay::ChangedBehind& changed) {
    if (!server_.ready) return;  // the kernel knows nothing yet
    for (const overlay::NodeId id : changed.objects)
        server_.drop_attributes(id);
    names_ |= changed.names;
}

void Behind::drop_names() {
    server_.drop_names();
    names_ = false;
    names_due_ = Clock::now() + tuning::kNamesPause;
}

// Each is told again after one to two such times.
void Behind::tell_again() {
    tell(again_);
    again_ = std::exchange(later_, overlay::ChangedBehind{});
    due_ = again_.empty() ? Clock::time_point::max() : Clock::now() + tuning::kBehindAgain;
}

}  // namespace unwrite::fs
