// Tree: the live workspace as the mount shows it. One method per kernel request, in terms of node
// ids (the kernel's "inode numbers" of FUSE): it captures what a change would destroy, makes the
// change on the real directory, and keeps ids and places together. It knows no FUSE; tests drive it
// directly.
//
// Thread-safe. Mutations wait at the gate while a checkpoint, restore or commit runs; reads and
// lookups never wait for it longer than one object's change. Errors carry the errno for the kernel.
// Every mutation takes the caller: new objects belong to it (when the daemon is root), and the
// change is booked to its origin.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/object_key.h"
#include "base/syscalls.h"
#include "overlay/exchange.h"
#include "overlay/handle.h"
#include "overlay/waiting.h"

namespace unwrite::overlay {

using NodeId =
    std::uint64_t;  ///< never reused while the kernel or anyone holds it; kRootId is the workspace
inline constexpr NodeId kRootId = 1;
/// Looked up in the root, which does not list it: the repository outside that belongs to the
/// workspace (SessionOptions::annex), where there is one.
inline constexpr const char* kAnnexEntry = ".unwrite-git";

/// Of a file that agents may not write to as they like the kernel has an inode for agents and one
/// for everybody else, each with pages of its own: what an agent stores to a mapping nobody else
/// sees before it was judged. The common one is that of all other files, and of who had the file
/// before it was such a one.
enum class Audience : std::uint8_t { kEveryone, kAgents, kOthers };

struct Caller {
    uid_t uid = 0;
    gid_t gid = 0;
    pid_t pid = 0;  ///< 0: unknown (write-back of a mapping)
    mode_t umask = 0;
    bool listing = false;  ///< looks up what a directory lists, not a name it was given
    /// Where to put the number of the question that the request must wait for (waiting.h); null:
    /// it cannot wait.
    QuestionNumber* question = nullptr;
    /// For a write to a file that is open for appending: it goes to where the file ends, which is
    /// put here. Null: the write says where it goes.
    std::uint64_t* end = nullptr;
    /// Set when a change by this caller took set-id bits or capabilities from a file. May be null.
    bool* clears_privileges = nullptr;
    Audience audience = Audience::kEveryone;  ///< by which inode; tells who stored to a mapping
};

/// An id with its attributes; each Entry returned counts one lookup that forget() gives back.
struct Entry {
    NodeId id = 0;
    struct stat st = {};    ///< st_nlink without the attic's link
    bool personal = false;  ///< another caller may get another answer: not to be remembered
    Audience audience = Audience::kEveryone;  ///< which inode it is for this caller
    /// Nothing changes the name, or the attributes, without the kernel being told: they may be
    /// remembered long.
    bool keeps_name = false;
    bool keeps_attributes = false;
};

/// What setattr is to change; only the engaged members.
struct AttributeChange {
    std::optional<mode_t> mode;
    std::optional<uid_t> uid;
    std::optional<gid_t> gid;
    std::optional<std::uint64_t> size;
    /// UTIME_OMIT / UTIME_NOW in tv_nsec as in utimensat(2); both OMIT when times are not changed.
    struct timespec atime = {0, UTIME_OMIT};
    struct timespec mtime = {0, UTIME_OMIT};
    bool kill_privileges = false;  ///< clear setuid/setgid/capability (with size)
};

struct ListedEntry {
    std::string name;
    std::uint64_t ino = 0;
    unsigned char type = 0;
    std::int64_t next = 0;  ///< the offset to continue after this entry
};

/// What others changed behind the mount, in the real directory.
struct ChangedBehind {
    bool names = false;           ///< some came or went
    std::vector<NodeId> objects;  ///< attributes or content changed
    bool empty() const { return !names && objects.empty(); }
};

/// What a restore changed; the kernel's caches must forget it. Ids are live ids of objects that
/// anyone looked up.
struct Restored {
    bool names = false;           ///< any name changed: forget all names
    std::vector<NodeId> objects;  ///< attributes, content or listing changed; each once
    struct NameChange {
        NodeId parent = 0;        ///< 0 when nobody looked it up
        std::string parent_path;  ///< relative path of the parent directory in the restored tree
        std::string name;
        bool existed = false;
        bool exists = false;
        bool directory = false;
    };
    std::vector<NameChange> changed_names;  ///< for watchers; may be cut at some thousands
    std::vector<std::string>
        changed_paths;  ///< content/attributes changed; for watchers; may be cut
};

/// Implemented by whoever serves the tree to a kernel.
class KernelCaches {
 public:
    virtual ~KernelCaches() = default;
    /// Called with the gate open and no lock held, before a checkpoint or restore closes it: makes
    /// the kernel write back dirty pages of shared mappings, so that what was stored before belongs
    /// before.
    virtual void write_back() = 0;
    /// Called with the gate still CLOSED, no lock of the tree held: cheap, must not wait for any
    /// request (epoch, inval_inode).
    virtual void forget(const Restored& restored) = 0;
    /// Called after the gate is open again: events for watchers.
    virtual void announce(const Restored& restored) = 0;
    /// Called with the gate open and no lock held, after a file was exchanged or removed below the
    /// kernel (Tree::exchange()): it forgets what changed, and watchers are told. Does not wait.
    virtual void exchanged(const Restored& changed) = 0;
};

/// Whether reading moves a file's access time, as the real filesystem does it (relatime).
enum class AccessTime { kMoves, kStays };

class Tree {
 public:
    virtual ~Tree() = default;

