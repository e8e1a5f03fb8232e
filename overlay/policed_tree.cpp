#include "overlay/policed_tree.h"

#include <dirent.h>
#include <fcntl.h>

#include <cerrno>
#include <functional>

#include "base/lend_mode.h"
#include "journal/state_dir.h"
#include "overlay/live_swap.h"
#include "overlay/view.h"

namespace unwrite::overlay {

namespace {

constexpr mode_t kWriteBits = 0222;

}  // namespace

PolicedTree::PolicedTree(Tree& tree, Objects& objects, Origins& origins, const Capture& capture,
                         Auditor& auditor, Questions& questions,
                         std::shared_ptr<const Policy> policy, const SizeCap& cap,
                         const BreakerLimits& limits, const Reserve& reserve, Beginning& beginning)
    : tree_(tree),
      objects_(objects),
      origins_(origins),
      capture_(capture),
      cap_(cap),
      reserve_(reserve),
      beginning_(beginning),
      breaker_(limits),
      rulebook_(std::move(policy)),
      tracked_(beginning,
               [this](std::string_view name) { return this->policy().may_concern(name); }),
      auditor_(auditor),
      questions_(questions) {}

// ---- judging

std::optional<std::string> PolicedTree::path_of(NodeId id) const {
    const auto object = objects_.get(id);
    return object ? objects_.path_of(*object) : std::nullopt;
}

std::optional<std::string> PolicedTree::path_below(NodeId parent, std::string_view name) const {
    const auto above = path_of(parent);
    if (!above) return std::nullopt;
    return join_path(*above, std::string(name));
}

bool PolicedTree::concerned(NodeId parent, std::string_view name) const {
    return policy().may_concern(name) || rulebook_.was_replaced() || mark_of(parent).judges_below;
}

// Not a database: its locks, and the memory that its users share, are those of one inode.
bool PolicedTree::is_apart(const std::string& path) const {
    const Verdict verdict = policy().judge(path, S_IFREG, true);
    return !verdict.may_write && !(verdict.asks && verdict.writing->existing_only);
}

PolicedTree::Mark PolicedTree::judge_path(const std::string& path, mode_t type) const {
    const auto refused = [&](bool agent) {
        const Verdict verdict = policy().judge(path, type & S_IFMT, agent);
        return Refusals{!verdict.may_write && !verdict.asks, verdict.asks, !verdict.may_read,
                        verdict.hidden, verdict.watching != nullptr};
    };
    Mark mark{refused(false), {}, S_ISDIR(type)};
    mark.agent = policy().tells_agents_apart() ? refused(true) : mark.user;
    mark.apart = S_ISREG(type) && is_apart(path);
    return mark;
}

PolicedTree::Mark PolicedTree::judge(NodeId parent, std::string_view name, mode_t type) const {
    if (!concerned(parent, name)) return {};
    const auto path = path_below(parent, name);
    if (!path) return {};
    return judge_path(*path, type);
}

// ---- what was there before

Result<bool> PolicedTree::walk_all(const Visit& visit) const {
    for (const ObjectPtr& top : objects_.tops()) {
        TRY_ASSIGN(const HandlePtr opened, objects_.open(top, Access::kPath));
        TRY_ASSIGN(UniqueFd fd, sys::open_unseen(opened->fd.get(), O_RDONLY | O_DIRECTORY));
        const std::string above = objects_.path_of_top(top->key());
        TRY_ASSIGN(const bool goes_on,
                   walk_below(std::move(fd), [&](const std::string& path, const sys::StatX& x) {
                       return visit(join_path(above, path), x);
                   }));
        if (!goes_on) return false;
    }
    return true;
}

// Which objects have a protected name and others: known after one walk, when the first object with
// several names is met. It stays true for as long as the rules are the same: no link is made to or
// from a protected name after that, but one that a person allowed.
void PolicedTree::note_aliases() const {
    const unsigned generation = rulebook_.generation();
    if (aliases_generation_ == generation) return;
    aliases_generation_ = generation;
    aliases_.clear();
    ignore(walk_all([&](const std::string& path, const sys::StatX& x) {
               if (S_ISDIR(x.st.st_mode) || x.st.st_nlink < 2) return true;
               const Mark mark = judge_path(path, x.st.st_mode);
               if (mark.protects()) aliases_[key_of(x)].add(mark);
               return true;
           }),
           "what cannot be listed cannot be linked to either");
}

void PolicedTree::forget_aliases() {
    const std::lock_guard lock(aliases_mutex_);
    aliases_generation_.reset();
}

PolicedTree::Mark PolicedTree::alias_mark(const ObjectKey& key) const {
    const std::lock_guard lock(aliases_mutex_);
    note_aliases();
    const auto alias = aliases_.find(key);
    return alias == aliases_.end() ? Mark() : alias->second;
}

Entry PolicedTree::noted(Entry entry, NodeId parent, std::string_view name) {
    ignore_expired();
    const unsigned generation = rulebook_.generation();
    Mark mark = judge(parent, name, entry.st.st_mode);
    if (S_ISREG(entry.st.st_mode) && entry.st.st_nlink > 1) {
        if (const auto object = objects_.get(entry.id)) mark.add(alias_mark((*object)->key()));
    }
    keep(entry.id, mark, generation);
    mark.add(mark_of(entry.id));
    // Also where both may read it: who maps it has looked it up (see meet()).
    entry.personal = mark.user != mark.agent || mark.user.watched;
    if (mark.user.write && !S_ISLNK(entry.st.st_mode)) entry.st.st_mode &= ~kWriteBits;
    if (mark != Mark() || !stays_judged()) entry.keeps_name = entry.keeps_attributes = false;
    return entry;
}

// ---- what may be remembered

// A rule that ends by itself tells nobody.
bool PolicedTree::stays_judged() const {
    ignore_expired();
    return !rulebook_.will_end();
}

bool PolicedTree::keeps_names(NodeId directory) {
    return tree_.keeps_names(directory) && stays_judged();
}

// Of a hidden name it is remembered that there is none.
bool PolicedTree::keeps_absence(NodeId directory) {
    return keeps_names(directory) && !policy().hides();
}

bool PolicedTree::keeps_attributes(NodeId id) {
    return tree_.keeps_attributes(id) && stays_judged() && mark_of(id) == Mark();
}

// ---- names

Result<Entry> PolicedTree::lookup(const Caller& caller, NodeId parent, std::string_view name) {
    TRY_ASSIGN(Entry entry, tree_.lookup(caller, parent, name));
    if (name == "." || name == "..") return entry;
    entry = noted(entry, parent, name);
    const Mark mark = mark_of(entry.id);
    if (!mark.protects()) return entry;
    if (mark.apart && S_ISREG(entry.st.st_mode)) {
        const bool others = caller.pid > 0 && !origins_.is_agent(caller.pid);
        entry.audience = others ? Audience::kOthers : Audience::kAgents;
    }
    if (!caller.listing) meet(caller, entry.id);
    const Refusals refused = refusals(mark, caller);
    if (refused.watched && !caller.listing) {
        auditor_.note(caller.pid, caller.uid,
                      {"read", "look up", path_below(parent, name).value_or(""), {}});
    }
    if (!refused.read && !refused.hidden) return entry;
    if (!refused.hidden && !mark.user.read && is_own_and_empty(parent, name)) return entry;
    if (!refused.hidden && !mark.user.read && !caller.listing &&
        is_tracked_as_it_is(parent, name, entry))
        return entry;
    forget(entry.id, 1);
    if (refused.hidden) return Error(ENOENT);
    if (caller.listing) return refused_by_policy();
    return refuse(caller, "look up", path_below(parent, name), entry.st.st_mode);
}

template <class Make>
Result<Entry> PolicedTree::make(const Caller& caller, const char* operation, NodeId parent,
                                std::string_view name, mode_t type, const Outcome& outcome,
                                const Make& maker) {
    const std::shared_lock lock(moving_);
    TRY(may_take(caller, operation, parent, name, type, outcome));
    TRY(may_make(caller, operation, parent, name));
    TRY(may_lose_name(caller, operation, parent, name, false));
    TRY_ASSIGN(const Entry entry, maker());
    if (entry.st.st_nlink <= 1 || S_ISDIR(type)) begin_marks(entry.id);
    stands(parent, name);
    const Entry made = noted(entry, parent, name);
    meet(caller, made.id);
    return made;
}

Result<Entry> PolicedTree::mknod(const Caller& caller, NodeId parent, std::string_view name,
                                 mode_t mode, dev_t device) {
    Outcome outcome;
    if (S_ISREG(mode)) outcome = {Leaves::kAnything, empty, false, (mode & kWriteBits) == 0};
    return make(caller, "mknod", parent, name, mode, outcome,
                [&] { return tree_.mknod(caller, parent, name, mode, device); });
}

Result<Entry> PolicedTree::mkdir(const Caller& caller, NodeId parent, std::string_view name,
                                 mode_t mode) {
    return make(caller, "mkdir", parent, name, S_IFDIR, {Leaves::kAnything, empty, false, true},
                [&] { return tree_.mkdir(caller, parent, name, mode); });
}

Result<Entry> PolicedTree::symlink(const Caller& caller, NodeId parent, std::string_view name,
                                   std::string_view target) {
    const Outcome outcome{Leaves::kAnything,
                          [target] { return std::optional(std::string(target)); }};
    return make(caller, "symlink", parent, name, S_IFLNK, outcome,
                [&] { return tree_.symlink(caller, parent, name, target); });
}

Result<Entry> PolicedTree::create(const Caller& caller, NodeId parent, std::string_view name,
                                  mode_t mode) {
    const std::shared_lock lock(moving_);
    TRY_ASSIGN(const mode_t allowed, may_create(caller, parent, name, mode));
    TRY(may_make(caller, "create", parent, name));
    TRY(may_lose_name(caller, "create", parent, name, false));
    TRY_ASSIGN(const Entry entry, tree_.create(caller, parent, name, allowed));
    begin_marks(entry.id);
    stands(parent, name);
    const Entry made = noted(entry, parent, name);
    meet(caller, made.id);
    return made;
}

// It has no name to be judged by: whoever gives it one is judged, and asked, then.
Result<Entry> PolicedTree::tmpfile(const Caller& caller, NodeId parent, mode_t mode) {
    const Mark mark = mark_of(parent);
    if (mark.protects() && refusals(mark, caller).write)
        TRY(may_change(caller, "tmpfile", parent, {Leaves::kItsMode, empty}));
    TRY(may_make(caller, "tmpfile", parent, {}));
    auto made = tree_.tmpfile(caller, parent, mode);
    if (made) begin_marks(made->id);
    return made;
}

// Deleting makes room on a full disk, but what is deleted has to be noted first: for that the user
// gets a part of the ballast.
template <class Take>
Result<> PolicedTree::take(const Caller& caller, const Take& taker) {
    Result<> taken = taker();
    if (!taken && sys::is_out_of_room(taken.error()) && !origins_.is_agent(caller.pid) &&
        reserve_.give_to_user())
        taken = taker();
    return taken;
}

Result<> PolicedTree::unlink(const Caller& caller, NodeId parent, std::string_view name) {
    const auto there = concerned(parent, name) ? standing(parent, name) : std::nullopt;
    const mode_t type = there ? there->st.st_mode : S_IFREG;
    TRY(may_take(caller, "unlink", parent, name, type, {Leaves::kNotExecutable, empty, true}));
    TRY(may_lose_name(caller, "unlink", parent, name, true));
    return take(caller, [&] { return tree_.unlink(caller, parent, name); });
}

Result<> PolicedTree::rmdir(const Caller& caller, NodeId parent, std::string_view name) {
    TRY(may_take(caller, "rmdir", parent, name, S_IFDIR, {Leaves::kAnything, empty, true}));
    TRY(may_lose_name(caller, "rmdir", parent, name, true));
    return take(caller, [&] { return tree_.rmdir(caller, parent, name); });
}

Result<Entry> PolicedTree::link(const Caller& caller, NodeId id, NodeId to_parent,
                                std::string_view to_name) {
    const Mark mark = mark_of(id);
    if (mark.protects() && refusals(mark, caller).read)
        return refuse(caller, "link", path_of(id), S_IFREG);
    TRY(may_change(caller, "link", id, {}));
    const auto object = objects_.get(id);
    auto linked = make(caller, "link", to_parent, to_name, object ? (*object)->type() : S_IFREG,
                       Outcome{Leaves::kAnything, as_it_is(id)},
                       [&] { return tree_.link(caller, id, to_parent, to_name); });
    if (linked && (mark.protects() || mark_of(id).protects())) forget_aliases();
    return linked;
}

Result<NodeId> PolicedTree::exchange(const Caller& caller, NodeId made, std::string_view name,
                                     const ExpectedBytes& expected, std::optional<mode_t> mode) {
    TRY_ASSIGN(const NodeId parent, tree_.made_in(made));
    const std::shared_lock lock(moving_);
    TRY(may_take(caller, "edit", parent, name, S_IFREG, {Leaves::kAnything, as_it_is(made)}));
    TRY(may_replace(caller, parent, parent, name, true));
    ExpectedBytes judged = expected;
    if (judged.may_overwrite) {
        TRY_ASSIGN(judged.may_overwrite, may_be_overwritten(caller, made, parent, name));
    }
    TRY_ASSIGN(const NodeId id, tree_.exchange(caller, made, name, judged, mode));
    stands(parent, name);
    return id;
}

// What is written over has other names, with rules of their own, and must be copied to be taken
// back. False where nothing is to be judged, because a new file takes the place.
Result<bool> PolicedTree::may_be_overwritten(const Caller& caller, NodeId made, NodeId parent,
                                             std::string_view name) {
    const auto there = standing(parent, name);
    if (!there) return false;
    struct stat was = there->st;
    objects_.correct(was, key_of(*there));
    if (!must_stay(caller, was)) return false;
    TRY_ASSIGN(const Entry entry, lookup(caller, parent, name));
    const NodeId id = entry.id;
    Result<> may = may_change(caller, "edit", id, {Leaves::kItsMode, as_it_is(made)});
    if (may) may = may_copy(caller, "edit", id, 0, UINT64_MAX);
    if (may) may = may_overwrite(caller, "edit", id, 0, UINT64_MAX);
    forget(id, 1);
    TRY(may);
    return true;
}

Result<> PolicedTree::remove_expected(const Caller& caller, NodeId made, std::string_view name,
                                      const ExpectedBytes& expected) {
    TRY_ASSIGN(const NodeId parent, tree_.made_in(made));
    TRY(may_take(caller, "unlink", parent, name, S_IFREG, {Leaves::kNotExecutable, empty, true}));
    TRY(may_lose_name(caller, "unlink", parent, name, true));
    return tree_.remove_expected(caller, made, name, expected);
}

// What stands at a name now, past the policy; nothing when the name is absent.
std::optional<sys::StatX> PolicedTree::standing(NodeId parent, std::string_view name) const {
    const auto object = objects_.get(parent);
    if (!object) return std::nullopt;
    const auto x = standing(*object, std::string(name));
    if (!x) return std::nullopt;
    return *x;
}

Result<sys::StatX> PolicedTree::standing(const ObjectPtr& parent, const std::string& name) const {
    TRY_ASSIGN(const HandlePtr handle, objects_.open(parent, Access::kPath));
    return sys::statx_at(handle->fd.get(), name);
}

// ---- objects

Result<struct stat> PolicedTree::getattr(NodeId id) {
    TRY_ASSIGN(struct stat st, tree_.getattr(id));
    if (mark_of(id).user.write && !S_ISLNK(st.st_mode)) st.st_mode &= ~kWriteBits;
    return st;
}

Result<> PolicedTree::set_xattr(const Caller& caller, NodeId id, const std::string& name,
                                std::string_view value, int flags) {
    TRY(may_change(caller, "set_xattr", id, {Leaves::kAnything, as_it_is(id)}));
    TRY(may_make(caller, "set_xattr", id, {}, value.size()));
    TRY(may_overwrite(caller, "set_xattr", id, 0, 0));
    return tree_.set_xattr(caller, id, name, value, flags);
}

Result<> PolicedTree::remove_xattr(const Caller& caller, NodeId id, const std::string& name) {
    TRY(may_change(caller, "remove_xattr", id, {Leaves::kItsMode, as_it_is(id)}));
    TRY(may_overwrite(caller, "remove_xattr", id, 0, 0));
    return tree_.remove_xattr(caller, id, name);
}

// A page may be left without entries by that, which would read as the end: then the next one.
Result<std::vector<ListedEntry>> PolicedTree::read_directory(NodeId id, std::int64_t offset,
                                                             std::size_t limit) {
    for (;;) {
        TRY_ASSIGN(std::vector<ListedEntry> entries, tree_.read_directory(id, offset, limit));
        if (entries.empty() || !policy().hides()) return entries;
        offset = entries.back().next;
        std::erase_if(entries, [&](const ListedEntry& entry) {
            return judge(id, entry.name, static_cast<mode_t>(DTTOIF(entry.type))).user.hidden;
        });
        if (!entries.empty()) return entries;
    }
}

}  // namespace unwrite::overlay
