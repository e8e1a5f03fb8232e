#include "git/unpushed.h"

#include <algorithm>
#include <set>

namespace unwrite::git {

namespace {

// A remote may have nothing of a long history.
constexpr const char* kMost = "--max-count=1000";
constexpr const char* kFormat = "--format=tformat:%H%x00%s";

/// What `git rev-list HEAD --not ...` is given to leave out what the remote has.
Result<Arguments> at_remote(const Repository& repository, const PushTarget& target,
                            bool ask_remote) {
    const std::string copy = "refs/remotes/" + target.remote + "/" + target.branch;
    TRY_ASSIGN(const std::optional<std::string> known, repository.commit_of(copy));
    if (known) return Arguments{*known};
    const Arguments all = {"--remotes=" + target.remote};
    if (!ask_remote) return all;
    TRY_ASSIGN(const ProcessOutcome answer,
               repository.run({"ls-remote", target.remote, "refs/heads/" + target.branch}));
    const std::string tip = answer.out.substr(0, answer.out.find('\t'));
    if (answer.exit_code != 0 || tip.empty()) return all;
    TRY_ASSIGN(const std::optional<std::string> here, repository.commit_of(tip));
    return here ? Arguments{*here} : all;
}

}  // namespace

Result<Unpushed> find_unpushed(const Repository& repository, const PushTarget& target,
                               std::uint64_t issue, const Conventions& conventions,
                               const std::vector<UndoneCommit>& undone, bool ask_remote) {
    TRY_ASSIGN(const Arguments there, at_remote(repository, target, ask_remote));
    Arguments log = {"log",  "-z",   "--no-show-signature", "--encoding=UTF-8", kMost, kFormat,
                     "HEAD", "--not"};
    log.insert(log.end(), there.begin(), there.end());
    log.emplace_back("--");
    TRY_ASSIGN(const std::string text, repository.ask(log));
    const std::vector<std::string> fields = split_nul(text);
    Unpushed unpushed;
    std::set<std::string> ids;
    for (std::size_t at = 0; at + 1 < fields.size(); at += 2) {
        ids.insert(fields[at]);
        if (fields[at + 1] == with_issue(conventions.state_commit, issue)) unpushed.state = true;
        const bool reverts = std::any_of(undone.begin(), undone.end(),
                                         [&](const auto& entry) { return entry.by == fields[at]; });
        if (reverts && unpushed.newest.empty()) unpushed.newest = fields[at];
    }
    for (const UndoneCommit& entry : undone) {
        if (!ids.contains(entry.by)) continue;
        UndoneCommit whole = entry;
        const std::vector<std::string>& parents = entry.commit.parents;
        TRY_ASSIGN(whole.commit.changes,
                   changes_of(repository, entry.commit.id, parents.empty() ? "" : parents[0]));
        unpushed.undone.push_back(std::move(whole));
    }
    return unpushed;
}

}  // namespace unwrite::git
