// What the rules mean for a caller: allowed, refused and written down, or asked about.
#include <cerrno>

#include "overlay/policed_tree.h"

namespace unwrite::overlay {

Error PolicedTree::refused_by_policy() {
    return Error(ErrorKind::kRefused, EACCES, "policy");
}

// Stores through a mapping arrive without their maker: whom any rule binds may have made them.
PolicedTree::Refusals PolicedTree::refusals(const Mark& mark, const Caller& caller) const {
    if (mark.user == mark.agent) return mark.user;
    if (caller.pid == 0) {
        return {mark.user.write || mark.agent.write, mark.user.ask || mark.agent.ask,
                mark.user.read || mark.agent.read, mark.user.hidden || mark.agent.hidden, false};
    }
    return origins_.is_agent(caller.pid) ? mark.agent : mark.user;
}

Error PolicedTree::refuse(const Caller& caller, const char* operation,
                          const std::optional<std::string>& path, mode_t type,
                          const std::string& why) const {
    Deed deed{"refused", operation, path.value_or(std::string()), {}};
    if (path) {
        const bool agent = caller.pid == 0 || origins_.is_agent(caller.pid);
        const Verdict verdict = policy().judge(*path, type & S_IFMT, agent);
        const Rule* rule = verdict.may_write ? verdict.reading : verdict.writing;
        if (rule != nullptr) deed.detail = describe(*rule);
    }
    if (!why.empty()) deed.detail += (deed.detail.empty() ? "" : "; ") + why;
    auditor_.note(caller.pid, caller.uid, deed);
    return refused_by_policy();
}

Error PolicedTree::refuse(const Caller& caller, const char* operation,
                          const std::optional<std::string>& path, const Matter& matter,
                          const std::string& why) const {
    Deed deed{"refused", operation, path.value_or(std::string()), matter.rule};
    for (const std::string& more : {matter.detail, why})
        if (!more.empty()) deed.detail += "; " + more;
    auditor_.note(caller.pid, caller.uid, deed);
    return Error(ErrorKind::kRefused, matter.error, "policy");
}

// One question for each path, whatever is to be done there.
Result<> PolicedTree::ask(const Caller& caller, const char* operation, const std::string& path,
                          const Matter& matter) const {
    Questions::About about;
    about.operation = operation;
    about.path = path;
    about.topic = matter.topic;
    about.rule = matter.rule;
    about.detail = matter.detail;
    if (caller.pid > 0) about.session = origins_.session_of_agent(caller.pid);
    about.pid = caller.pid;
    about.uid = caller.uid;
    about.error = matter.error;
    const Questions::Verdict verdict = questions_.judge(about, caller.question != nullptr);
    if (verdict.granted) return {};
    if (verdict.wait_for == 0) return refuse(caller, operation, path, matter, verdict.why);
    *caller.question = verdict.wait_for;
    return Error(ErrorKind::kRefused, matter.error, "policy");
}

// What is below would be asked about at one place and not at the other.
Result<> PolicedTree::ask_to_move(const Caller& caller, const std::string& path) const {
    return ask(caller, "rename", path, {"it would carry what is below into or out of a rule"});
}

// Where birth times say nothing, it was there before.
bool PolicedTree::is_of_this_task(const std::optional<ObjectKey>& key) const {
    return !key ||
           (key->birth != 0 && static_cast<std::int64_t>(key->birth) >= task_began_ns_.load());
}

Result<> PolicedTree::may_write(const Caller& caller, const char* operation, const Mark& mark,
                                const PathOf& path_of, const KeyOf& key_of, mode_t type) const {
    if (!mark.protects()) return {};
    const Refusals refused = refusals(mark, caller);
    if (!refused.write && !refused.ask) return {};
    const auto path = path_of();
    if (refused.write || !path) return refuse(caller, operation, path, type);
    const bool agent = mark.user == mark.agent || caller.pid == 0 || origins_.is_agent(caller.pid);
    const Verdict verdict = policy().judge(*path, type & S_IFMT, agent);
    if (!verdict.asks) return ask(caller, operation, *path, {"another name of it is asked about"});
    if (verdict.writing->existing_only && is_of_this_task(key_of())) return {};
    return ask(caller, operation, *path, {describe(*verdict.writing)});
}

/// Whether the caller may make, replace or take away that name.
Result<> PolicedTree::may_take(const Caller& caller, const char* operation, NodeId parent,
                               std::string_view name, mode_t type) const {
    const KeyOf key = [&]() -> std::optional<ObjectKey> {
        const auto there = standing(parent, name);
        if (!there) return std::nullopt;
        return key_of(*there);
    };
    return may_write(
        caller, operation, judge(parent, name, type), [&] { return path_below(parent, name); }, key,
        type);
}

Result<> PolicedTree::may_change(const Caller& caller, const char* operation, NodeId id) const {
    const KeyOf key = [&]() -> std::optional<ObjectKey> {
        const auto object = objects_.get(id);
        if (!object) return std::nullopt;
        return (*object)->key();
    };
    return may_write(
        caller, operation, mark_of(id), [&] { return path_of(id); }, key, S_IFREG);
}

}  // namespace unwrite::overlay
