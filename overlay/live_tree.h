// LiveTree: the Tree over a real directory (see tree.h). Each mutation: pass the gate, lock the
// names it changes, capture, change, remember places. live_names.cpp makes and removes names,
// live_rename.cpp moves them, live_exchange.cpp exchanges files, live_files.cpp has content,
// live_unseen.cpp content that the kernel changes by itself, live_attributes.cpp the rest.
#pragma once

#include "base/write_hold.h"
#include "overlay/capture.h"
#include "overlay/flusher.h"
#include "overlay/gate.h"
#include "overlay/janitor.h"
#include "overlay/lookout.h"
#include "overlay/tree.h"
#include "overlay/turns.h"
#include "overlay/unseen.h"

namespace unwrite::overlay {

class LiveTree final : public Tree {
 public:
    LiveTree(Objects& objects, Capture& capture, Origins& origins, Gate& gate, Janitor& janitor,
             Turns::Divide divide);

    void set_caches(KernelCaches* caches) override { caches_.store(caches); }
    KernelCaches* caches() const { return caches_.load(); }
    Result<int> notice_behind() override;
    ChangedBehind changed_behind() override { return lookout_->take(); }
    std::vector<NodeId> files() const override { return objects_.ids(S_IFREG); }
    bool keeps_names(NodeId directory) override;
    bool keeps_absence(NodeId directory) override { return keeps_names(directory); }
    bool keeps_attributes(NodeId id) override;

    Result<Entry> lookup(const Caller& caller, NodeId parent, std::string_view name) override;
    void forget(NodeId id, std::uint64_t lookups) override;
    Result<struct stat> getattr(NodeId id) override;
    Result<struct stat> setattr(const Caller& caller, NodeId id,
                                const AttributeChange& change) override;
    Result<std::string> readlink(NodeId id) override;
    Result<Entry> mknod(const Caller& caller, NodeId parent, std::string_view name, mode_t mode,
                        dev_t device) override;
    Result<Entry> mkdir(const Caller& caller, NodeId parent, std::string_view name,
                        mode_t mode) override;
    Result<Entry> symlink(const Caller& caller, NodeId parent, std::string_view name,
                          std::string_view target) override;
    Result<Entry> create(const Caller& caller, NodeId parent, std::string_view name,
                         mode_t mode) override;
    Result<Entry> tmpfile(const Caller& caller, NodeId parent, mode_t mode) override;
    Result<> unlink(const Caller& caller, NodeId parent, std::string_view name) override;
    Result<> rmdir(const Caller& caller, NodeId parent, std::string_view name) override;
    Result<> rename(const Caller& caller, NodeId parent, std::string_view name, NodeId to_parent,
                    std::string_view to_name, unsigned flags) override;
    Result<Entry> link(const Caller& caller, NodeId id, NodeId to_parent,
                       std::string_view to_name) override;
    Result<NodeId> made_in(NodeId nameless) override;
    Result<NodeId> exchange(const Caller& caller, NodeId made, std::string_view name,
                            const ExpectedBytes& expected, std::optional<mode_t> mode) override;
    Result<> remove_expected(const Caller& caller, NodeId made, std::string_view name,
                             const ExpectedBytes& expected) override;
    Result<> allow_unseen() override;
    Result<HandlePtr> backing(const Caller& caller, NodeId id, bool writes) override;
    Result<> begin_unseen(const Caller& caller, NodeId id) override;
    void end_unseen(NodeId id, bool may_be_mapped) override;
    bool costs_little_unseen(NodeId id) override;

    // What is changed unseen, for an operation that has the gate closed.

