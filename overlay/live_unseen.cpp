// Files whose bytes the kernel reads and changes by itself (unseen.h).
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/reflink.h"
#include "base/write_hold.h"
#include "base/writers.h"
#include "overlay/live_tree.h"
#include "overlay/locator.h"

namespace unwrite::overlay {

namespace {

/// Copied at an open for writing rather than to see each write: it takes as long as some of them.
constexpr std::uint64_t kLittle = std::uint64_t{128} << 10U;
/// Of those that linger so many are looked at whenever one more begins to.
constexpr std::size_t kLooks = 2;

bool may_run_as_another(const struct stat& st) {
    return (st.st_mode & (S_ISUID | S_ISGID)) != 0;
}

}  // namespace

Result<> LiveTree::allow_unseen() {
    if (write_hold_) return {};  // who is watched already must stay so
    TRY_ASSIGN(const HandlePtr root, objects_.open(objects_.root(), Access::kPath));
    TRY_ASSIGN(const struct stat st, sys::stat_fd(root->fd.get()));
    TRY_ASSIGN(write_hold_, sys::WriteHold::start(root->fd.get()));
    held_device_ = st.st_dev;
    return {};
}

Result<HandlePtr> LiveTree::backing(const Caller& /*caller*/, NodeId id, bool writes) {
    TRY_ASSIGN(const ObjectPtr object, objects_.get(id));
    if (!S_ISREG(object->type())) return Error(EINVAL);
    TRY_ASSIGN(const struct stat st, objects_.stat(object));
    if (!write_hold_ || object->is_inner() || st.st_dev != held_device_) return Error(ENOTSUP);
    TRY_ASSIGN(HandlePtr handle, objects_.open(object, writes ? Access::kWrite : Access::kPath));
    if (handle->access != Access::kWrite) return handle;
    // The kernel keeps it until the last one of the file is closed, and after a kill for as long as
    // it keeps the mount: all that time one for writing would count as somebody who writes to it.
    TRY_ASSIGN(UniqueFd fd, sys::reopen(handle->fd.get(), O_PATH | O_CLOEXEC));
    return std::make_shared<const Handle>(Handle{std::move(fd), Access::kPath});
}

Result<> LiveTree::begin_unseen(const Caller& caller, NodeId id) {
    return turns_.take(origins_.resolve(caller), id, [&](const Who& who) -> Result<> {
        // Until it is among the unseen no interval may begin.
        TRY_ASSIGN(const Gate::Pass pass, gate_.pass());
        TRY_ASSIGN(const ObjectPtr object, objects_.get(id));
        if (!S_ISREG(object->type())) return Error(EINVAL);
        TRY(capture_.cut(who, object, 0));
        const std::lock_guard lock(watch_lock(object->key()));
        TRY(watch(object));
        return begin_use(object, who, caller.uid != 0);
    });
}

/// Before anybody has it open, for who has it open by then is never held.
Result<> LiveTree::watch(const ObjectPtr& object) {
    if (!write_hold_) return {};
    TRY_ASSIGN(const HandlePtr handle, objects_.open(object, Access::kPath));
    return write_hold_->watch(handle->fd.get());
}

Result<> LiveTree::begin_use(const ObjectPtr& object, const Who& who, bool unprivileged) {
    TRY(capture_.begin_unseen(object->key()));
    if (unseen_.begin(object, who, unprivileged)) {
        objects_.retain(object);  // of a mapping that is left the kernel may know no file
    } else {
        capture_.end_unseen(object->key(), -1);
    }
    return {};
}

Result<> LiveTree::take_over_unseen(NodeId id) {
    TRY_ASSIGN(const ObjectPtr object, objects_.get(id));
    ignore(watch(object), "they are not held, then");
    TRY(begin_use(object, Who{}, true));
    unseen_.close(object->key(), true);
    return {};
}

void LiveTree::end_unseen(NodeId id, bool may_be_mapped) {
    const auto object = objects_.get(id);
    if (!object) return;
    // A mapping of what has no name left, and gets none, is nobody's affair.
    const auto last = unseen_.close((*object)->key(), may_be_mapped && !(*object)->is_loose());
    if (!last) return;
    if (last->set_id) clear_set_id(*last);
    if (!last->lingers) {
        end_use(*last);
        return;
    }
    end_lingering(*last);
    std::size_t looks = kLooks;
    for (const Unseen::Use& use : unseen_.lingering(kLooks + 1)) {
        if (use.object != last->object && looks-- > 0) end_lingering(use);
    }
}

void LiveTree::end_use(const Unseen::Use& use) {
    const auto handle = objects_.open(use.object, Access::kPath);
    const int fd = handle ? (*handle)->fd.get() : -1;
    capture_.end_unseen(use.object->key(), fd);
    {
        const std::lock_guard lock(watch_lock(use.object->key()));
        if (write_hold_ && fd >= 0 && !unseen_.has(use.object->key())) write_hold_->unwatch(fd);
    }
    forget(use.object->id(), 1);
}

/// Ends a use when nobody can write to the file any more. What cannot be found out counts as yes.
void LiveTree::end_lingering(const Unseen::Use& use) {
    const auto handle = objects_.reopen_as_path(use.object);  // one of ours for writing would count
    if (!handle) return;
    const auto writers = sys::is_open_for_writing((*handle)->fd.get());
    if (!writers || *writers) return;
    const auto ended = unseen_.end_lingering(use.object->key(), use.begun);
    if (ended) end_use(*ended);
}

void LiveTree::end_lingering() {
    for (const Unseen::Use& use : unseen_.lingering())
        end_lingering(use);
}

Result<> LiveTree::room_for_unseen(const std::string& verb, unsigned copies) const {
    const auto uses = unseen_.all();
    if (uses.empty() || sys::can_share_blocks(capture_.scratch())) return {};
    std::uint64_t bytes = 0;
    for (const Unseen::Use& use : uses) {
        const auto st = objects_.stat(use.object);
        if (st && !use.object->is_loose()) bytes += static_cast<std::uint64_t>(st->st_blocks) * 512;
    }
    TRY_ASSIGN(const struct statvfs room, sys::statvfs_fd(capture_.scratch()));
    const std::uint64_t free = room.f_bavail * room.f_frsize;
    if (bytes <= free / copies) return {};
    return Error(
        ErrorKind::kSystem, ENOSPC,
        verb + ": files that are open for writing must be copied first (" + std::to_string(bytes) +
            " bytes), and the disk has no room",
        "end the programs that have them open, or free some space; `unwrite gc` drops old history");
}

LiveTree::Held::Held(LiveTree& tree) : tree_(tree) {
    const auto uses = tree_.unseen_.all();
    if (uses.empty() || !tree_.write_hold_) return;
    for (const Unseen::Use& use : uses) {
        if (use.object->is_loose()) continue;  // of no state, and without a mark
        const auto handle = tree_.objects_.open(use.object, Access::kPath);
        if (!handle) continue;
        handles_.push_back(*handle);
        fds_.push_back((*handle)->fd.get());
    }
    tree_.write_hold_->hold(fds_);
}

LiveTree::Held::~Held() {
    if (!fds_.empty()) tree_.write_hold_->release(fds_);
}

/// What the kernel does at a write of its own filesystems it leaves to us, and it does not tell of
/// these writes: when there was one after the bits were set, they go now.
void LiveTree::clear_set_id(const Unseen::Use& use) {
    const auto pass = gate_.pass();
    const auto handle = objects_.open(use.object, Access::kWrite);
    const auto st = objects_.stat(use.object);
    if (!pass || !handle || !st) return;
    if (st->st_mtim.tv_sec == use.set_id->tv_sec && st->st_mtim.tv_nsec == use.set_id->tv_nsec)
        return;
    Caller anybody;
    anybody.uid = static_cast<uid_t>(-2);
    const auto cleared = clear_privileges(anybody, use.object, (*handle)->fd.get());
    if (!cleared) log::warning("clear set-id bits: " + cleared.error().message());
}

bool LiveTree::costs_little_unseen(NodeId id) {
    const auto object = objects_.get(id);
    if (!object || !S_ISREG((*object)->type())) return false;
    const auto copied = capture_.copied_with(*object, 0, UINT64_MAX);
    if (!copied || *copied > kLittle) return false;
    const auto st = objects_.stat(*object);
    const auto handle = objects_.open(*object, Access::kPath);
    return st && handle && !may_run_as_another(*st) &&
           !sys::get_xattr((*handle)->fd.get(), "security.capability");
}

// A write that had been let through when its writer was to be held may end a little later, when its
// processor was taken away from it just then; what comes later still is found by a comparison.
Result<> LiveTree::carry_unseen() {
    constexpr auto kEnds = std::chrono::milliseconds(1);
    bool waited = false;
    for (const Unseen::Use& use : unseen_.all()) {
        if (use.image || use.object->is_loose()) continue;
        if (use.open != 0 && !std::exchange(waited, true)) std::this_thread::sleep_for(kEnds);
        const auto handle = objects_.open(use.object, Access::kPath);
        if (!handle && is_absence(handle.error())) continue;  // removed behind the mount
        if (!handle) return handle.error();
        TRY_ASSIGN(Unseen::ImagePtr image, Unseen::copy((*handle)->fd.get(), capture_.scratch()));
        unseen_.carry(use.object->key(), std::move(image));
    }
    return {};
}

Result<bool> LiveTree::is_as_carried(const ObjectKey& key) {
    const Unseen::ImagePtr image = unseen_.image(key);
    const ObjectPtr object = objects_.find(key);
    if (!image || !object) return true;  // whom anybody can write to is known
    TRY_ASSIGN(const HandlePtr live, objects_.open(object, Access::kRead));
    TRY_ASSIGN(const Content now, Content::open(live, key, {}));
    TRY_ASSIGN(const Content then, image->content(key));
    if (now.size() != then.size()) return false;
    return equal_in(now, then, {{0, now.size()}});
}

Result<> LiveTree::adopt_unseen(const LayerPtr& layer) {
    for (const Unseen::Use& use : unseen_.all()) {
        if (!use.image) continue;
        const ObjectKey& key = use.object->key();
        const Unseen::Image image = use.image->after(layer, key);
        TRY_ASSIGN(const HandlePtr bytes, image.whole(key, capture_.scratch()));
        TRY(capture_.adopt(use.whos.front(), use.object, bytes->fd.get(), image.attributes));
    }
    capture_.note_unseen();
    return {};
}

/// The open interval gets what the file was when it began; also one in the attic, for a restore may
/// give it its name back and nothing else.
Result<> LiveTree::capture_unseen(const Unseen::Use& use) {
    if (use.object->is_loose()) return {};
    if (use.image) {
        TRY_ASSIGN(const HandlePtr bytes, use.image->whole(use.object->key(), capture_.scratch()));
        TRY(capture_.adopt(use.whos.front(), use.object, bytes->fd.get(), use.image->attributes));
    }
    for (const Who& who : use.whos)
        TRY(capture_.cut(who.together(), use.object, 0));
    return {};
}

// Nobody waits for the outcome: whoever has the file open goes on writing to it, whatever comes of
// this.
void LiveTree::capture_unseen(Images images) {
    if (gate_.wounded()) return;  // the state that is the head is not reached
    end_lingering();
    const auto uses = unseen_.all();
    if (uses.empty()) return;
    const bool holds_more = !capture_.interval_is_empty() && !capture_.holds_only_unseen();
    for (const Unseen::Use& use : uses) {
        const auto captured = capture_unseen(use);
        if (captured) {
            if (use.image && images == Images::kGo) unseen_.drop_image(use.object->key());
            continue;
        }
        log::error("what is written to '" + objects_.place(*use.object).name +
                   "' by who has it open cannot be taken back to this state: " +
                   captured.error().message());
        // The image is all there is of the state: nobody may add to what was written since.
        if (use.image) gate_.set_wounded(true);
    }
    if (!holds_more) capture_.note_unseen();
}

}  // namespace unwrite::overlay
