// PolicedTree: a Tree behind a policy. Each request is judged by the names it concerns and by the
// object it reaches before the tree below does anything; a refused request changes nothing. A
// verdict follows the object: what was met under a protected name stays protected under every other
// name while anyone knows it, and hard links that were there before are found by a walk.
//
// How reading is refused without seeing opens (docs/security.md): the kernel is told not to
// remember names whose answer depends on the caller, so each open of one asks for the name, and the
// answer to an agent is EACCES. Writing is refused where it happens; besides, what nobody may write
// shows as read-only, so that opening it for writing fails for all whom permission bits bind.
//
// Stores through a mapping arrive without their maker. Under a rule for agents alone they are the
// user's unless an agent looked the file up while runs were going on: nobody maps a file without
// having looked it up.
//
// What needs a person's leave is asked for before the tree below does anything, too: the request is
// refused, or waits (waiting.h) and is made again when there is an answer.
//
//   policed_tree.cpp      the requests, and which names and objects the rules are about
//   policed_content.cpp   the requests that change content, and the size cap
//   policed_losses.cpp    what the breaker counts
//   policed_verdicts.cpp  what the rules mean for a caller: allowed, refused, asked about
//   policed_moves.cpp     renames
//   policed_plants.cpp    which changes a rule asks about: of what was there, and by content
//
// Thread-safe, as Tree. EACCES: refused (D13); ENOENT: hidden.
#pragma once

#include <array>
#include <atomic>
#include <cerrno>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <unordered_map>

#include "overlay/auditor.h"
#include "overlay/beginning.h"
#include "overlay/breaker.h"
#include "overlay/capture.h"
#include "overlay/objects.h"
#include "overlay/origins.h"
#include "overlay/questions.h"
#include "overlay/reserve.h"
#include "overlay/rulebook.h"
#include "overlay/tracked.h"
#include "overlay/walk.h"

namespace unwrite::overlay {

class PolicedTree final : public Tree {
 public:
    PolicedTree(Tree& tree, Objects& objects, Origins& origins, const Capture& capture,
                Auditor& auditor, Questions& questions, std::shared_ptr<const Policy> policy,
                const SizeCap& cap, const BreakerLimits& limits, const Reserve& reserve,
                Beginning& beginning);

    Rulebook& rulebook() { return rulebook_; }
    /// What was made since then (ns since 1970) is the task's own.
    void begin_task(std::int64_t now) {
        task_began_ns_ = now;
        beginning_.forget();
        tracked_.forget();
        breaker_.begin();
    }
    /// An object that has, or had before the mount, a name that agents may not read.
    bool is_kept_from_agents(const ObjectKey& key) const {
        const Refusals refused = alias_mark(key).agent;
        return refused.read || refused.hidden;
    }
    /// Whether agents may read the file though a rule keeps it from them, as it is a file that git
    /// tracked when the task began, with the bytes of that time (decision 0082). `bytes` is called
    /// where only they are left to decide.
    bool spares_tracked(const std::string& path, const Tracked::Bytes& bytes);
    /// Of a regular file (O_PATH is enough); nothing when it is too large to be judged by its
    /// bytes.
    static std::optional<std::string> bytes_in(int fd);
    /// What a person is asked about an edit that a rule asks about by what will be there; nothing
    /// when it is not about this one. `parent` is the directory. As when the edit is made.
    struct EditMatter {
        std::string rule;
        std::string detail;
        std::string topic;
    };
    std::optional<EditMatter> matter_of_edit(const Rule& rule, NodeId parent,
                                             const EditAttempt& attempt) const;
    /// After the rulebook changed: the kernel forgets names and attributes. Without a lock of the
    /// tree.
    void rules_changed();
    /// Before a run's processes stop being agents: what they stored through mappings is still
    /// judged as theirs. Without a lock of the tree.
    void run_ends();

