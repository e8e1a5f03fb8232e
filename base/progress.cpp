#include "base/progress.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace unwrite {

namespace {

struct Works {
    std::mutex mutex;
    std::vector<const Progress*> running;                 // guarded by mutex; the newest last
    std::shared_ptr<const std::function<void()>> at_end;  // guarded by mutex
};

Works& works() {
    static Works* const the_works = new Works;  // never destroyed: threads may outlive main
    return *the_works;
}

}  // namespace

Progress::Progress(const char* what, std::uint64_t total) : what_(what), total_(total) {
    const std::lock_guard lock(works().mutex);
    works().running.push_back(this);
}

Progress::~Progress() {
    std::shared_ptr<const std::function<void()>> at_end;
    {
        const std::lock_guard lock(works().mutex);
        std::erase(works().running, this);
        at_end = works().at_end;
    }
    if (at_end) (*at_end)();
}

void Progress::at_each_end(std::function<void()> call) {
    const std::lock_guard lock(works().mutex);
    works().at_end =
        call ? std::make_shared<const std::function<void()>>(std::move(call)) : nullptr;
}

std::optional<Progress::Seen> Progress::now() {
    const std::lock_guard lock(works().mutex);
    if (works().running.empty()) return std::nullopt;
    const Progress& newest = *works().running.back();
    const std::uint64_t done = newest.done_.load(std::memory_order_relaxed);
    return Seen{newest.what_, std::min(done, newest.total_), newest.total_};
}

}  // namespace unwrite
