#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "overlay/workspace.h"

namespace unwrite::overlay {

Result<AuditTrail> Workspace::audit(std::uint64_t most) {
    auditor_.flush();
    TRY_ASSIGN(AuditTrail trail, journal::read_audit(journal_->state_dir().fd()));
    const std::uint64_t surplus =
        trail.entries.size() - std::min<std::uint64_t>(most, trail.entries.size());
    trail.entries.erase(trail.entries.begin(),
                        trail.entries.begin() + static_cast<std::ptrdiff_t>(surplus));
    return trail;
}

// A chain cannot be mended: it is kept as it is, and another begins.
Result<> Workspace::repair_audit(Checked& checked) {
    TRY_ASSIGN(const AuditTrail trail, journal::read_audit(journal_->state_dir().fd()));
    if (trail.problems.empty()) return {};
    TRY(audit_log_->set_aside());
    for (std::size_t i = 0; i < trail.problems.size(); ++i)
        checked.repaired.push_back(std::string("put the audit log away as ") +
                                   journal::AuditLog::kBrokenName + " and began a new one");
    return {};
}

void Workspace::note_refusal(const Asker& asker, const std::string& command) {
    auditor_.note(asker.pid, asker.uid, {"refused", command, {}, "an agent may not do this"});
}

namespace {

/// Whoever comes through the root finds the annex under another name.
std::string judged_path(const std::string& path) {
    const std::string_view entry = kAnnexEntry;
    const bool is_annex =
        path.starts_with(entry) && (path.size() == entry.size() || path[entry.size()] == '/');
    return is_annex ? Objects::kAnnexPath + path.substr(entry.size()) : path;
}

Error no_policy(const std::string& what) {
    return Error(ErrorKind::kUsage, EINVAL,
                 what + ": no policy is in force, because the workspace is not mounted",
                 "`unwrite mount DIR` puts it in force");
}

}  // namespace

Result<std::vector<RuleShown>> Workspace::rules() {
    if (!policed_) return no_policy("show the policy");
    std::vector<RuleShown> all;
    for (const Rule& rule : policed_->rulebook().now().rules())
        all.push_back(shown(rule));
    // The allowances are the last of them, in the same order.
    const std::vector<Allowance> allowances = policed_->rulebook().allowances();
    const std::size_t count = std::min(all.size(), allowances.size());
    for (std::size_t i = 0; i < count; ++i)
        all[all.size() - count + i].until_ns = allowances[allowances.size() - count + i].until_ns;
    return all;
}

Result<Explained> Workspace::explain(const std::string& asked) {
    if (!policed_) return no_policy("explain the policy");
    const std::string path = judged_path(asked);
    std::uint32_t type = S_IFREG;
    const auto [top, below] = objects_.top_of(path);
    TRY_ASSIGN(const HandlePtr root, objects_.open(top, Access::kPath));
    auto there = sys::statx_at(root->fd.get(), below);
    if (there) type = there->st.st_mode & S_IFMT;
    Explained explained = overlay::explain(policed_->rulebook().now(), path, type);
    if (there && type == S_IFREG && there->st.st_nlink > 1 && explained.agent.may_read &&
        policed_->is_kept_from_agents(key_of(*there))) {
        explained.agent.may_read = false;
        explained.agent.reading = "the rule for another name of the same file";
    }
    if (there) objects_.correct(there->st, key_of(*there));
    if (there && type == S_IFREG && there->st.st_nlink == 1) {
        explained.tracked = policed_->spares_tracked(path, [&]() -> std::optional<std::string> {
            const auto file = sys::open_at(root->fd.get(), below, O_PATH | O_NOFOLLOW);
            return file ? PolicedTree::bytes_in(file->get()) : std::nullopt;
        });
    }
    return explained;
}

namespace {

// By what will be there, or by what was there before.
bool looks_closer(const Rule& rule) {
    return rule.asks_about != AsksAbout::kAnyChange || rule.existing_only || rule.executable_only ||
           rule.old_places_only;
}

}  // namespace

// Errors: that of the directory's look-up (ENOENT: the edit will make it).
Result<std::optional<PolicedTree::EditMatter>> Workspace::edit_matter(const Rule& rule,
                                                                      const EditAttempt& attempt) {
    std::vector<NodeId> known;
    NodeId parent = kRootId;
    Result<> found;
    const std::size_t slash = attempt.path.rfind('/');
    const std::string above = slash == std::string::npos ? "" : attempt.path.substr(0, slash);
    for (std::size_t begin = 0; found && begin < above.size();) {
        const std::size_t end = std::min(above.find('/', begin), above.size());
        const std::string_view name = std::string_view(above).substr(begin, end - begin);
        const auto entry = tree_.lookup(Caller{}, parent, name);
        begin = end + 1;
        if (!entry) {
            found = entry.error();
        } else {
            parent = entry->id;
            known.push_back(parent);
        }
    }
    std::optional<PolicedTree::EditMatter> matter;
    if (found) matter = policed_->matter_of_edit(rule, parent, attempt);
    for (auto id = known.rbegin(); id != known.rend(); ++id)
        tree_.forget(*id, 1);
    TRY(found);
    return matter;
}

// A server of tools that was not started by a run is an agent all the same. The mount does not know
// it as one, so its questions are asked here.
Result<MayEdit> Workspace::may_edit(const Asker& asker, const EditAttempt& attempt) {
    MayEdit may;
    if (!policed_) return may;
    TRY_ASSIGN(const Explained explained, explain(attempt.path));
    const bool known = origins_->is_agent(asker.pid);
    if (attempt.directory && !known) return may;
    const bool agent = known || !attempt.session.empty();
    const Judged& judged = agent ? explained.agent : explained.user;
    const bool may_read = (judged.may_read && !judged.hidden) || (agent && explained.tracked);
    if (may_read && (!attempt.write || judged.may_write)) return may;
    const Verdict verdict =
        policed_->rulebook().now().judge(judged_path(attempt.path), S_IFREG, agent);
    const Rule* rule = may_read ? verdict.writing : verdict.reading;
    if (rule != nullptr) {
        may.pattern = rule->pattern;
        may.source = rule->source;
        may.reason = rule->reason;
    }
    may.asks = may_read && judged.asks;
    may.hidden = judged.hidden;
    const auto session =
        known ? origins_->session_of_agent(asker.pid) : std::optional<std::string>(attempt.session);
    Questions::About about;
    about.rule = judged.writing;
    const bool is_closer = rule != nullptr && looks_closer(*rule);
    bool asks_here = agent && session && !(attempt.directory && is_closer);
    if (may.asks && asks_here && is_closer) {
        may.by_content = true;
        if (attempt.bytes) {
            const auto asked = edit_matter(*rule, attempt);
            // In a run the mount judges what cannot be told here.
            asks_here = asked ? asked->has_value() : !known;
            if (asked && *asked) {
                about.rule = (*asked)->rule;
                about.detail = (*asked)->detail;
                about.topic = (*asked)->topic;
            }
        }
    }
    may.granted = may.asks && !asks_here;
    if (!may.asks || may.granted || !attempt.ask || (may.by_content && !attempt.bytes)) return may;
    questions_.expire();
    about.operation = "edit";
    about.path = attempt.path;
    about.session = session;
    about.pid = asker.pid;
    about.uid = asker.uid;
    about.error = EACCES;
    const Questions::Verdict answer = questions_.judge(about, /*can_wait=*/true);
    may.granted = answer.granted;
    may.denied = answer.denied;
    may.waits = answer.wait_for != 0;
    may.question = may.waits ? answer.wait_for : questions_.number_of(about);
    return may;
}

Result<> Workspace::allow(const Asker& asker, const std::string& path, bool agents,
                          std::uint64_t seconds) {
    if (!policed_) return no_policy("allow a path");
    if (path.empty()) {
        return Error(ErrorKind::kUsage, EINVAL, "the path is the whole workspace",
                     "`profile = \"none\"` in the configuration puts no rules in force");
    }
    constexpr std::uint64_t kMostSeconds = 10ull * 365 * 86400;
    Allowance allowance{path, agents, 0};
    if (seconds != 0) {
        allowance.until_ns = wall_clock_ns() + static_cast<std::int64_t>(
                                                   std::min(seconds, kMostSeconds) * 1'000'000'000);
    }
    // Written down first: what cannot be seen later is not allowed now.
    const std::string whom = agents ? "to everyone" : "to the user";
    TRY(auditor_.note_now(asker.pid, asker.uid,
                          {"allowed", "policy", path,
                           whom + (seconds == 0 ? std::string(" until the unmount")
                                                : " for " + std::to_string(seconds) + " s")}));
    TRY(policed_->rulebook().allow(allowance));
    policed_->rules_changed();
    questions_.reconsider();
    return {};
}

Result<Questioned> Workspace::questions(const Watcher& watcher) {
    return questions_.look(watcher);
}

Result<Question> Workspace::answer(const Asker& asker, QuestionNumber number, bool approve,
                                   bool whole_rule) {
    if (!policed_) return no_policy("answer a question");
    return questions_.answer(asker, number, approve, whole_rule);
}

Result<> Workspace::pass_over(QuestionNumber number, std::uint64_t watcher) {
    questions_.pass_over(number, watcher);
    return {};
}

Result<> Workspace::replace_policy(const Asker& asker, std::shared_ptr<const Policy> policy) {
    if (!policed_) return no_policy("reload the policy");
    TRY(auditor_.note_now(asker.pid, asker.uid, {"reloaded", "policy", {}, {}}));
    TRY(policed_->rulebook().replace(std::move(policy)));
    policed_->rules_changed();
    questions_.reconsider();
    return {};
}

}  // namespace unwrite::overlay