    void set_caches(KernelCaches* caches) override {
        caches_ = caches;
        tree_.set_caches(caches);
    }
    Result<int> notice_behind() override { return tree_.notice_behind(); }
    ChangedBehind changed_behind() override { return tree_.changed_behind(); }
    std::vector<NodeId> files() const override { return tree_.files(); }
    bool keeps_names(NodeId directory) override;
    bool keeps_absence(NodeId directory) override;
    bool keeps_attributes(NodeId id) override;
    Result<Entry> lookup(const Caller& caller, NodeId parent, std::string_view name) override;
    void forget(NodeId id, std::uint64_t lookups) override;
    Result<struct stat> getattr(NodeId id) override;
    Result<struct stat> setattr(const Caller& caller, NodeId id,
                                const AttributeChange& change) override;
    Result<std::string> readlink(NodeId id) override { return tree_.readlink(id); }
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
    Result<NodeId> made_in(NodeId nameless) override { return tree_.made_in(nameless); }
    Result<NodeId> exchange(const Caller& caller, NodeId made, std::string_view name,
                            const ExpectedBytes& expected, std::optional<mode_t> mode) override;
    Result<> remove_expected(const Caller& caller, NodeId made, std::string_view name,
                             const ExpectedBytes& expected) override;
    Result<> allow_unseen() override { return tree_.allow_unseen(); }
    Result<HandlePtr> backing(const Caller& caller, NodeId id, bool writes) override;
    Result<> begin_unseen(const Caller& caller, NodeId id) override;
    void end_unseen(NodeId id, bool may_be_mapped) override { tree_.end_unseen(id, may_be_mapped); }
    bool costs_little_unseen(NodeId id) override { return tree_.costs_little_unseen(id); }
    Result<std::size_t> read(NodeId id, sys::Bytes out, std::uint64_t offset,
                             AccessTime time) override {
        return tree_.read(id, out, offset, time);
    }
    Result<std::size_t> write(const Caller& caller, NodeId id, sys::ConstBytes data,
                              std::uint64_t offset, bool kill_privileges) override;
    Result<> fsync(NodeId id, bool data_only) override { return tree_.fsync(id, data_only); }
    Result<> fallocate(const Caller& caller, NodeId id, int mode, std::uint64_t offset,
                       std::uint64_t length) override;
    Result<std::size_t> copy_file_range(const Caller& caller, NodeId from,
                                        std::uint64_t from_offset, NodeId to,
                                        std::uint64_t to_offset, std::size_t length) override;
    Result<std::uint64_t> lseek(NodeId id, std::uint64_t offset, int whence) override {
        return tree_.lseek(id, offset, whence);
    }
    Result<std::vector<ListedEntry>> read_directory(NodeId id, std::int64_t offset,
                                                    std::size_t limit) override;
    Result<> fsync_directory(NodeId id) override { return tree_.fsync_directory(id); }
    Result<struct statvfs> statfs(NodeId id) override { return tree_.statfs(id); }
    Result<std::string> get_xattr(NodeId id, const std::string& name) override {
        return tree_.get_xattr(id, name);
    }
    Result<std::vector<std::string>> list_xattrs(NodeId id) override {
        return tree_.list_xattrs(id);
    }
    Result<> set_xattr(const Caller& caller, NodeId id, const std::string& name,
                       std::string_view value, int flags) override;
    Result<> remove_xattr(const Caller& caller, NodeId id, const std::string& name) override;

 private:
    /// What is refused, to the user and to agents.
    struct Refusals {
        bool write = false;
        bool ask = false;  ///< writing, unless a person allows it
        bool read = false;
        bool hidden = false;
        bool watched = false;  ///< not refused, but looking it up is written down
        bool operator==(const Refusals&) const = default;
    };
    struct Mark {
        Refusals user;
        Refusals agent;
        bool judges_below = false;  ///< a directory whose names need judging
        bool apart = false;         ///< a file: agents have an inode of their own (Audience)
        bool protects() const { return user != Refusals() || agent != Refusals(); }
        bool operator==(const Mark&) const = default;
        void add(const Mark& other);
    };
    struct Kept {
        Mark mark;
        unsigned generation = 0;  ///< of the rulebook when it was judged
        unsigned met = 0;         ///< the era in which an agent last looked it up; 0: none did
    };
    static constexpr unsigned kAlways = UINT_MAX;  ///< met by a process that cannot be told
    struct Shard {
        mutable std::shared_mutex mutex;
        std::unordered_map<NodeId, Kept> marks;
    };
    static constexpr std::size_t kShards = 16;
    Shard& shard(NodeId id) const { return shards_[id % kShards]; }