    /// From here on the files that are changed unseen are carried: what they hold at the head's
    /// state is an image, not the file. Changes nothing. ENOSPC.
    Result<> carry_unseen();
    /// False when it was written to since it is carried.
    Result<bool> is_as_carried(const ObjectKey& key);
    /// The open interval, a new one, gets what is carried as it is when `layer` is crossed. ENOSPC.
    Result<> adopt_unseen(const LayerPtr& layer);
    Unseen& unseen() { return unseen_; }
    /// The open interval gets what was captured unseen or is carried, which need not be carried on
    /// then. Does nothing while a restore waits for recovery.
    enum class Images { kGo, kStay };
    void capture_unseen(Images images = Images::kGo);
    /// Looks whether mappings that might be left are gone.
    void end_lingering();
    /// A former life left somebody who can still write to the object: it is used unseen again,
    /// until that is over.
    Result<> take_over_unseen(NodeId id);
    /// ENOSPC when there is no room to copy so many times all that may be changed unseen.
    Result<> room_for_unseen(const std::string& verb, unsigned copies) const;
    /// While it lives, other processes wait that read or write such a file. Not who stores to a
    /// mapping, and not where the kernel cannot do it (base/write_hold.h).
    class Held {
     public:
        explicit Held(LiveTree& tree);
        ~Held();
        Held(const Held&) = delete;
        Held& operator=(const Held&) = delete;

     private:
        LiveTree& tree_;
        std::vector<HandlePtr> handles_;
        std::vector<int> fds_;
    };

    Result<std::size_t> read(NodeId id, sys::Bytes out, std::uint64_t offset,
                             AccessTime time) override;
    Result<std::size_t> write(const Caller& caller, NodeId id, sys::ConstBytes data,
                              std::uint64_t offset, bool kill_privileges) override;
    Result<> fsync(NodeId id, bool data_only) override;
    Result<> fallocate(const Caller& caller, NodeId id, int mode, std::uint64_t offset,
                       std::uint64_t length) override;
    Result<std::size_t> copy_file_range(const Caller& caller, NodeId from,
                                        std::uint64_t from_offset, NodeId to,
                                        std::uint64_t to_offset, std::size_t length) override;
    Result<std::uint64_t> lseek(NodeId id, std::uint64_t offset, int whence) override;
    Result<std::vector<ListedEntry>> read_directory(NodeId id, std::int64_t offset,
                                                    std::size_t limit) override;
    Result<> fsync_directory(NodeId id) override;
    Result<struct statvfs> statfs(NodeId id) override;
    Result<std::string> get_xattr(NodeId id, const std::string& name) override;
    Result<std::vector<std::string>> list_xattrs(NodeId id) override;
    Result<> set_xattr(const Caller& caller, NodeId id, const std::string& name,
                       std::string_view value, int flags) override;
    Result<> remove_xattr(const Caller& caller, NodeId id, const std::string& name) override;

 private:
    /// Makes one object at (directory fd, name) with a mode that has the umask applied.
    using Maker = std::function<Result<>(int directory, const std::string& name, mode_t mode)>;
    struct Side;  // one side of a rename
    struct Swap;  // of an exchange

