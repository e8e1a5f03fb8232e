#include "fs/nudge.h"

#include <unistd.h>

#include <utility>

namespace unwrite::fs {

namespace {

constexpr overlay::NodeId kPhantom = 1ULL << 63U;
constexpr overlay::NodeId kPhantomDirectory = 1ULL << 62U;

}  // namespace

void Nudges::begin(Nudge nudge) {
    const std::scoped_lock lock(mutex_);
    current_ = std::move(nudge);
}

void Nudges::end() {
    const std::scoped_lock lock(mutex_);
    current_.reset();
}

std::optional<Nudge> Nudges::about(overlay::NodeId parent, std::string_view name) const {
    const std::scoped_lock lock(mutex_);
    if (current_ && current_->parent == parent && current_->name == name) return current_;
    return std::nullopt;
}

void Nudges::expect() {
    waiting_.fetch_add(1);
    untaken_.fetch_add(1);
}

unsigned Nudges::take_expected() {
    return untaken_.exchange(0);
}

void Nudges::settled(unsigned restores) {
    waiting_.fetch_sub(restores);
}

overlay::NodeId next_phantom(bool directory) {
    static std::atomic<overlay::NodeId> last{0};
    return kPhantom | (directory ? kPhantomDirectory : 0) | (last.fetch_add(1) + 1);
}

bool is_phantom(overlay::NodeId id) {
    return (id & kPhantom) != 0;
}

struct stat phantom_attributes(overlay::NodeId id) {
    struct stat st = {};
    st.st_ino = id;
    st.st_mode = (id & kPhantomDirectory) != 0 ? (S_IFDIR | S_IRWXU) : (S_IFREG | S_IRUSR);
    st.st_nlink = (id & kPhantomDirectory) != 0 ? 2 : 1;
    st.st_uid = ::geteuid();
    st.st_gid = ::getegid();
    st.st_blksize = 4096;
    return st;
}

}  // namespace unwrite::fs