    const Policy& policy() const { return rulebook_.now(); }
    /// The generation is the current one after that.
    void ignore_expired() const { rulebook_.now(); }
    bool stays_judged() const;
    Mark mark_of(NodeId id) const;
    Mark judged_again(NodeId id, const Mark& old) const;
    void keep(NodeId id, const Mark& mark, unsigned generation);
    void begin_marks(NodeId id);
    bool has_mark(NodeId id) const;
    void meet(const Caller& caller, NodeId id);
    bool may_be_mapped_by_agent(NodeId id) const;
    /// `id`: whose content a caller without a process (a mapping) would change; 0: nobody's.
    Refusals refusals(const Mark& mark, const Caller& caller, NodeId id = 0) const;
    /// Writes the refusal down and returns it. `path`: nothing when it is not known any more.
    Error refuse(const Caller& caller, const char* operation,
                 const std::optional<std::string>& path, mode_t type,
                 const std::string& why = {}) const;
    /// What a person is asked about.
    struct Matter {
        std::string rule;
        std::string detail{};  ///< of this case
        int error = EACCES;    ///< when it is not allowed
        std::string topic{};   ///< as Questions::About has it
    };
    Error refuse(const Caller& caller, const char* operation,
                 const std::optional<std::string>& path, const Matter& matter,
                 const std::string& why = {}) const;
    /// Without what refuses nothing by itself.
    static Mark refusing(Mark mark);
    Result<bool> may_be_overwritten(const Caller& caller, NodeId made, NodeId parent,
                                    std::string_view name);
    bool concerned(NodeId parent, std::string_view name) const;
    Mark judge(NodeId parent, std::string_view name, mode_t type) const;
    Mark judge_path(const std::string& path, mode_t type) const;
    bool is_apart(const std::string& path) const;
    std::optional<std::string> path_of(NodeId id) const;
    std::optional<std::string> path_below(NodeId parent, std::string_view name) const;
    std::optional<sys::StatX> standing(NodeId parent, std::string_view name) const;
    using PathOf = std::function<std::optional<std::string>()>;
    /// What will be there afterwards.
    enum class Leaves {
        kAnything,
        kItsMode,        ///< the object, as executable as it was
        kNotExecutable,  ///< nothing, or a file that nobody may execute
    };
    /// The bytes that will be there, of a link those it leads by; nothing when they cannot be told.
    /// Empty for what is not there or is a directory without anything in it.
    using BytesLeft = std::function<std::optional<std::string>()>;
    struct Outcome {
        Leaves leaves = Leaves::kAnything;
        BytesLeft bytes{};
        bool goes = false;  ///< the name will be free
        /// Nothing can be written to what comes, until its mode is changed: a directory, or a file
        /// that nobody may write to.
        bool inert = false;
    };
    /// What a change is about: an object, or a name whether anything stands there or not.
    struct Aim {
        NodeId id = 0;
        NodeId parent = 0;
        std::string_view name{};
        mode_t type = S_IFREG;
        Outcome outcome{};
    };
    struct Spot {
        ObjectPtr parent;
        std::string name;
    };
    std::optional<Spot> spot_of(const Aim& aim) const;
    Result<sys::StatX> standing(const ObjectPtr& parent, const std::string& name) const;
    std::optional<std::string> path_of(const Aim& aim) const;
    bool existed(const Spot& spot) const;
    /// What the rule asks a person about this change; nothing when it is not about it.
    std::optional<Matter> matter_of(const Rule& rule, const Aim& aim,
                                    const std::string& path) const;
    bool asks_about_execution(const Aim& aim) const;
    bool brings_bytes(const Aim& aim, const std::string& path) const;
    /// What git would execute by what will be there, and not by what was; nothing: it cannot be
    /// told.
    std::optional<std::set<std::string>> brings_settings(const Aim& aim,
                                                         const std::string& path) const;
    bool is_in_old_place(const Rule& rule, const std::string& path) const;
    /// Whether something stood there when the task began; what cannot be found out did.
    bool stood(const std::string& path) const;
    std::optional<std::string> bytes_at(const Spot& spot) const;
    std::optional<std::string> bytes_of(NodeId id) const;
    std::optional<std::string> bytes_of_object(NodeId id) const;
    BytesLeft as_it_is(NodeId id) const;
    BytesLeft written(NodeId id, sys::ConstBytes data, std::uint64_t offset) const;
    BytesLeft cut(NodeId id, std::uint64_t size) const;
    static std::optional<std::string> empty() { return std::string(); }
    Result<> may_write(const Caller& caller, const char* operation, const Mark& mark,
                       const Aim& aim) const;
    bool is_harmless(const Mark& mark, const Caller& caller, const Aim& aim) const;
    bool is_own_and_empty(NodeId parent, std::string_view name) const;
    bool is_tracked_as_it_is(NodeId parent, std::string_view name, const Entry& entry);
    bool judged_as_agent(const Mark& mark, const Caller& caller) const;
    bool is_of_this_task(const std::optional<ObjectKey>& key) const;
    Result<mode_t> may_create(const Caller& caller, NodeId parent, std::string_view name,
                              mode_t mode) const;
    Result<> ask(const Caller& caller, const char* operation, const std::string& path,
                 const Matter& matter) const;
    Result<> may_copy(const Caller& caller, const char* operation, NodeId id, std::uint64_t offset,
                      std::uint64_t length) const;
    /// New bytes, and new files, of agents stay out of the reserve.
    Result<> may_grow(const Caller& caller, const char* operation, NodeId id, std::uint64_t offset,
                      std::uint64_t length) const;
    Result<> may_make(const Caller& caller, const char* operation, NodeId parent,
                      std::string_view name, std::uint64_t bytes = Reserve::kNewFile) const;
    std::uint64_t grows_by(NodeId id, std::uint64_t offset, std::uint64_t length) const;
    Error refuse_reserved(const Caller& caller, const char* operation,
                          const std::optional<std::string>& path, const char* detail) const;
    Result<> within_cap(const Caller& caller, const char* operation, NodeId id,
                        std::uint64_t copied) const;
    std::optional<SessionNumber> counted(const Caller& caller, bool weighs) const;
    void enter(Loss& loss, const ObjectPtr& directory) const;
    void enter(Loss& loss, NodeId directory) const;
    void stands(NodeId parent, std::string_view name);
    bool is_within_share(SessionNumber session);
    Result<> may_lose(const Caller& caller, const char* operation, const PathOf& path_of,
                      SessionNumber session, const Loss& loss);
    Result<> may_lose_name(const Caller& caller, const char* operation, NodeId parent,
                           std::string_view name, bool goes);
    Result<> may_replace(const Caller& caller, NodeId parent, NodeId to_parent,
                         std::string_view to_name, bool replaces);
    Result<> may_overwrite(const Caller& caller, const char* operation, NodeId id,
                           std::uint64_t offset, std::uint64_t length);
    bool asks_to_carry(bool agent, const std::string& from, const std::string& to,
                       const sys::StatX& x) const;
    bool takes_old_place(const Caller& caller, const std::string& to) const;
    Result<> ask_to_move(const Caller& caller, const std::string& path) const;
    Result<> may_go_unrecorded(const Caller& caller, const char* operation, NodeId id) const;
    Result<> may_take(const Caller& caller, const char* operation, NodeId parent,
                      std::string_view name, mode_t type, const Outcome& outcome) const;
    Result<> may_change(const Caller& caller, const char* operation, NodeId id,
                        const Outcome& outcome) const;
    Result<> may_move(const Caller& caller, NodeId parent, std::string_view name, NodeId to_parent,
                      std::string_view to_name, const sys::StatX& source,
                      const std::optional<sys::StatX>& target, bool exchanges) const;
    Entry noted(Entry entry, NodeId parent, std::string_view name);
    Mark alias_mark(const ObjectKey& key) const;
    void note_aliases() const;  // aliases_mutex_ held
    void forget_aliases();
    Result<bool> check_moved(const Caller& caller, NodeId parent, std::string_view name,
                             const std::string& from, const std::string& to) const;
    Result<> may_move_directories(const Caller& caller, NodeId parent, std::string_view name,
                                  NodeId to_parent, std::string_view to_name,
                                  const sys::StatX& source, const std::optional<sys::StatX>& target,
                                  const std::string& from, const std::string& to) const;
    bool keep_moved(NodeId parent, std::string_view name, const sys::StatX& moved);
    void drop_names();
    static Error refused_by_policy();
    /// Of the workspace and its annex. As walk_below().
    Result<bool> walk_all(const Visit& visit) const;
    template <class Take>
    Result<> take(const Caller& caller, const Take& taker);
    template <class Make>
    Result<Entry> make(const Caller& caller, const char* operation, NodeId parent,
                       std::string_view name, mode_t type, const Outcome& outcome,
                       const Make& maker);

