// Capture: makes before-images safe in the open interval's delta before the first change, and
// remembers in memory what is covered, so that every later change costs one look-up.
//
// What was created in the open interval needs no image: one name row `absent` for the topmost
// created object is enough, unless an older object is moved into a created directory or another
// session writes there. Every object that the delta mentions is made findable first: a hard link in
// the attic, or (directories, and what the filesystem will not link) an entry in the journal's
// places.
//
// Thread-safe. The caller holds a pass of the gate, and for names the NameLock of the parent. The
// interval is changed only with the gate closed. Source of the scheme: design.md section 2.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <unordered_set>

#include "base/leftovers.h"
#include "journal/delta_log.h"
#include "journal/stamps.h"
#include "overlay/objects.h"
#include "overlay/origins.h"

namespace unwrite::overlay {

/// The unit of content capture, in bytes.
inline constexpr std::uint64_t kBlockSize = std::uint64_t{32} << 10;

/// What stands at a name right now.
struct Standing {
    ObjectKey key;
    mode_t type = 0;
    bool inner = false;  ///< another filesystem begins there
};

class Capture {
 public:
    /// `durable`: every image is synced before the change that it allows (durability against power
    /// cuts).
    Capture(Objects& objects, journal::Journal& journal, journal::DeltaNumber open_delta,
            bool durable);

    /// A new interval begins: nothing is covered. Gate closed. Returns what was remembered of the
    /// one that ended, to be freed when nobody waits at the gate.
    [[nodiscard]] std::vector<Leftovers> begin_interval(journal::DeltaNumber delta);
    bool interval_is_empty() const { return writer_->empty(); }
    /// All that was captured so far is what may change unseen (unseen.h). Gate closed.
    void note_unseen();
    /// Nothing was captured since.
    bool holds_only_unseen() const;
    /// Little was captured, and some of it for nothing but that it might change unseen.
    bool may_hold_only_unseen() const;
    journal::DeltaNumber delta() const { return writer_->number(); }
    Result<> sync() { return writer_->sync(); }
    /// Durability "ordered": a program's own sync of a file it changed must not overtake what was
    /// captured of its content. Before anything else.
    void set_ordered() { ordered_ = true; }
    bool must_sync_before(const ObjectPtr& object) const;
    /// The caller has a pass.
    Result<> sync_before(const ObjectPtr& object);
    /// The open interval's delta. Gate closed.
    journal::DeltaWriter& writer() { return *writer_; }

    // out_of_turn() (turns.h) from these four: `who` divides, and another session changed the same
    // in this interval; nothing was captured that matters. The directory of a name is no such
    // thing.

    /// Before (parent, name) changes from `standing`. `incoming`: the object that will stand there,
    /// when it exists already.
    Result<> name(const Who& who, const ObjectPtr& parent, const std::string& name,
                  const std::optional<Standing>& standing,
                  const std::optional<ObjectKey>& incoming);
    /// `key` was just created by `who`, and looks like that.
    void created(const Who& who, const ObjectKey& key, const struct stat& now);
    /// Where others make names as well: the delta says that this object is ours, so that a later
    /// life knows it even if this one is killed.
    Result<> claim(const Who& who, const ObjectKey& key);
    bool is_created(const ObjectKey& key) const;
    /// Created, and no row of the delta needs it: it may be destroyed when its last name goes.
    bool is_disposable(const ObjectKey& key) const;
    /// A created object is gone for good.
    void drop_created(const ObjectKey& key);

    /// Before mode, owner, times or xattrs change.
    Result<> attributes(const Who& who, const ObjectPtr& object);
    /// Before [offset, offset+length) is overwritten (mtime and size with it).
    Result<> content(const Who& who, const ObjectPtr& object, std::uint64_t offset,
                     std::uint64_t length);
    /// Before everything from `size` on is cut off (or the file is extended to it).
    Result<> cut(const Who& who, const ObjectPtr& object, std::uint64_t size);

    /// Before anything changes that the interval is to remember: the object is captured whole, as
    /// the file `bytes` and `attributes` say and not as it is.
    Result<> adopt(const Who& who, const ObjectPtr& object, int bytes,
                   const journal::Attributes& attributes);
    /// The directory in which copies for a while are made: on the journal's disk.
    int scratch() const { return journal_.state_dir().deltas(); }
    int state_directory() const { return journal_.state_dir().fd(); }
    sys::Durable durability() const { return durable_ ? sys::Durable::kYes : sys::Durable::kNo; }

    /// How much of its content the open interval would hold when [offset, offset+length) were
    /// captured as well, in bytes that are copied (where nothing is shared by reflink); 0 when
    /// nothing more would be.
    Result<std::uint64_t> copied_with(const ObjectPtr& object, std::uint64_t offset,
                                      std::uint64_t length) const;