    /// For Turns: a name.
    static std::size_t thing_of(NodeId parent, std::string_view name) {
        return std::hash<std::string_view>()(name) ^ parent;
    }
    bool is_reserved(const ObjectPtr& parent, std::string_view name) const;
    bool is_removed(const ObjectPtr& directory) const;
    /// The parent's descriptor, when names can be made in it (ENOENT when it is removed already).
    Result<HandlePtr> open_parent(const ObjectPtr& parent);
    Result<std::optional<Standing>> standing_at(int directory, const std::string& name) const;
    Result<Entry> make(const Caller& caller, NodeId parent, std::string_view name, mode_t mode,
                       const Maker& maker);
    Result<Entry> make_locked(const Caller& caller, const ObjectPtr& parent,
                              const std::string& name, mode_t mode, const Maker& maker);
    Result<Entry> enter(const ObjectPtr& parent, const std::string& name, int directory,
                        const sys::StatX& x, bool kept);
    bool is_watched(const ObjectPtr& directory);
    /// When it is the last name of an object that nothing needs, `take` takes it, and the object
    /// lives on only for those who have it open: true. False when the attic must have it first.
    Result<bool> end_created(const Standing& standing, const std::function<Result<>()>& take);
    /// Before a directory at (parent, name) leaves for another directory; of a file nothing.
    Result<> capture_moving(const Who& who, const ObjectPtr& parent, const std::string& name,
                            const Standing& standing);
    Result<> remove_name(const Who& who, const ObjectPtr& parent, const HandlePtr& directory,
                         const std::string& name, const Standing& standing);
    Result<> check_rename(const Side& from, const Side& to, unsigned flags) const;
    Result<> rename_as(const Who& who, Side& from, Side& to, unsigned flags);
    Result<> rename_locked(const Who& who, Side& from, Side& to, unsigned flags);
    void lost_inner(const ObjectPtr& object, HandlePtr kept, const ObjectPtr& parent,
                    const std::string& name);
    Result<> remove_inner(const ObjectPtr& parent, const HandlePtr& directory,
                          const std::string& name, const Standing& standing);
    Result<> rename_inner(const Side& from, const Side& to, unsigned flags);
    /// After a change of its bytes.
    void wrote(const ObjectPtr& object, int fd);
    Result<> move_over(Side& from, Side& to, unsigned flags);
    Result<> placed(Side& from, Side& to, unsigned flags);
    void forget_nameless(NodeId id);
    Result<ObjectPtr> directory_of(const ObjectPtr& nameless) const;
    template <class Change>
    Result<> at_expected(const Caller& caller, NodeId made, std::string_view name,
                         const ExpectedBytes& expected, const Change& change);
    Result<> open_swap(const Caller& caller, Swap& swap, const ExpectedBytes& expected) const;
    Result<NodeId> exchange_known(const Caller& caller, NodeId made, std::string_view name,
                                  const ExpectedBytes& expected, std::optional<mode_t> mode);
    Result<NodeId> exchange_locked(const Who& who, Swap& swap);
    bool can_overwrite(const Caller& caller, const Swap& swap, std::optional<mode_t> mode) const;
    Result<NodeId> overwrite_locked(const Caller& caller, const Who& who, Swap& swap,
                                    std::optional<mode_t> mode);
    /// The name goes from the old file, which the journal keeps if it needs it, to the new one.
    Result<> put_over(const Swap& swap);
    Result<struct stat> setattr_as(const Who& who, const Caller& caller, NodeId id,
                                   const AttributeChange& change);
    /// Captures, then runs `change` on the object's descriptor.
    Result<> change_xattr(const Caller& caller, NodeId id, const std::string& name,
                          const std::function<Result<>(int fd)>& change);
    Result<> change_attributes(int fd, const AttributeChange& change);
    Result<> begin_use(const ObjectPtr& object, const Who& who, bool unprivileged);
    void end_use(const Unseen::Use& use);
    void end_lingering(const Unseen::Use& use);
    Result<> watch(const ObjectPtr& object);
    std::mutex& watch_lock(const ObjectKey& key) {
        return watch_locks_[std::hash<ObjectKey>()(key) % watch_locks_.size()];
    }
    Result<> capture_unseen(const Unseen::Use& use);
    void clear_set_id(const Unseen::Use& use);
    Result<> clear_privileges(const Caller& caller, const ObjectPtr& object, int fd);

    Objects& objects_;
    Capture& capture_;
    Origins& origins_;
    Gate& gate_;
    Janitor& janitor_;
    Turns turns_;
    Flusher flusher_;
    Unseen unseen_;
    std::unique_ptr<sys::WriteHold> write_hold_;  // null: nobody can be held; set before serving
    dev_t held_device_ = 0;                       // whose files can be
    // A file is watched when it is used unseen, and the other way round.
    std::array<std::mutex, 64> watch_locks_;
    // The directories of files without a name, for exchange().
    mutable std::mutex nameless_mutex_;
    std::unordered_map<NodeId, ObjectPtr> nameless_;  // guarded by nameless_mutex_
    std::atomic<bool> any_nameless_{false};           // ever; spares forget() the lock
    std::unique_ptr<Lookout> lookout_;  // null: nobody keeps anything long; set before serving
    std::atomic<KernelCaches*> caches_{nullptr};
};

}  // namespace unwrite::overlay
