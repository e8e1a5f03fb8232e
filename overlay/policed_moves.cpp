// Renames: what would come into, or out of, a rule by them.
#include <fcntl.h>

#include "base/lend_mode.h"
#include "overlay/databases.h"
#include "overlay/git_config.h"
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
        for (const bool agent : {false, true}) {
            const Refusals& was = agent ? before.agent : before.user;
            const Refusals& is = agent ? after.agent : after.user;
            if (was.ask || is.ask)
                asks |= asks_to_carry(agent, join_path(from, below), join_path(to, below), x);
        }
        return refusing(before) == refusing(after);
    };
    TRY_ASSIGN(const bool stays_the_same, walk_below(std::move(top), look));
    if (!stays_the_same) return refused_by_policy();
    return asks;
}

// What is below is judged by where it would be. It may go out of a rule with what it says.
bool PolicedTree::asks_to_carry(bool agent, const std::string& from, const std::string& to,
                                const sys::StatX& x) const {
    const mode_t type = x.st.st_mode & S_IFMT;
    const Verdict before = policy().judge(from, type, agent);
    const Verdict after = policy().judge(to, type, agent);
    const auto is_about_more_than_names = [](const Verdict& verdict) {
        return verdict.asks && (verdict.writing->asks_about != AsksAbout::kAnyChange ||
                                verdict.writing->existing_only);
    };
    if (!is_about_more_than_names(before) && !is_about_more_than_names(after))
        return before.asks != after.asks;
    const auto asks = [&](const Verdict& verdict, const std::string& path) {
        if (!verdict.asks) return false;
        const Rule& rule = *verdict.writing;
        if (rule.existing_only)
            return !is_of_this_task(key_of(x)) || stood(database_of(path).value_or(path));
        if (rule.old_places_only) return !S_ISDIR(type) && is_in_old_place(rule, path);
        if (rule.asks_about != AsksAbout::kNewSettings) return true;
        const auto bytes = bytes_at({objects_.root(), from});
        return !bytes || !executing_settings(from, *bytes).empty();
    };
    return asks(after, to) && !asks(before, from);
}

// Agents do not come round a rule about what was there by moving its directory away first.
bool PolicedTree::takes_old_place(const Caller& caller, const std::string& to) const {
    return (caller.pid <= 0 || policy().binds_user() || origins_.is_agent(caller.pid)) && stood(to);
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
                               const std::optional<sys::StatX>& target, bool exchanges) const {
    const auto type_of = [](const sys::StatX& x) { return x.st.st_mode & S_IFMT; };
    const auto bytes_from = [this](NodeId from, std::string_view at, const sys::StatX& x) {
        if (!S_ISREG(x.st.st_mode)) return BytesLeft();
        return BytesLeft([this, from, at] {
            const auto spot = spot_of({.parent = from, .name = at});
            return spot ? bytes_at(*spot) : std::nullopt;
        });
    };
    const Outcome there{Leaves::kAnything, bytes_from(parent, name, source)};
    Outcome here{Leaves::kAnything, empty, true};
    if (S_ISDIR(source.st.st_mode)) here = {};
    if (exchanges && target) here = {Leaves::kAnything, bytes_from(to_parent, to_name, *target)};
    TRY(may_take(caller, "rename", parent, name, source.st.st_mode, here));
    TRY(may_take(caller, "rename", to_parent, to_name, source.st.st_mode, there));
    if (!target || type_of(*target) == type_of(source)) return {};
    TRY(may_take(caller, "rename", parent, name, target->st.st_mode, here));
    return may_take(caller, "rename", to_parent, to_name, target->st.st_mode, there);
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
    TRY(may_move(caller, parent, name, to_parent, to_name, *source, target, exchanges));
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
        told_apart = policy().tells_apart(from, to) || takes_old_place(caller, to) ||
                     (exchanges && takes_old_place(caller, from));
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
