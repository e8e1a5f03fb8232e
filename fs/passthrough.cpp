#include <fcntl.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <unordered_map>

#include "base/log.h"
#include "fs/data_path.h"

namespace unwrite::fs {

#ifdef FUSE_CAP_PASSTHROUGH

namespace {

// What a file handle says of its open.
constexpr std::uint64_t kBacked = 1;
constexpr std::uint64_t kUnseen = 2;

class Passthrough final : public DataPath {
 public:
    explicit Passthrough(overlay::Tree& tree) : tree_(tree) {}
    bool negotiate(fuse_conn_info& connection) override;
    Result<> open(fuse_req_t request, const overlay::Caller& caller, overlay::NodeId id,
                  bool changes, fuse_file_info& info) override;
    void close(fuse_req_t request, overlay::NodeId id, const fuse_file_info& info) override;

 private:
    /// How a file is open now. The kernel's own count is never above these: it ends an open before
    /// it tells us.
    struct File {
        unsigned cached = 0;
        unsigned backed = 0;
        int backing = 0;  // the kernel's number of the backing file while backed != 0
        // The mount's page cache may hold some, from when it was cached. Remembered until the mount
        // ends: few files are ever cached here, and when the kernel drops the pages it does not
        // tell.
        bool pages = false;
        bool stale = false;  // they may be wrong: it was changed unseen since
        bool is_idle() const { return cached == 0 && backed == 0 && !pages; }
    };
    struct Shard {
        std::mutex mutex;
        std::unordered_map<overlay::NodeId, File> files;  // guarded by mutex
    };
    /// What is asked for, and what can be had.
    struct Wish {
        bool reads = false;
        bool writes = false;
        bool little = false;  // begin_unseen() would cost little
    };
    Shard& shard(overlay::NodeId id) { return shards_[id % shards_.size()]; }
    int register_file(fuse_req_t request, int path);
    bool enter(fuse_req_t request, overlay::NodeId id, const Wish& wish, int path,
               fuse_file_info& info);
    Result<> go_unseen(const overlay::Caller& caller, overlay::NodeId id, const Wish& wish,
                       fuse_file_info& info);

    overlay::Tree& tree_;
    std::array<Shard, 64> shards_;
    std::atomic<bool> refused_{
        false};  // the kernel does not do it for this filesystem, or this user
};

bool Passthrough::negotiate(fuse_conn_info& connection) {
    if (!fuse_set_feature_flag(&connection, FUSE_CAP_PASSTHROUGH)) return false;
    // The workspace may lie on an overlayfs, as in a container.
    connection.max_backing_stack_depth = 1;
    return true;
}

/// 0 where there is no path, and when the kernel takes no backing files from us; then it is not
/// asked again.
int Passthrough::register_file(fuse_req_t request, int path) {
    if (refused_ || path < 0) return 0;
    const int number = fuse_passthrough_open(request, path);
    if (number <= 0 && !refused_.exchange(true))
        log::warning(
            "mount: the kernel refuses passthrough here; every read and write is a request");
    return number;
}

/// Counts the open, and says whether it is backed. A file that nobody has open is backed, unless it
/// might be changed through a mapping and much would have to be captured for that.
bool Passthrough::enter(fuse_req_t request, overlay::NodeId id, const Wish& wish, int path,
                        fuse_file_info& info) {
    Shard& s = shard(id);
    const std::lock_guard lock(s.mutex);
    File& file = s.files[id];
    bool backed = file.cached == 0;
    if (backed && file.backed == 0) {
        backed = !(wish.reads && wish.writes) || wish.little;
        if (backed) file.backing = register_file(request, path);
        backed = backed && file.backing > 0;
    }
    if (backed) {
        ++file.backed;
        info.backing_id = file.backing;
        info.fh = kBacked;
        return true;
    }
    info.keep_cache = file.stale ? 0 : 1;
    info.fh = 0;
    ++file.cached;
    file.pages = true;
    file.stale = false;
    return false;
}

/// A mapping of a backed file that is open for reading and writing changes it unseen, so there it
/// must be; one that is open for writing alone cannot be mapped.
Result<> Passthrough::go_unseen(const overlay::Caller& caller, overlay::NodeId id, const Wish& wish,
                                fuse_file_info& info) {
    info.direct_io = wish.little ? 0 : 1;
    if (wish.little || wish.reads) {
        const auto begun = tree_.begin_unseen(caller, id);
        if (!begun) {
            const bool waits = caller.question != nullptr && *caller.question != 0;
            if (wish.reads || waits) return begun;
            info.direct_io = 1;  // each write fails then, with this reason
            return {};
        }
        info.fh |= kUnseen;
        Shard& s = shard(id);
        const std::lock_guard lock(s.mutex);
        File& file = s.files[id];
        file.stale = file.pages;
    }
    return {};
}

Result<> Passthrough::open(fuse_req_t request, const overlay::Caller& caller, overlay::NodeId id,
                           bool changes, fuse_file_info& info) {
    const int access = info.flags & O_ACCMODE;
    Wish wish;
    wish.reads = access != O_WRONLY;
    wish.writes = access != O_RDONLY;
    const auto path = tree_.backing(caller, id, wish.writes);
    if (!path && path.error().number() != ENOTSUP) return path.error();
    wish.little = path && changes && wish.writes && tree_.costs_little_unseen(id);
    if (!enter(request, id, wish, path ? (*path)->fd.get() : -1, info) || !wish.writes) return {};
    if (!changes) {
        info.direct_io = 1;
        return {};
    }
    auto gone = go_unseen(caller, id, wish, info);
    if (!gone) close(request, id, info);
    return gone;
}

void Passthrough::close(fuse_req_t request, overlay::NodeId id, const fuse_file_info& info) {
    if ((info.fh & kUnseen) != 0) tree_.end_unseen(id, (info.flags & O_ACCMODE) == O_RDWR);
    Shard& s = shard(id);
    const std::lock_guard lock(s.mutex);
    const auto found = s.files.find(id);
    if (found == s.files.end()) return;
    File& file = found->second;
    if ((info.fh & kBacked) == 0) {
        if (file.cached != 0) --file.cached;
    } else if (file.backed != 0 && --file.backed == 0) {
        if (fuse_passthrough_close(request, file.backing) != 0)
            log::warning("mount: the kernel keeps a backing file");
        file.backing = 0;
    }
    if (file.is_idle()) s.files.erase(found);
}

}  // namespace

bool has_passthrough() {
    return true;
}

std::unique_ptr<DataPath> make_passthrough(overlay::Tree& tree) {
    return std::make_unique<Passthrough>(tree);
}

#else

bool has_passthrough() {
    return false;
}

std::unique_ptr<DataPath> make_passthrough(overlay::Tree& /*tree*/) {
    return nullptr;
}

#endif

}  // namespace unwrite::fs
