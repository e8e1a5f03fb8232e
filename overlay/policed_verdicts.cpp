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

// One question for each path, whatever is to be done there.
Result<> PolicedTree::ask(const Caller& caller, const char* operation, const std::string& path,
                          mode_t type, const std::string& rule) const {
    Questions::About about;
    about.operation = operation;
    about.path = path;
    about.rule = rule;
    if (caller.pid > 0) about.session = origins_.session_of_agent(caller.pid);
    about.pid = caller.pid;
    about.uid = caller.uid;
    about.error = EACCES;
    const Questions::Verdict verdict = questions_.judge(about, caller.question != nullptr);
    if (verdict.granted) return {};
    if (verdict.wait_for == 0) return refuse(caller, operation, path, type, verdict.why);
    *caller.question = verdict.wait_for;
    return refused_by_policy();
}

// What is below would be asked about at one place and not at the other.
Result<> PolicedTree::ask_to_move(const Caller& caller, const std::string& path) const {
    return ask(caller, "rename", path, S_IFDIR,
               "it would carry what is below into or out of a rule");
}

Result<> PolicedTree::may_write(const Caller& caller, const char* operation, const Mark& mark,
                                const PathOf& path_of, mode_t type) const {
    if (!mark.protects()) return {};
    const Refusals refused = refusals(mark, caller);
    if (!refused.write && !refused.ask) return {};
    const auto path = path_of();
    if (refused.write || !path) return refuse(caller, operation, path, type);
    const bool agent = mark.user == mark.agent || caller.pid == 0 || origins_.is_agent(caller.pid);
    const Verdict verdict = policy().judge(*path, type & S_IFMT, agent);
    return ask(caller, operation, *path, type,
               verdict.asks ? describe(*verdict.writing) : "another name of it is asked about");
}

/// Whether the caller may make, replace or take away that name.
Result<> PolicedTree::may_take(const Caller& caller, const char* operation, NodeId parent,
                               std::string_view name, mode_t type) const {
    return may_write(
        caller, operation, judge(parent, name, type), [&] { return path_below(parent, name); },
        type);
}

Result<> PolicedTree::may_change(const Caller& caller, const char* operation, NodeId id) const {
    return may_write(
        caller, operation, mark_of(id), [&] { return path_of(id); }, S_IFREG);
}

}  // namespace unwrite::overlay