    /// Not owned; null (the default) when nobody caches. Set before serving.
    virtual void set_caches(KernelCaches* caches) = 0;

    /// From here on changes behind the mount are noticed; the descriptor is readable when there may
    /// be some. Once, before the first request. Errors as ChangeWatch::start(): without, nothing is
    /// kept long.
    virtual Result<int> notice_behind() = 0;
    /// What changed since the last call, or some of it: nothing when nothing is left.
    virtual ChangedBehind changed_behind() = 0;
    /// The regular files that the kernel may know.
    virtual std::vector<NodeId> files() const = 0;
    /// Whether what is answered about this directory's names from now on may be remembered until
    /// changed_behind(), or KernelCaches::forget(), tells of a change. Asked before the answer is
    /// looked for: it begins to watch the directory.
    virtual bool keeps_names(NodeId directory) = 0;
    /// The same of the answer that there is no such name. One that is hidden from somebody is not
    /// there.
    virtual bool keeps_absence(NodeId directory) = 0;
    /// The same of an object's attributes.
    virtual bool keeps_attributes(NodeId id) = 0;

    /// ENOENT when absent (also the state directory).
    virtual Result<Entry> lookup(const Caller& caller, NodeId parent, std::string_view name) = 0;
    virtual void forget(NodeId id, std::uint64_t lookups) = 0;
    virtual Result<struct stat> getattr(NodeId id) = 0;
    virtual Result<struct stat> setattr(const Caller& caller, NodeId id,
                                        const AttributeChange& change) = 0;
    virtual Result<std::string> readlink(NodeId id) = 0;

    /// `mode` as the kernel gave it; the umask of the caller is applied here (or the parent's
    /// default ACL instead).
    virtual Result<Entry> mknod(const Caller& caller, NodeId parent, std::string_view name,
                                mode_t mode, dev_t device) = 0;
    virtual Result<Entry> mkdir(const Caller& caller, NodeId parent, std::string_view name,
                                mode_t mode) = 0;
    virtual Result<Entry> symlink(const Caller& caller, NodeId parent, std::string_view name,
                                  std::string_view target) = 0;
    /// Makes a regular file, whose maker may write to it whatever its mode.
    virtual Result<Entry> create(const Caller& caller, NodeId parent, std::string_view name,
                                 mode_t mode) = 0;
    virtual Result<Entry> tmpfile(const Caller& caller, NodeId parent,
                                  mode_t mode) = 0;  ///< O_TMPFILE
    virtual Result<> unlink(const Caller& caller, NodeId parent, std::string_view name) = 0;
    virtual Result<> rmdir(const Caller& caller, NodeId parent, std::string_view name) = 0;
    /// flags: 0, RENAME_NOREPLACE, RENAME_EXCHANGE; others EINVAL.
    virtual Result<> rename(const Caller& caller, NodeId parent, std::string_view name,
                            NodeId to_parent, std::string_view to_name, unsigned flags) = 0;
    virtual Result<Entry> link(const Caller& caller, NodeId id, NodeId to_parent,
                               std::string_view to_name) = 0;
    /// The directory in which tmpfile() made it. EINVAL when it has, or had, a name.
    virtual Result<NodeId> made_in(NodeId nameless) = 0;
    /// `made`, which tmpfile() made, takes the place of the file `name` in made_in(made) if that
    /// holds what is expected (exchange.h), and gets its owner, mode and attributes; or that file
    /// gets the bytes of `made`, where it must stay and `expected` allows it. Returns the id
    /// that the kernel knows the name by: it is the new file from now on, for whoever has it open
    /// as well. ECANCELED when something else stands there; EPERM in a sticky directory.
    virtual Result<NodeId> exchange(const Caller& caller, NodeId made, std::string_view name,
                                    const ExpectedBytes& expected, std::optional<mode_t> mode) = 0;
    /// Removes that file, on the same condition.
    virtual Result<> remove_expected(const Caller& caller, NodeId made, std::string_view name,
                                     const ExpectedBytes& expected) = 0;

