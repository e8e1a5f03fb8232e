// What the rules mean for a caller: allowed, refused and written down, or asked about.
#include <cerrno>

#include "overlay/policed_tree.h"

namespace unwrite::overlay {

namespace {

constexpr mode_t kExecuteBits = 0111;
constexpr mode_t kWriteBits = 0222;

}  // namespace

Error PolicedTree::refused_by_policy() {
    return Error(ErrorKind::kRefused, EACCES, "policy");
}

PolicedTree::Refusals PolicedTree::refusals(const Mark& mark, const Caller& caller,
                                            NodeId id) const {
    if (mark.user == mark.agent) return mark.user;
    if (caller.pid == 0) {
        if (caller.audience == Audience::kOthers) return mark.user;
        // An inode from before the file had a name that keeps the two apart may be anybody's.
        const bool may_be_agents =
            caller.audience == Audience::kAgents || (mark.apart && origins_.has_runs());
        if (!may_be_agents && id != 0 && !may_be_mapped_by_agent(id)) return mark.user;
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

std::optional<PolicedTree::Spot> PolicedTree::spot_of(const Aim& aim) const {
    const auto object = objects_.get(aim.id != 0 ? aim.id : aim.parent);
    if (!object) return std::nullopt;
    if (aim.id == 0) return Spot{*object, std::string(aim.name)};
    Objects::Place place = objects_.place(**object);
    if (!place.parent) return std::nullopt;
    return Spot{std::move(place.parent), std::move(place.name)};
}

std::optional<std::string> PolicedTree::path_of(const Aim& aim) const {
    return aim.id != 0 ? path_of(aim.id) : path_below(aim.parent, aim.name);
}

bool PolicedTree::judged_as_agent(const Mark& mark, const Caller& caller) const {
    return mark.user == mark.agent || caller.pid == 0 || origins_.is_agent(caller.pid);
}

// A sandbox mounts something over a name, and makes an empty file or directory for that first:
// where agents alone are refused a secret, they may do so and take it away again.
bool PolicedTree::is_harmless(const Mark& mark, const Caller& caller, const Aim& aim) const {
    if (aim.id != 0 || mark.user.read || !mark.agent.read || mark.agent.hidden) return false;
    if (caller.pid <= 0 || !origins_.is_agent(caller.pid)) return false;
    if (aim.outcome.goes) return is_own_and_empty(aim.parent, aim.name);
    return aim.outcome.inert && !standing(aim.parent, aim.name);
}

bool PolicedTree::is_own_and_empty(NodeId parent, std::string_view name) const {
    const auto above = objects_.get(parent);
    const auto x = standing(parent, name);
    if (!above || !x || key_of(*x).birth == 0 || !is_of_this_task(key_of(*x))) return false;
    if (S_ISREG(x->st.st_mode)) return x->st.st_size == 0;
    if (!S_ISDIR(x->st.st_mode)) return false;
    const auto directory = objects_.open(*above, Access::kPath);
    return directory && expect_empty((*directory)->fd.get(), std::string(name), key_of(*x)).ok();
}

bool PolicedTree::spares_tracked(const std::string& path, const Tracked::Bytes& bytes) {
    const Verdict verdict = policy().judge(path, S_IFREG, true);
    if (verdict.may_read || verdict.hidden || verdict.reading == nullptr) return false;
    return verdict.reading->spares_tracked && tracked_.has(path, bytes);
}

// The bytes of the very object that the answer is about, whatever its name leads to by now. With
// other names it may be kept from agents by another rule.
bool PolicedTree::is_tracked_as_it_is(NodeId parent, std::string_view name, const Entry& entry) {
    if (!S_ISREG(entry.st.st_mode) || entry.st.st_nlink > 1) return false;
    const auto path = path_below(parent, name);
    return path && spares_tracked(*path, [&] { return bytes_of_object(entry.id); });
}

Result<> PolicedTree::may_write(const Caller& caller, const char* operation, const Mark& mark,
                                const Aim& aim) const {
    if (!mark.protects()) return {};
    const Refusals refused = refusals(mark, caller, aim.id);
    if (!refused.write && !refused.ask) return {};
    const auto path = path_of(aim);
    if (refused.write && is_harmless(mark, caller, aim)) return {};
    if (refused.write || !path) return refuse(caller, operation, path, aim.type);
    const Verdict verdict = policy().judge(*path, aim.type & S_IFMT, judged_as_agent(mark, caller));
    if (!verdict.asks) return ask(caller, operation, *path, {"another name of it is asked about"});
    const auto matter = matter_of(*verdict.writing, aim, *path);
    return matter ? ask(caller, operation, *path, *matter) : Result<>{};
}

std::optional<PolicedTree::EditMatter> PolicedTree::matter_of_edit(
    const Rule& rule, NodeId parent, const EditAttempt& attempt) const {
    const std::string name = attempt.path.substr(attempt.path.rfind('/') + 1);
    const BytesLeft bytes = [&] { return attempt.bytes; };
    const Aim aim{.parent = parent,
                  .name = name,
                  .outcome = {attempt.goes ? Leaves::kNotExecutable : Leaves::kAnything, bytes,
                              attempt.goes}};
    auto matter = matter_of(rule, aim, attempt.path);
    if (!matter) return std::nullopt;
    return EditMatter{std::move(matter->rule), std::move(matter->detail), std::move(matter->topic)};
}

/// Whether the caller may make, replace or take away that name.
// In another filesystem inside the workspace nothing is recorded, so nothing can be taken back. One
// question for all that is in it.
Result<> PolicedTree::may_go_unrecorded(const Caller& caller, const char* operation,
                                        NodeId id) const {
    if (!objects_.any_inner() || caller.pid <= 0 || !origins_.is_agent(caller.pid)) return {};
    const auto object = objects_.get(id);
    if (!object || !(*object)->is_inner()) return {};
    ObjectPtr top = *object;
    for (ObjectPtr above = top; above && above->is_inner(); above = objects_.place(*above).parent)
        top = above;
    const auto path = objects_.path_of(top);
    Matter matter{.rule = "another filesystem",
                  .detail = "what changes there cannot be taken back",
                  .error = EROFS};
    if (!path) return refuse(caller, operation, path, matter);
    matter.topic = "inner" + std::string(1, '\0') + *path;
    return ask(caller, operation, *path, matter);
}

Result<> PolicedTree::may_take(const Caller& caller, const char* operation, NodeId parent,
                               std::string_view name, mode_t type, const Outcome& outcome) const {
    TRY(may_go_unrecorded(caller, operation, parent));
    return may_write(caller, operation, judge(parent, name, type),
                     {.parent = parent, .name = name, .type = type, .outcome = outcome});
}

Result<> PolicedTree::may_change(const Caller& caller, const char* operation, NodeId id,
                                 const Outcome& outcome) const {
    TRY(may_go_unrecorded(caller, operation, id));
    const Mark mark = mark_of(id);
    if (!mark.protects()) return {};
    const auto object = objects_.get(id);
    return may_write(caller, operation, mark,
                     {.id = id, .type = object ? (*object)->type() : S_IFREG, .outcome = outcome});
}

// Where only what can be executed is asked about, and nobody agrees, the file is made all the same,
// without the right to be executed: `git clone` copies the hooks of the user's template, and would
// fail as a whole.
Result<mode_t> PolicedTree::may_create(const Caller& caller, NodeId parent, std::string_view name,
                                       mode_t mode) const {
    TRY(may_go_unrecorded(caller, "create", parent));
    const Mark mark = judge(parent, name, S_IFREG);
    if (!mark.protects()) return mode;
    const mode_t plain = mode & ~kExecuteBits;
    const Outcome as_asked{mode == plain ? Leaves::kNotExecutable : Leaves::kAnything, empty, false,
                           (mode & kWriteBits) == 0};
    const auto take = [&](const char* operation, const Outcome& outcome) {
        return may_take(caller, operation, parent, name, S_IFREG, outcome);
    };
    const Aim aim{.parent = parent, .name = name, .outcome = {Leaves::kNotExecutable, empty}};
    const auto path = path_of(aim);
    const bool asks = path && refusals(mark, caller).ask;
    const Verdict verdict =
        asks ? policy().judge(*path, S_IFREG, judged_as_agent(mark, caller)) : Verdict();
    if (mode == plain || !verdict.asks || matter_of(*verdict.writing, aim, *path)) {
        TRY(take("create", as_asked));
        return mode;
    }
    const Result<> may = take("make-executable", as_asked);
    if (may) return mode;
    if (caller.question != nullptr && *caller.question != 0) return may.error();
    return plain;
}

}  // namespace unwrite::overlay
