// Renames: what would come into, or out of, a rule by them.
#include <fcntl.h>

#include "base/lend_mode.h"
#include "overlay/policed_tree.h"
#include "overlay/view.h"
#include "overlay/walk.h"

namespace unwrite::overlay {

// A directory moves: nothing below it may become protected or free for the caller by that. True
// when something below is asked about at one place and not at the other.
Result<bool> PolicedTree::check_moved(const Caller& caller, NodeId parent, std::string_view name,
                                      const std::string& from, const std::string& to) const {
    TRY_ASSIGN(const ObjectPtr above, objects_.get(parent));
    TRY_ASSIGN(const HandlePtr handle, objects_.open(above, Access::kPath));
    TRY_ASSIGN(UniqueFd top, sys::open_listing_unseen(handle->fd.get(), std::string(name)));
    const bool binds_user = caller.pid <= 0 || !origins_.is_agent(caller.pid);
    const bool binds_agent = caller.pid <= 0 || !binds_user;
    bool asks = false;
    const Visit look = [&](const std::string& below, const sys::StatX& x) {
        Mark before = judge_path(join_path(from, below), x.st.st_mode);
        Mark after = judge_path(join_path(to, below), x.st.st_mode);
        if (!binds_user) before.user = after.user = Refusals();
        if (!binds_agent) before.agent = after.agent = Refusals();
        asks |= before.user.ask != after.user.ask || before.agent.ask != after.agent.ask;
        return refusing(before) == refusing(after);
    };
    TRY_ASSIGN(const bool stays_the_same, walk_below(std::move(top), look));
    if (!stays_the_same) return refused_by_policy();
    return asks;
}

// moving_ is held exclusively.
Result<> PolicedTree::may_move_directories(const Caller& caller, NodeId parent,
                                           std::string_view name, NodeId to_parent,
                                           std::string_view to_name, const sys::StatX& source,
                                           const std::optional<sys::StatX>& target,
                                           const std::string& from, const std::string& to) const {
    // No walk for who is not bound by anything.
    if (caller.pid > 0 && !policy().binds_user() && !origins_.is_agent(caller.pid)) return {};
    Result<bool> asks = false;
    if (S_ISDIR(source.st.st_mode)) asks = check_moved(caller, parent, name, from, to);
    if (asks && !*asks && target && S_ISDIR(target->st.st_mode))
        asks = check_moved(caller, to_parent, to_name, to, from);
    if (!asks && asks.error().kind() == ErrorKind::kRefused)
        return refuse(caller, "rename", from, source.st.st_mode);
    if (!asks) return std::move(asks).error();
    if (*asks) TRY(ask_to_move(caller, from));
    return {};
}

// What goes, and what is replaced, may be of another type than what comes.
Result<> PolicedTree::may_move(const Caller& caller, NodeId parent, std::string_view name,
                               NodeId to_parent, std::string_view to_name, const sys::StatX& source,
                               const std::optional<sys::StatX>& target) const {
    const auto type_of = [](const sys::StatX& x) { return x.st.st_mode & S_IFMT; };
    TRY(may_take(caller, "rename", parent, name, source.st.st_mode));
    TRY(may_take(caller, "rename", to_parent, to_name, source.st.st_mode));
    if (!target || type_of(*target) == type_of(source)) return {};
    TRY(may_take(caller, "rename", parent, name, target->st.st_mode));
    return may_take(caller, "rename", to_parent, to_name, target->st.st_mode);
}

// From now on it is judged by the name that it has got. True when that is not one for everybody.
bool PolicedTree::keep_moved(NodeId parent, std::string_view name, const sys::StatX& moved) {
    const Mark mark = judge(parent, name, moved.st.st_mode);
    if (mark == Mark()) return false;
    const ObjectPtr object = objects_.find(key_of(moved));
    if (object) keep(object->id(), mark, rulebook_.generation());
    return mark.user != mark.agent || mark.user.watched;
}

Result<> PolicedTree::rename(const Caller& caller, NodeId parent, std::string_view name,
                             NodeId to_parent, std::string_view to_name, unsigned flags) {
    const auto source = standing(parent, name);
    if (!source) return tree_.rename(caller, parent, name, to_parent, to_name, flags);
    const bool exchanges = (flags & RENAME_EXCHANGE) != 0;
    const bool looks = exchanges || concerned(to_parent, to_name) || concerned(parent, name);
    const auto target = looks ? standing(to_parent, to_name) : std::nullopt;
    TRY(may_move(caller, parent, name, to_parent, to_name, *source, target));
    TRY(may_replace(caller, parent, to_parent, to_name, !exchanges));
    const bool directories =
        S_ISDIR(source->st.st_mode) || (exchanges && target && S_ISDIR(target->st.st_mode));
    const auto from_above = directories ? path_of(parent) : std::nullopt;
    const auto to_above = directories ? path_of(to_parent) : std::nullopt;
    std::shared_lock shared(moving_, std::defer_lock);
    std::unique_lock exclusive(moving_, std::defer_lock);
    bool told_apart = false;
    if (from_above && to_above) {
        const std::string from = join_path(*from_above, std::string(name));
        const std::string to = join_path(*to_above, std::string(to_name));
        told_apart = policy().tells_apart(from, to);
        if (told_apart) {
            exclusive.lock();
            TRY(may_move_directories(caller, parent, name, to_parent, to_name, *source,
                                     exchanges ? target : std::nullopt, from, to));
        }
    }
    if (!told_apart) shared.lock();
    TRY(tree_.rename(caller, parent, name, to_parent, to_name, flags));
    if (!directories) stands(to_parent, to_name);
    bool personal = keep_moved(to_parent, to_name, *source);
    if (exchanges && target) personal |= keep_moved(parent, name, *target);
    // The kernel moves what it remembers of a name along with it, and would go on answering agents
    // by that, also for all that is below a directory.
    const bool unbound = caller.pid > 0 && !origins_.is_agent(caller.pid);
    if (exclusive) exclusive.unlock();
    if (personal || (told_apart && unbound)) drop_names();
    return {};
}

}  // namespace unwrite::overlay