    Tree& tree_;
    Objects& objects_;
    Origins& origins_;
    const Capture& capture_;
    const SizeCap cap_;
    const Reserve& reserve_;
    Beginning& beginning_;
    /// What files said that were cut since, by git_config.h; guarded by settings_mutex_.
    mutable std::mutex settings_mutex_;
    mutable std::unordered_map<ObjectKey, std::set<std::string>> settings_;
    Breaker breaker_;
    std::mutex counting_;                             // held while the files are counted
    Breaker::Clock::time_point count_again_after_{};  // guarded by counting_
    std::atomic<std::int64_t> task_began_ns_{0};
    mutable Rulebook rulebook_;
    Tracked tracked_;
    std::atomic<KernelCaches*> caches_{nullptr};
    Auditor& auditor_;
    Questions& questions_;
    mutable std::array<Shard, kShards> shards_;
    std::atomic<std::size_t> marked_{0};
    std::atomic<unsigned> era_{1};  ///< the next one begins when no run is left
    /// Held shared by whoever makes a name, exclusively while a directory moves to where other
    /// rules hold: nothing may be made in it between the look and the move.
    std::shared_mutex moving_;
    mutable std::mutex aliases_mutex_;
    mutable std::optional<unsigned> aliases_generation_;   // of aliases_; guarded by aliases_mutex_
    mutable std::unordered_map<ObjectKey, Mark> aliases_;  // guarded by aliases_mutex_
};

}  // namespace unwrite::overlay