    /// Makes ready, once and before serving, what backing() and begin_unseen() need: who writes
    /// unseen must be held while a state is restored (base/write_hold.h, errors as there).
    virtual Result<> allow_unseen() = 0;
    /// A descriptor of the object that the kernel may open it by, for reading or as well for
    /// writing: verified, and itself never open for writing. ENOTSUP where its writers cannot be
    /// held; EACCES when the caller may not read it; what the real file's opening for writing fails
    /// with.
    virtual Result<HandlePtr> backing(const Caller& caller, NodeId id, bool writes) = 0;
    /// From here to end_unseen(), which gives one call back, the object's bytes may be changed
    /// without a request: what they are is captured first, and at the beginning of each interval.
    /// Errors as of write(). Where such a beginning cannot be captured (no room), the log says so.
    virtual Result<> begin_unseen(const Caller& caller, NodeId id) = 0;
    /// `may_be_mapped`: the file was open for reading and writing, so that a mapping may be left.
    /// Until the kernel says that there is none, it goes on as if nothing had ended.
    virtual void end_unseen(NodeId id, bool may_be_mapped) = 0;
    /// Whether begin_unseen() has little to copy now: the object was made or captured whole in this
    /// interval, or is small.
    virtual bool costs_little_unseen(NodeId id) = 0;

    /// kStays: the reader opened with O_NOATIME, and has the right to.
    virtual Result<std::size_t> read(NodeId id, sys::Bytes out, std::uint64_t offset,
                                     AccessTime time = AccessTime::kMoves) = 0;
    /// `kill_privileges`: the kernel asks to clear setuid/setgid (FUSE_WRITE_KILL_SUIDGID).
    virtual Result<std::size_t> write(const Caller& caller, NodeId id, sys::ConstBytes data,
                                      std::uint64_t offset, bool kill_privileges) = 0;
    virtual Result<> fsync(NodeId id, bool data_only) = 0;
    virtual Result<> fallocate(const Caller& caller, NodeId id, int mode, std::uint64_t offset,
                               std::uint64_t length) = 0;
    virtual Result<std::size_t> copy_file_range(const Caller& caller, NodeId from,
                                                std::uint64_t from_offset, NodeId to,
                                                std::uint64_t to_offset, std::size_t length) = 0;
    virtual Result<std::uint64_t> lseek(NodeId id, std::uint64_t offset,
                                        int whence) = 0;  ///< SEEK_DATA / SEEK_HOLE

    /// Entries from `offset` on (0: start), "." and ".." included, the state directory left out;
    /// about `limit` of them; empty at the end.
    virtual Result<std::vector<ListedEntry>> read_directory(NodeId id, std::int64_t offset,
                                                            std::size_t limit) = 0;
    virtual Result<> fsync_directory(NodeId id) = 0;
    virtual Result<struct statvfs> statfs(NodeId id) = 0;

    virtual Result<std::string> get_xattr(NodeId id, const std::string& name) = 0;
    virtual Result<std::vector<std::string>> list_xattrs(NodeId id) = 0;
    virtual Result<> set_xattr(const Caller& caller, NodeId id, const std::string& name,
                               std::string_view value, int flags) = 0;
    virtual Result<> remove_xattr(const Caller& caller, NodeId id, const std::string& name) = 0;
};

}  // namespace unwrite::overlay
