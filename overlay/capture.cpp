#include "overlay/capture.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "base/crash_point.h"
#include "base/lend_mode.h"
#include "overlay/attributes.h"
#include "overlay/turns.h"

namespace unwrite::overlay {

using journal::NameImage;

bool Capture::Sessions::known_to(SessionNumber who) const {
    return who == session || std::find(others.begin(), others.end(), who) != others.end();
}

bool Capture::Sessions::is_turn_of(const Who& who, bool in_use) const {
    return known_to(who.session) && (!who.divides || in_use || last == who.session);
}

bool Capture::Sessions::is_out_of_turn(const Who& who, bool in_use) const {
    return who.divides && !who.shares && !in_use && last != who.session;
}

void Capture::Covered::take_turn(const Who& who) {
    if (!who.divides) return;
    last = who.session;
    changed = true;
}

bool Capture::Covered::has_block(std::uint64_t block) const {
    const std::size_t word = block / 64;
    return word < blocks.size() && ((blocks[word] >> (block % 64)) & 1U) != 0;
}

bool Capture::Covered::has_bytes(std::uint64_t offset, std::uint64_t end) const {
    const std::uint64_t had = std::min(end, size);
    for (std::uint64_t block = offset / kBlockSize; block * kBlockSize < had; ++block) {
        if (!has_block(block)) return false;
    }
    return true;
}

void Capture::Covered::add_block(std::uint64_t block) {
    const std::size_t word = block / 64;
    if (word >= blocks.size()) blocks.resize(word + 1);
    blocks[word] |= std::uint64_t{1} << (block % 64);
}

Capture::Capture(Objects& objects, journal::Journal& journal, journal::DeltaNumber open_delta,
                 bool durable)
    : objects_(objects),
      journal_(journal),
      writer_(std::make_unique<journal::DeltaWriter>(journal.state_dir().deltas(), open_delta)),
      durable_(durable) {
    const auto now = static_cast<std::uint64_t>(wall_clock_ns());
    for (Shard& s : shards_)
        s.writes = s.first_write = now;
}

std::vector<Leftovers> Capture::begin_interval(journal::DeltaNumber delta) {
    std::vector<Leftovers> ended;
    writer_ = std::make_unique<journal::DeltaWriter>(journal_.state_dir().deltas(), delta);
    for (Shard& s : shards_) {
        const std::lock_guard lock(s.mutex);
        ended.push_back(take_leftovers(s.objects));
        ended.push_back(take_leftovers(s.names));
    }
    unseen_bytes_ = 0;
    unseen_begun_ = false;
    synced_log_ = 0;
    return ended;
}

void Capture::note_unseen() {
    unseen_bytes_ = journal::delta_bytes(journal_.state_dir().deltas(), delta());
}

bool Capture::may_hold_only_unseen() const {
    constexpr std::uint64_t kLittle = std::uint64_t{1} << 20U;
    return unseen_begun_ && journal::delta_bytes(journal_.state_dir().deltas(), delta()) <= kLittle;
}

bool Capture::holds_only_unseen() const {
    return unseen_bytes_ != 0 &&
           unseen_bytes_ == journal::delta_bytes(journal_.state_dir().deltas(), delta());
}

void Capture::created(const Who& who, const ObjectKey& key, const struct stat& now) {
    Shard& s = shard(key);
    const std::lock_guard lock(s.mutex);
    Traced& traced = s.known[key];
    traced.made = true;
    // Somebody else may have written to it by now.
    if (S_ISREG(now.st_mode) && !traced.stamp) traced.stamp = journal::Stamp::of(now);
    Covered fresh;
    fresh.created = true;
    fresh.session = fresh.last = who.session;
    fresh.creator = who.origin;
    s.objects.insert_or_assign(key, std::move(fresh));
}

bool Capture::is_created(const ObjectKey& key) const {
    Shard& s = shard(key);
    const std::lock_guard lock(s.mutex);
    const auto found = s.objects.find(key);
    return found != s.objects.end() && found->second.created;
}

bool Capture::is_disposable(const ObjectKey& key) const {
    Shard& s = shard(key);
    const std::lock_guard lock(s.mutex);
    const auto found = s.objects.find(key);
    return found != s.objects.end() && found->second.created && !found->second.mentioned;
}

void Capture::mention(const ObjectKey& key) {
    Shard& s = shard(key);
    const std::lock_guard lock(s.mutex);
    const auto found = s.objects.find(key);
    if (found != s.objects.end()) found->second.mentioned = true;
}

void Capture::drop_created(const ObjectKey& key) {
    Shard& s = shard(key);
    const std::lock_guard lock(s.mutex);
    s.objects.erase(key);
    s.known.erase(key);
}

bool Capture::is_own(const Who& who, const ObjectKey& key) const {
    Shard& s = shard(key);
    const std::lock_guard lock(s.mutex);
    const auto found = s.objects.find(key);
    return found != s.objects.end() && found->second.created && !found->second.mentioned &&
           found->second.session == who.session;
}

bool Capture::is_elided(const Who& who, const ObjectKey& parent,
                        const std::optional<Standing>& standing,
                        const std::optional<ObjectKey>& incoming) const {
    {
        Shard& s = shard(parent);
        const std::lock_guard lock(s.mutex);
        const auto found = s.objects.find(parent);
        if (found == s.objects.end() || !found->second.created ||
            found->second.session != who.session)
            return false;
    }
    return (!standing || is_own(who, standing->key)) && (!incoming || is_own(who, *incoming));
}

// Whoever takes back the move would otherwise take the object for the mover's.
Result<> Capture::note_creator(const Who& who, const ObjectKey& key) {
    Shard& s = shard(key);
    journal::OriginNumber creator = 0;
    {
        const std::lock_guard lock(s.mutex);
        const auto found = s.objects.find(key);
        if (found == s.objects.end() || !found->second.created || found->second.creator_noted ||
            found->second.session == who.session)
            return {};
        creator = found->second.creator;
    }
    TRY(writer_->touch_object(key, creator));
    const std::lock_guard lock(s.mutex);
    s.objects[key].creator_noted = true;
    return {};
}

bool Capture::is_anothers(const Who& who, const Standing& standing) const {
    Shard& s = shard(standing.key);
    const std::lock_guard lock(s.mutex);
    const auto found = s.objects.find(standing.key);
    if (found == s.objects.end() || !found->second.is_out_of_turn(who)) return false;
    return found->second.created || found->second.changed;
}

// Nothing is lost with a name at which nothing stands: it is shared.
Result<bool> Capture::covered_name(const Who& who, const NameKey& key,
                                   const std::optional<Standing>& standing) {
    Shard& s = shard(key.parent);
    {
        const std::lock_guard lock(s.mutex);
        const auto found = s.names.find(key);
        if (found == s.names.end()) return false;
        if (standing && found->second.is_out_of_turn(who)) return out_of_turn();
        if (who.divides) found->second.last = who.session;
        if (found->second.known_to(who.session)) return true;
    }
    TRY(writer_->touch_name(key, who.origin));
    const std::lock_guard lock(s.mutex);
    s.names.at(key).others.push_back(who.session);
    return true;
}

Result<> Capture::name(const Who& who, const ObjectPtr& parent, const std::string& name,
                       const std::optional<Standing>& standing,
                       const std::optional<ObjectKey>& incoming) {
    if (parent->is_inner() || !is_recorded(parent->git_place(), name, standing.has_value()))
        return {};
    if (standing && is_anothers(who, *standing)) return out_of_turn();
    if (incoming) TRY(note_creator(who, *incoming));
    if (standing) note(standing->key);
    NameKey key{parent->key(), name};
    TRY_ASSIGN(const bool covered, covered_name(who, key, standing));
    if (covered || is_elided(who, parent->key(), standing, incoming)) return {};
    if (standing) TRY(expect_stable(parent, name, *standing));
    TRY(ensure_place(parent));
    if (!is_busy(parent->git_place())) TRY(attributes(who.together(), parent));
    NameImage image{key, std::nullopt, 0};
    if (standing) {
        image.object = standing->key;
        image.type = standing->type & S_IFMT;
    }
    mention(key.parent);
    if (standing) mention(standing->key);
    crash_point("capture.name.before");
    TRY(writer_->name(image, who.origin));
    TRY(settle());
    crash_point("capture.name.after");
    Shard& s = shard(key.parent);
    const std::lock_guard lock(s.mutex);
    s.names.emplace(std::move(key), Sessions{who.session, {}, who.session});
    return {};
}

// Where birth times say nothing (overlayfs), a file may become another one when it is linked or
// moved for the first time. That must have happened before it is mentioned: ESTALE, and the kernel
// looks again.
Result<> Capture::expect_stable(const ObjectPtr& parent, const std::string& name,
                                const Standing& standing) {
    if (standing.key.birth != 0 || S_ISDIR(standing.type) || is_disposable(standing.key)) return {};
    TRY_ASSIGN(const HandlePtr handle, objects_.open(parent, Access::kPath));
    const auto anchored = journal_.attic().anchor(handle->fd.get(), name, standing.key);
    if (!anchored && anchored.error().number() == ESTALE) return anchored;
    return {};
}

Result<bool> Capture::covered_object(const Who& who, const ObjectKey& key, bool want_attributes) {
    Shard& s = shard(key);
    {
        const std::lock_guard lock(s.mutex);
        const auto found = s.objects.find(key);
        if (found == s.objects.end()) return false;
        Covered& covered = found->second;
        if (!covered.created && want_attributes && !covered.attributes) return false;
        if (covered.is_out_of_turn(who, s.unseen.contains(key))) return out_of_turn();
        covered.take_turn(who);
        if (covered.known_to(who.session)) return true;
    }
    TRY(writer_->touch_object(key, who.origin));
    const std::lock_guard lock(s.mutex);
    s.objects[key].others.push_back(who.session);
    return true;
}

Result<> Capture::attributes(const Who& who, const ObjectPtr& object) {
    if (object->is_unrecorded()) return {};
    TRY_ASSIGN(const bool covered, covered_object(who, object->key(), true));
    if (covered) return {};
    const std::lock_guard slow(slow_lock(object->key()));
    return capture_attributes(who, object);
}

// slow lock held
Result<> Capture::capture_attributes(const Who& who, const ObjectPtr& object) {
    TRY_ASSIGN(const bool covered, covered_object(who, object->key(), true));
    if (covered) return {};
    TRY(hold(object));
    TRY_ASSIGN(const HandlePtr handle, objects_.open(object, Access::kPath));
    TRY_ASSIGN(const journal::Attributes image, read_attributes(handle->fd.get()));
    crash_point("capture.attributes.before");
    TRY(writer_->attributes(object->key(), image, who.origin));
    TRY(settle());
    crash_point("capture.attributes.after");
    Shard& s = shard(object->key());
    const std::lock_guard lock(s.mutex);
    Covered& entry = s.objects[object->key()];
    entry.attributes = true;
    entry.session = entry.last = who.session;
    entry.take_turn(who);
    return {};
}

bool Capture::covered_content(const Who& who, const ObjectKey& key, std::uint64_t offset,
                              std::uint64_t length) const {
    Shard& s = shard(key);
    const std::lock_guard lock(s.mutex);
    const auto found = s.objects.find(key);
    if (found == s.objects.end()) return false;
    const Covered& covered = found->second;
    if (!covered.is_turn_of(who, s.unseen.contains(key))) return false;
    if (covered.created) return true;
    return covered.attributes && covered.sized && covered.has_bytes(offset, offset + length);
}

// slow lock held
Result<> Capture::capture_size(const Who& who, const ObjectPtr& object) {
    {
        Shard& s = shard(object->key());
        const std::lock_guard lock(s.mutex);
        if (s.objects[object->key()].sized) return {};
    }
    TRY_ASSIGN(const HandlePtr handle, objects_.open(object, Access::kPath));
    TRY_ASSIGN(const struct stat st, sys::stat_fd(handle->fd.get()));
    const auto size = static_cast<std::uint64_t>(st.st_size);
    TRY(writer_->size(object->key(), size, who.origin));
    TRY(settle());
    crash_point("capture.size.after");
    Shard& s = shard(object->key());
    const std::lock_guard lock(s.mutex);
    Covered& entry = s.objects[object->key()];
    entry.sized = true;
    entry.size = size;
    return {};
}

// Captures the blocks first..last that are not yet, in runs. slow lock held.
Result<> Capture::capture_blocks(const ObjectPtr& object, std::uint64_t first, std::uint64_t last) {
    Shard& s = shard(object->key());
    while (first <= last) {
        std::uint64_t run = first;
        std::uint64_t size = 0;
        {
            const std::lock_guard lock(s.mutex);
            const Covered& entry = s.objects[object->key()];
            size = entry.size;
            if (size == 0) return {};
            last = std::min(last, (size - 1) / kBlockSize);
            while (first <= last && entry.has_block(first))
                ++first;
            run = first;
            while (run <= last && !entry.has_block(run))
                ++run;
        }
        const std::uint64_t begin = first * kBlockSize;
        if (first == run || begin >= size) return {};
        const std::uint64_t end = std::min(size, run * kBlockSize);
        TRY_ASSIGN(const HandlePtr handle, objects_.open(object, Access::kPath));
        TRY_ASSIGN(const UniqueFd source,
                   sys::open_unseen(handle->fd.get(), O_RDONLY | O_NONBLOCK));
        // Cut off behind the mount: what is gone cannot be captured, and what is left must be.
        TRY_ASSIGN(const struct stat st, sys::stat_fd(source.get()));
        const std::uint64_t left = std::min(end, static_cast<std::uint64_t>(st.st_size));
        crash_point("capture.content.before");
        if (left > begin) TRY(writer_->content(object->key(), source.get(), begin, left - begin));
        TRY(settle());
        crash_point("capture.content.after");
        const std::lock_guard lock(s.mutex);
        Covered& entry = s.objects[object->key()];
        for (; first < run; ++first)
            entry.add_block(first);
    }
    return {};
}

Result<> Capture::content(const Who& who, const ObjectPtr& object, std::uint64_t offset,
                          std::uint64_t length) {
    if (object->is_unrecorded()) return {};
    if (covered_content(who, object->key(), offset, length)) return {};
    const std::lock_guard slow(slow_lock(object->key()));
    TRY(capture_attributes(who, object));
    if (is_created(object->key())) return {};
    TRY(capture_size(who, object));
    if (length == 0) return {};
    const std::uint64_t last = offset > UINT64_MAX - length ? UINT64_MAX : offset + length - 1;
    return capture_blocks(object, offset / kBlockSize, last / kBlockSize);
}

Result<> Capture::cut(const Who& who, const ObjectPtr& object, std::uint64_t size) {
    return content(who, object, size, UINT64_MAX - size);
}

Result<> Capture::adopt(const Who& who, const ObjectPtr& object, int bytes,
                        const journal::Attributes& attributes) {
    const ObjectKey& key = object->key();
    const std::lock_guard slow(slow_lock(key));
    if (needs_no_copy(key, 0, UINT64_MAX)) return {};
    TRY_ASSIGN(const struct stat st, sys::stat_fd(bytes));
    const auto size = static_cast<std::uint64_t>(st.st_size);
    TRY(hold(object));
    crash_point("capture.adopt.before");
    TRY(writer_->attributes(key, attributes, who.origin));
    TRY(writer_->size(key, size, who.origin));
    TRY(writer_->content(key, bytes, 0, size));
    TRY(settle());
    crash_point("capture.adopt.after");
    Shard& s = shard(key);
    const std::lock_guard lock(s.mutex);
    Covered& entry = s.objects[key];
    entry.attributes = entry.sized = true;
    entry.size = size;
    entry.session = entry.last = who.session;
    for (std::uint64_t block = 0; block * kBlockSize < size; ++block)
        entry.add_block(block);
    return {};
}

Result<> Capture::anchor(const ObjectPtr& object) {
    note(object->key());
    journal::Attic& attic = journal_.attic();
    if (attic.contains(object->key())) return {};
    TRY_ASSIGN(const HandlePtr handle, objects_.open(object, Access::kPath));
    crash_point("capture.anchor.before");
    const auto linked =
        sys::link_fd(handle->fd.get(), attic.directory(), journal::Attic::file_name(object->key()));
    if (!linked && linked.error().number() != EEXIST) return linked.error();
    crash_point("capture.anchor.after");
    if (linked) return attic.add_linked(object->key());
    attic.note_added(object->key());
    return {};
}

Result<> Capture::ensure_place(const ObjectPtr& directory) {
    ObjectPtr at = directory;
    while (!objects_.is_top(at) && !journal_.places().contains(at->key())) {
        const Objects::Place where = objects_.place(*at);
        if (!where.parent) return {};  // in the attic: found there
        TRY(journal_.places().set(at->key(), {where.parent->key(), where.name}));
        at = where.parent;
    }
    return {};
}

// True when it has a name. Its name may go at the same time: whoever takes it forgets the place
// after that (LiveTree::remove_name), so one look after the note is enough.
Result<bool> Capture::note_place(const ObjectPtr& object) {
    for (;;) {
        const Objects::Place where = objects_.place(*object);
        if (!where.parent) {
            TRY(journal_.places().forget(object->key()));
            return false;
        }
        TRY(ensure_place(where.parent));
        TRY(journal_.places().set(object->key(), {where.parent->key(), where.name}));
        if (objects_.place(*object).parent) return true;
    }
}

Result<> Capture::hold(const ObjectPtr& object) {
    note(object->key());
    if (object->is_directory()) return ensure_place(object);
    TRY_ASSIGN(const bool has_name, note_place(object));
    const auto anchored = anchor(object);
    if (anchored) return {};
    const int number = anchored.error().number();
    // The place alone must do for what the filesystem does not let us link (not ours, or at its
    // limit of links).
    if (has_name && (number == EPERM || number == EMLINK || number == EACCES)) return {};
    return anchored.error();
}

// Before the change, so that a kill between the two does not make a name that we took look like one
// that went behind the mount; and after it, for who noted the place meanwhile.
Result<> Capture::leaving(const Standing& standing) {
    if (S_ISDIR(standing.type)) return {};
    return journal_.places().forget(standing.key);
}

Result<> Capture::relocated(const ObjectPtr& object, const ObjectPtr& parent,
                            const std::string& name) {
    if (is_created(object->key()) && !journal_.places().contains(object->key())) return {};
    TRY(ensure_place(parent));
    return journal_.places().set(object->key(), {parent->key(), name});
}

void Capture::watch(bool on) {
    watching_.store(on);
    const std::lock_guard lock(watch_mutex_);
    watched_.clear();
}

bool Capture::is_watched(const ObjectKey& key) const {
    const std::lock_guard lock(watch_mutex_);
    return watched_.contains(key);
}

void Capture::note(const ObjectKey& key) {
    if (!watching_.load(std::memory_order_relaxed)) return;
    const std::lock_guard lock(watch_mutex_);
    watched_.insert(key);
}

}  // namespace unwrite::overlay
