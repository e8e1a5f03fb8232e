#include "base/progress.h"

#include <algorithm>
#include <mutex>
#include <vector>

namespace unwrite {

namespace {

struct Works {
    std::mutex mutex;
    std::vector<const Progress*> running;  // guarded by mutex; the newest last
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
    const std::lock_guard lock(works().mutex);
    std::erase(works().running, this);
}

std::optional<Progress::Seen> Progress::now() {
    const std::lock_guard lock(works().mutex);
    if (works().running.empty()) return std::nullopt;
    const Progress& newest = *works().running.back();
    const std::uint64_t done = newest.done_.load(std::memory_order_relaxed);
    return Seen{newest.what_, std::min(done, newest.total_), newest.total_};
}

}  // namespace unwrite