    /// Makes an older object findable wherever it goes: before a rename or a displacement of its
    /// name.
    Result<> hold(const ObjectPtr& object);
    /// A hard link in the attic. EPERM, EMLINK, ENOENT (no name left) as the filesystem says.
    Result<> anchor(const ObjectPtr& object);
    /// Before a file's name is taken, and again after it was.
    Result<> leaving(const Standing& standing);
    /// After a rename: the journal's hint follows.
    Result<> relocated(const ObjectPtr& object, const ObjectPtr& parent, const std::string& name);

    /// Remembers what an object looks like after one of our own changes (journal/stamps.h):
    /// whoever finds it otherwise finds a change behind the mount. Returns what it saw.
    Result<struct stat> stamp(const ObjectKey& key, int fd);
    /// The same of how it looks now, while nobody else can change it: gate closed.
    void stamp(const ObjectKey& key, const struct stat& now);
    std::optional<journal::Stamp> stamped(const ObjectKey& key) const;
    /// As stamp(), after a change of its bytes.
    void wrote(const ObjectKey& key, int fd);
    /// A number that every change of its bytes through the mount, and by a restore, makes another
    /// one; none comes back, in this life or in a later one.
    std::uint64_t last_write(const ObjectKey& key) const;
    /// While it may change without a request, nothing is known of how it looks, and the interval is
    /// divided for nobody who changes it.
    /// The next life is told first. Given back by one end_unseen().
    Result<> begin_unseen(const ObjectKey& key);
    void end_unseen(const ObjectKey& key, int fd);
    /// A restore begins to change the objects: nothing is known of them now.
    void forget_stamps(const journal::Delta& delta);
    /// It got another name, and was perhaps never changed: known from here on, as it looks now.
    void linked(const ObjectKey& key, const struct stat& now);
    /// What the mount has to do with an object that looks like that.
    struct Known {
        bool made = false;     ///< made through the mount since the task began
        bool changed = false;  ///< or changed
        bool differs = false;  ///< it is not as the mount left it
    };
    Known known(const ObjectKey& key, const struct stat& now) const;
    /// From here on it counts as made through the mount, as it looks now.
    void take_for_made(const ObjectKey& key, const struct stat& now);
    /// What a clean end leaves to the next life.
    journal::Traces all_traces() const;
    void begin_with(const journal::Traces& traces);
    [[nodiscard]] std::vector<Leftovers> forget_all_stamps();

    /// What changed since the last call, for whoever keeps count of it; begins with the first call.
    struct Touched {
        std::unordered_set<NameKey> names{};
        std::unordered_set<ObjectKey> objects{};  ///< their content or attributes
        bool all = false;  ///< it cannot be said: a directory moved or went, or it was too much
        bool empty() const { return !all && names.empty() && objects.empty(); }
    };
    Touched take_touched();
    /// Lives while a name, or an object, is changed; after that it is touched, also when the change
    /// failed. (What was written, wrote() touches.)
    class Touching {
     public:
        /// `standing`: what stands there before.
        Touching(Capture& capture, const ObjectPtr& parent, const std::string& name,
                 const std::optional<Standing>& standing)
            : capture_(capture),
              name_(NameKey{parent->key(), name}),
              moves_tree_(standing && S_ISDIR(standing->type)) {}
        Touching(Capture& capture, const ObjectPtr& object)
            : capture_(capture), object_(object->key()) {}
        Touching(const Touching&) = delete;
        Touching& operator=(const Touching&) = delete;
        ~Touching() { capture_.touch(*this); }

     private:
        friend class Capture;
        Capture& capture_;
        const std::optional<NameKey> name_{};
        const bool moves_tree_ = false;
        const ObjectKey object_{};  // unless a name
    };

    /// While on, every object that a capture, anchor or displacement concerns is remembered, so
    /// that a sweep of the attic spares it. Turned on with the gate closed.
    void watch(bool on);
    bool is_watched(const ObjectKey& key) const;
    void note(const ObjectKey& key);

