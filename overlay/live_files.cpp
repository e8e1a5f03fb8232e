#include <dirent.h>
#include <linux/falloc.h>

#include <cerrno>
#include <limits>

#include "base/crash_point.h"
#include "base/lend_mode.h"
#include "journal/state_dir.h"
#include "overlay/act_as.h"
#include "overlay/live_tree.h"

namespace unwrite::overlay {

namespace {

// Offsets handed to the kernel for "." and ".."; no filesystem uses them for a real entry.
constexpr std::int64_t kAfterDot = std::numeric_limits<std::int64_t>::max() - 2;
constexpr std::int64_t kAfterDotDot = std::numeric_limits<std::int64_t>::max() - 1;

constexpr int kShifting = FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE;
constexpr int kZeroing = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE;

Result<> require_regular(const ObjectPtr& object) {
    if (object->is_directory()) return Error(EISDIR);
    if (!S_ISREG(object->type())) return Error(EINVAL);
    return {};
}

}  // namespace

Result<std::size_t> LiveTree::read(NodeId id, sys::Bytes out, std::uint64_t offset,
                                   AccessTime time) {
    TRY_ASSIGN(const ObjectPtr object, objects_.get(id));
    TRY(require_regular(object));
    TRY_ASSIGN(const HandlePtr handle, objects_.open(object, Access::kRead));
    if (time == AccessTime::kMoves) return sys::read_at(handle->fd.get(), out, offset);
    // The descriptor that others read by moves it, so this reader gets one of its own.
    TRY_ASSIGN(const UniqueFd unseen, sys::open_unseen(handle->fd.get(), O_RDONLY));
    return sys::read_at(unseen.get(), out, offset);
}

// As the kernel does it for its own filesystems: set-group-id stays only as the mark of mandatory
// locking (without the group's right to execute), and only for members of the group.
Result<> LiveTree::clear_privileges(const Caller& caller, const ObjectPtr& object, int fd) {
    TRY_ASSIGN(const struct stat st, objects_.stat(object));
    mode_t mode = st.st_mode & 07777U;
    mode &= ~static_cast<mode_t>(S_ISUID);
    const bool sets_group = (mode & S_ISGID) != 0;
    if (sets_group && ((mode & S_IXGRP) != 0 || !is_in_group(caller, st.st_gid)))
        mode &= ~static_cast<mode_t>(S_ISGID);
    const bool has_capability = sys::get_xattr(fd, "security.capability").ok();
    if (mode == (st.st_mode & 07777U) && !has_capability) return {};
    const Capture::Touching touching(capture_, object);
    TRY(capture_.attributes(origins_.resolve(caller).together(), object));
    if (has_capability) TRY(sys::remove_xattr(fd, "security.capability"));
    const sys::ModesAtRest own;
    if (mode != (st.st_mode & 07777U)) TRY(sys::change_mode(fd, mode));
    if (caller.clears_privileges != nullptr) *caller.clears_privileges = true;
    return {};
}

Result<std::size_t> LiveTree::write(const Caller& caller, NodeId id, sys::ConstBytes data,
                                    std::uint64_t offset, bool kill_privileges) {
    return turns_.take(origins_.resolve(caller), id, [&](const Who& who) -> Result<std::size_t> {
        TRY_ASSIGN(const Gate::Pass pass, gate_.pass());
        TRY_ASSIGN(const ObjectPtr object, objects_.get(id));
        TRY(require_regular(object));
        TRY_ASSIGN(const HandlePtr handle, objects_.open(object, Access::kWrite));
        const int fd = handle->fd.get();
        std::uint64_t at = offset;
        if (caller.end != nullptr) {
            TRY_ASSIGN(const struct stat st, sys::stat_fd(fd));
            *caller.end = at = static_cast<std::uint64_t>(st.st_size);
        }
        TRY(capture_.content(who, object, at, data.size()));
        if (kill_privileges) TRY(clear_privileges(caller, object, fd));
        crash_point("tree.write.before");
        auto written = sys::write_some_at(fd, data, at);
        crash_point("tree.write.after");
        wrote(object, fd);
        return written;
    });
}

Result<> LiveTree::fsync(NodeId id, bool data_only) {
    TRY_ASSIGN(const ObjectPtr object, objects_.get(id));
    TRY(require_regular(object));
    TRY_ASSIGN(const HandlePtr handle, objects_.open(object, Access::kRead));
    if (capture_.must_sync_before(object)) {
        // A wounded session captures nothing any more.
        const auto pass = gate_.pass();
        if (pass) TRY(capture_.sync_before(object));
    }
    return data_only ? sys::sync_data(handle->fd.get()) : sys::sync(handle->fd.get());
}

Result<> LiveTree::fallocate(const Caller& caller, NodeId id, int mode, std::uint64_t offset,
                             std::uint64_t length) {
    return turns_.take(origins_.resolve(caller), id, [&](const Who& who) -> Result<> {
        TRY_ASSIGN(const Gate::Pass pass, gate_.pass());
        TRY_ASSIGN(const ObjectPtr object, objects_.get(id));
        TRY(require_regular(object));
        if (length == 0 || offset > static_cast<std::uint64_t>(INT64_MAX) - length)
            return Error(EINVAL);
        // Collapse and insert move everything behind; plain allocation changes the size at most.
        if ((mode & kShifting) != 0) {
            TRY(capture_.cut(who, object, offset));
        } else {
            TRY(capture_.content(who, object, offset, (mode & kZeroing) != 0 ? length : 0));
        }
        TRY_ASSIGN(const HandlePtr handle, objects_.open(object, Access::kWrite));
        // The kernel asks for it at a write or a truncation; here it is for us to see.
        if (caller.uid != 0) TRY(clear_privileges(caller, object, handle->fd.get()));
        crash_point("tree.fallocate.before");
        const Result<> done = sys::fallocate(handle->fd.get(), mode, offset, length);
        wrote(object, handle->fd.get());
        return done;
    });
}

Result<std::size_t> LiveTree::copy_file_range(const Caller& caller, NodeId from,
                                              std::uint64_t from_offset, NodeId to,
                                              std::uint64_t to_offset, std::size_t length) {
    return turns_.take(origins_.resolve(caller), to, [&](const Who& who) -> Result<std::size_t> {
        TRY_ASSIGN(const Gate::Pass pass, gate_.pass());
        TRY_ASSIGN(const ObjectPtr source, objects_.get(from));
        TRY_ASSIGN(const ObjectPtr target, objects_.get(to));
        TRY(require_regular(source));
        TRY(require_regular(target));
        TRY(capture_.content(who, target, to_offset, length));
        TRY_ASSIGN(const HandlePtr in, objects_.open(source, Access::kRead));
        TRY_ASSIGN(const HandlePtr out, objects_.open(target, Access::kWrite));
        if (caller.uid != 0) TRY(clear_privileges(caller, target, out->fd.get()));
        crash_point("tree.copy.before");
        auto copied = sys::copy_range(in->fd.get(), from_offset, out->fd.get(), to_offset, length);
        wrote(target, out->fd.get());
        return copied;
    });
}

Result<std::uint64_t> LiveTree::lseek(NodeId id, std::uint64_t offset, int whence) {
    TRY_ASSIGN(const ObjectPtr object, objects_.get(id));
    TRY(require_regular(object));
    TRY_ASSIGN(const HandlePtr handle, objects_.open(object, Access::kRead));
    return sys::seek(handle->fd.get(), offset, whence);
}

Result<std::vector<ListedEntry>> LiveTree::read_directory(NodeId id, std::int64_t offset,
                                                          std::size_t limit) {
    TRY_ASSIGN(const ObjectPtr object, objects_.get(id));
    if (!object->is_directory()) return Error(ENOTDIR);
    TRY_ASSIGN(const HandlePtr handle, objects_.open(object, Access::kPath));
    std::vector<ListedEntry> entries;
    if (offset == 0) entries.push_back({".", object->key().ino, DT_DIR, kAfterDot});
    if (offset == 0 || offset == kAfterDot) {
        const ObjectPtr above = objects_.place(*object).parent;
        entries.push_back({"..", (above ? above : object)->key().ino, DT_DIR, kAfterDotDot});
    }
    // A fresh descriptor each time: its offset is this request's alone.
    TRY_ASSIGN(const UniqueFd fd, sys::open_listing(handle->fd.get()));
    const std::int64_t real = offset == kAfterDot || offset == kAfterDotDot ? 0 : offset;
    TRY_ASSIGN(auto listed, sys::read_directory(fd.get(), real, limit));
    for (auto& entry : listed) {
        if (is_reserved(object, entry.name)) {
            // Alone on a page it must not look like the end of the directory.
            if (listed.size() == 1 && entries.empty())
                return read_directory(id, entry.offset, limit);
            continue;
        }
        entries.push_back({std::move(entry.name), entry.ino, entry.type, entry.offset});
    }
    return entries;
}

Result<> LiveTree::fsync_directory(NodeId id) {
    TRY_ASSIGN(const ObjectPtr object, objects_.get(id));
    if (!object->is_directory()) return Error(ENOTDIR);
    TRY_ASSIGN(const HandlePtr handle, objects_.open(object, Access::kPath));
    TRY_ASSIGN(const UniqueFd fd, sys::open_listing(handle->fd.get()));
    return sys::sync(fd.get());
}

Result<struct statvfs> LiveTree::statfs(NodeId id) {
    TRY_ASSIGN(const ObjectPtr object, objects_.get(id));
    TRY_ASSIGN(const HandlePtr handle, objects_.open(objects_.root(), Access::kPath));
    return sys::statvfs_fd(handle->fd.get());
}

}  // namespace unwrite::overlay
