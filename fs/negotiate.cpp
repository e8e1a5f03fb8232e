// INIT: what this filesystem asks of the kernel, and why.
#include "base/log.h"
#include "fs/request.h"

namespace unwrite::fs {

namespace {

/// Asks for a capability; false when the kernel (or this libfuse) does not have it.
bool want(fuse_conn_info& connection, std::uint64_t capability) {
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 17)
    return fuse_set_feature_flag(&connection, capability);
#else
    if ((connection.capable & capability) == 0) return false;
    connection.want |= static_cast<unsigned>(capability);
    return true;
#endif
}

void refuse(fuse_conn_info& connection, std::uint64_t capability) {
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 17)
    fuse_unset_feature_flag(&connection, capability);
#else
    connection.want &= ~static_cast<unsigned>(capability);
#endif
}

void size_requests(fuse_conn_info& connection) {
    connection.max_write = tuning::kLargestRequest;
    if (connection.max_readahead > tuning::kLargestRequest) {
        connection.max_readahead = tuning::kLargestRequest;
    }
    connection.max_background = tuning::kBackground;
    connection.congestion_threshold = tuning::kCongested;
    connection.time_gran = 1;
}

void negotiate_caches(fuse_conn_info& connection) {
    want(connection, FUSE_CAP_PARALLEL_DIROPS);
    want(connection, FUSE_CAP_READDIRPLUS);
    want(connection, FUSE_CAP_READDIRPLUS_AUTO);
    want(connection, FUSE_CAP_CACHE_SYMLINKS);
    // A change behind the mount shows in size or time, and drops the pages.
    want(connection, FUSE_CAP_AUTO_INVAL_DATA);
    // Every write must reach the tree before it is acknowledged: capture is exact, a killed daemon
    // loses nothing.
    refuse(connection, FUSE_CAP_WRITEBACK_CACHE);
    // Requests are small or are captured anyway: pipes cost more than the copy.
    refuse(connection, FUSE_CAP_SPLICE_READ);
    refuse(connection, FUSE_CAP_SPLICE_WRITE);
    refuse(connection, FUSE_CAP_SPLICE_MOVE);
    // Nothing opens files here; a truncation comes as a change of size.
    refuse(connection, FUSE_CAP_ATOMIC_O_TRUNC);
    // Locks are between processes of this machine: the kernel keeps them alone.
    refuse(connection, FUSE_CAP_POSIX_LOCKS);
    refuse(connection, FUSE_CAP_FLOCK_LOCKS);
#ifdef FUSE_CAP_OVER_IO_URING
    refuse(connection, FUSE_CAP_OVER_IO_URING);
#endif
}

void negotiate_permissions([[maybe_unused]] Server& server, fuse_conn_info& connection) {
    // The kernel checks ACLs; then modes come unmasked, for a default ACL takes the umask's place.
    want(connection, FUSE_CAP_POSIX_ACL);
    want(connection, FUSE_CAP_DONT_MASK);
#ifdef FUSE_CAP_HANDLE_KILLPRIV_V2
    if (want(connection, FUSE_CAP_HANDLE_KILLPRIV_V2)) {
        refuse(connection, FUSE_CAP_HANDLE_KILLPRIV);
        server.marks_kill = true;
        return;
    }
#endif
    // Without it the kernel would ask for an attribute before each write.
    want(connection, FUSE_CAP_HANDLE_KILLPRIV);
}

}  // namespace

void negotiate(void* userdata, fuse_conn_info* connection) {
    Server& server = *static_cast<Server*>(userdata);
    size_requests(*connection);
    negotiate_caches(*connection);
    negotiate_permissions(server, *connection);
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 18)
    constexpr unsigned kEpochMinor = 44;
    server.epochs = connection->proto_major > 7 || connection->proto_minor >= kEpochMinor;
#endif
    if (!server.data_path->negotiate(*connection)) {
        log::warning("mount: no passthrough on this kernel; every read and write is a request");
        server.data_path = make_observed();
    }
    // Only all names at once are dropped without a lock that a request may hold.
    server.keeps = server.behind >= 0 && server.epochs;
    server.ready = true;
    log::debug("mount: the kernel speaks FUSE " + std::to_string(connection->proto_major) + "." +
               std::to_string(connection->proto_minor));
}

}  // namespace unwrite::fs
