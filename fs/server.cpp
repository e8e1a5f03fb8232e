#include "fs/server.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>

#include "fs/audiences.h"
#include "fs/tuning.h"

namespace unwrite::fs {

namespace {

using Clock = std::chrono::steady_clock;

/// The kernel names the thread, not the process. Signal 0 asks whether it is one of ours and sends
/// nothing.
bool is_ours(pid_t thread) {
    return ::syscall(SYS_tgkill, ::getpid(), thread, 0) == 0;
}

/// Who was found to be a stranger is one for a while: to be ours, his number would have to be given
/// out anew, and numbers are given out in turn.
bool is_stranger(pid_t thread) {
    struct Known {
        pid_t thread = 0;
        Clock::time_point until{};
    };
    thread_local std::array<Known, 16> strangers;
    Known& known = strangers[static_cast<std::size_t>(thread) % strangers.size()];
    const auto now = Clock::now();
    if (known.thread == thread && now < known.until) return true;
    if (is_ours(thread)) return false;
    known = {thread, now + tuning::kStranger};
    return true;
}

}  // namespace

void WriteBack::count_taken(const RawFlags& request) {
    if (request.writes_back) {
        in_flight.fetch_add(1);
        taken.fetch_add(1);
    } else if (request.in_background) {
        others_taken.fetch_add(1);
    } else if (request.resizes) {
        resizes.fetch_add(1);
    }
}

void WriteBack::count_answered(const RawFlags& request) {
    if (request.writes_back) {
        in_flight.fetch_sub(1);
    } else if (request.in_background) {
        others_answered.fetch_add(1);
    } else if (request.resizes) {
        resized.fetch_add(1);
        resizes.fetch_sub(1);
    }
}

Who who(const Server& server, pid_t thread) {
    if (thread <= 0)
        return Who::kOther;  // the kernel itself, or a process of another pid namespace
    if (thread == server.announcer.load(std::memory_order_relaxed)) return Who::kAnnouncer;
    if (thread == server.syncer.load(std::memory_order_relaxed)) return Who::kSyncer;
    return is_stranger(thread) ? Who::kOther : Who::kSelf;
}

RawFlags& raw_flags() {
    thread_local RawFlags flags;
    return flags;
}

RawFlags decode_raw_flags(const void* request, std::size_t size) {
    RawFlags flags;
    fuse_in_header header = {};
    if (size < sizeof header) return flags;
    std::memcpy(&header, request, sizeof header);
    flags.unique = header.unique;
    flags.audience = audience_of(header.nodeid);
    flags.bytes = {static_cast<const char*>(request), size};
    flags.interrupts = header.opcode == FUSE_INTERRUPT;
    const auto* body = static_cast<const char*>(request) + sizeof header;
    const std::size_t rest = size - sizeof header;
    if (header.opcode == FUSE_WRITE && rest >= sizeof(fuse_write_in)) {
        fuse_write_in in = {};
        std::memcpy(&in, body, sizeof in);
        flags.kill_privileges = (in.write_flags & FUSE_WRITE_KILL_SUIDGID) != 0;
        flags.writes_back = (in.write_flags & FUSE_WRITE_CACHE) != 0;
        flags.in_background = !flags.writes_back && (in.flags & O_DIRECT) != 0;
    } else if (header.opcode == FUSE_SETATTR && rest >= sizeof(fuse_setattr_in)) {
        fuse_setattr_in in = {};
        std::memcpy(&in, body, sizeof in);
        flags.kill_privileges = (in.valid & FATTR_KILL_SUIDGID) != 0;
        flags.resizes = (in.valid & FATTR_SIZE) != 0;
    } else if (header.opcode == FUSE_READ || header.opcode == FUSE_RELEASE) {
        flags.in_background = true;
    }
    return flags;
}

namespace {

/// An inode that the kernel does not have costs a failed call.
void drop_inodes(fuse_session* session, overlay::NodeId id, off_t from, bool apart) {
    fuse_lowlevel_notify_inval_inode(session, id, from, 0);
    if (!apart) return;
    fuse_lowlevel_notify_inval_inode(session, id | kOfAgents, from, 0);
    fuse_lowlevel_notify_inval_inode(session, id | kOfOthers, from, 0);
}

}  // namespace

void Server::drop_attributes(overlay::NodeId id) const {
    constexpr off_t kAttributesAlone = -1;
    drop_inodes(session, id, kAttributesAlone, any_apart);
}

void Server::drop_pages(overlay::NodeId id) const {
    drop_inodes(session, id, 0, any_apart);
}

void Server::drop_names() const {
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 18)
    if (epochs) fuse_lowlevel_notify_increment_epoch(session);
#endif
}

}  // namespace unwrite::fs