 private:
    struct Sessions {
        SessionNumber session = kUserSession;
        std::vector<SessionNumber> others{};  // beside the first, whose touch is recorded
        SessionNumber last = kUserSession;    // of those that divide
        bool known_to(SessionNumber who) const;
        /// Nothing to record, and nobody else's turn. `in_use`: any of them may change it at any
        /// time, so there are no turns.
        bool is_turn_of(const Who& who, bool in_use = false) const;
        /// The interval must be divided first.
        bool is_out_of_turn(const Who& who, bool in_use = false) const;
    };
    struct Covered : Sessions {
        bool created = false;
        bool mentioned =
            false;  // created, but a row of the delta needs it (another session met it)
        bool attributes = false;
        bool changed = false;  // itself: not by names that were made in it or by linking it
        bool sized = false;
        bool creator_noted = false;         // in the delta, for another session moved it
        journal::OriginNumber creator = 0;  // valid when created
        std::uint64_t size = 0;  // of the content when the interval opened; valid when sized
        std::vector<std::uint64_t> blocks;  // bitmap of captured blocks
        void take_turn(const Who& who);
        bool has_block(std::uint64_t block) const;
        /// All that the content had of these bytes when the interval opened; `sized`.
        bool has_bytes(std::uint64_t offset, std::uint64_t end) const;
        void add_block(std::uint64_t block);
    };
    /// What we left of an object, as far as we changed it.
    struct Traced : journal::Trace {
        std::uint64_t last_write = 0;  // 0: none
        bool noted_unseen = false;     // for the next life
    };
    struct Shard {
        mutable std::mutex mutex;
        std::unordered_map<ObjectKey, Covered> objects;
        std::unordered_map<NameKey, Sessions> names;
        std::unordered_map<ObjectKey, Traced> known;
        std::unordered_map<ObjectKey, unsigned> unseen;  // that may change without a request, uses
        Touched touched;
        std::uint64_t writes = 0;       // counts on from the time of day at which this life began
        std::uint64_t first_write = 0;  // stands for the writes of which nothing is known any more
    };
    /// A file that was written is remembered beyond a commit as long as there are not more.
    static constexpr std::size_t kMostRemembered = 1024;
    static constexpr std::size_t kShards = 64;
    /// Of a shard: more is "all".
    static constexpr std::size_t kMostTouched = 1024;
    void touch(const Touching& touching);
    void touch(Shard& locked, const ObjectKey& key);
    Shard& shard(const ObjectKey& key) const {
        return shards_[std::hash<ObjectKey>()(key) % kShards];
    }
    std::mutex& slow_lock(const ObjectKey& key) {
        return slow_locks_[std::hash<ObjectKey>()(key) % slow_locks_.size()];
    }

    void mention(const ObjectKey& key);
    Result<> settle() { return durable_ ? writer_->sync() : Result<>(); }
    /// Created by that session in this interval, and nothing in the delta needs it.
    bool is_own(const Who& who, const ObjectKey& key) const;
    Result<> expect_stable(const ObjectPtr& parent, const std::string& name,
                           const Standing& standing);
    Result<> note_creator(const Who& who, const ObjectKey& key);
    bool is_elided(const Who& who, const ObjectKey& parent, const std::optional<Standing>& standing,
                   const std::optional<ObjectKey>& incoming) const;
    /// True when nothing is left to do for this origin (a touch is recorded when it is a new
    /// session).
    Result<bool> covered_name(const Who& who, const NameKey& key,
                              const std::optional<Standing>& standing);
    /// `who` divides, and another session made or changed what stands there.
    bool is_anothers(const Who& who, const Standing& standing) const;
    Result<bool> covered_object(const Who& who, const ObjectKey& key, bool want_attributes);
    bool covered_content(const Who& who, const ObjectKey& key, std::uint64_t offset,
                         std::uint64_t length) const;
    bool needs_no_copy(const ObjectKey& key, std::uint64_t offset, std::uint64_t end) const;
    Result<> capture_attributes(const Who& who, const ObjectPtr& object);
    Result<> capture_size(const Who& who, const ObjectPtr& object);
    Result<> capture_blocks(const ObjectPtr& object, std::uint64_t first, std::uint64_t last);
    Result<> ensure_place(const ObjectPtr& directory);
    Result<bool> note_place(const ObjectPtr& object);

    Objects& objects_;
    journal::Journal& journal_;
    std::unique_ptr<journal::DeltaWriter> writer_;
    const bool durable_;
    bool ordered_ = false;
    std::atomic<std::uint64_t> synced_log_{0};    // of this interval: records that a sync covered
    std::atomic<std::uint64_t> unseen_bytes_{0};  // of the delta, when it held only such; 0: never
    mutable std::array<Shard, kShards> shards_;
    std::mutex notes_mutex_;                 // one note at a time is added to the file
    std::atomic<bool> unseen_begun_{false};  // in this interval
    std::atomic<bool> counting_{false};      // somebody asks what was touched
    std::atomic<bool> watching_{false};
    mutable std::mutex watch_mutex_;
    std::unordered_set<ObjectKey> watched_;  // guarded by watch_mutex_
    std::array<std::mutex, 256>
        slow_locks_;  // one capture of an object at a time; taken before a shard's mutex
};

}  // namespace unwrite::overlay
