#include "git/commits.h"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>

namespace unwrite::git {

namespace {

constexpr std::string_view kReverts = "This reverts commit ";
constexpr std::string_view kOfMerge = ", reversing\nchanges made to ";
constexpr std::size_t kPage = 500;

struct Logged {
    AgentCommit commit;
    std::string body;
};

std::vector<std::string> words(const std::string& text) {
    std::vector<std::string> list;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        if (end > at) list.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return list;
}

bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/// A whole name of a commit at this place of a text, or "": a short one may be anything's.
std::string id_at(const std::string& text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && is_hex(text[end]))
        ++end;
    return end - at == 40 || end - at == 64 ? text.substr(at, end - at) : "";
}

/// What a message says that it reverts.
struct Claim {
    std::string id;
    std::string parent;  ///< of a merge: what it was reverted to; else ""
};

std::vector<Claim> reverted_by(const std::string& body) {
    std::vector<Claim> claims;
    for (std::size_t at = body.find(kReverts); at != std::string::npos;
         at = body.find(kReverts, at + 1)) {
        const std::size_t begin = at + kReverts.size();
        const std::string id = id_at(body, begin);
        if (id.empty()) continue;
        const bool merge = body.compare(begin + id.size(), kOfMerge.size(), kOfMerge) == 0;
        claims.push_back({id, merge ? id_at(body, begin + id.size() + kOfMerge.size()) : ""});
    }
    return claims;
}

Result<std::vector<Logged>> read_log(const std::string& text) {
    constexpr std::size_t kFields = 5;
    std::vector<std::string> fields;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\0', at), text.size());
        fields.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    if (fields.size() % kFields != 0) {
        return Error(ErrorKind::kSystem, EPROTO, "git log gave an answer that unwrite cannot read");
    }
    std::vector<Logged> list;
    for (std::size_t at = 0; at < fields.size(); at += kFields) {
        Logged logged;
        logged.commit.id = fields[at];
        logged.commit.parents = words(fields[at + 1]);
        logged.commit.time = fields[at + 2];
        logged.commit.subject = fields[at + 3];
        logged.body = fields[at + 4];
        list.push_back(std::move(logged));
    }
    return list;
}

/// Calls `visit` for each commit that has one of `needles` in its message, newest first, until it
/// answers false. git narrows the history down; what exactly matches is the caller's to decide.
Result<> walk(const Repository& repository, const std::string& from,
              const std::vector<std::string>& needles,
              const std::function<Result<bool>(Logged&)>& visit) {
    Arguments arguments = {"log",
                           "-z",
                           "--date-order",
                           "--no-patch",
                           "--no-show-signature",
                           "--no-notes",
                           "--encoding=UTF-8",
                           "--fixed-strings",
                           "--format=tformat:%H%x00%P%x00%aI%x00%s%x00%B",
                           "--max-count=" + std::to_string(kPage)};
    for (const std::string& needle : needles)
        arguments.push_back("--grep=" + needle);
    for (std::size_t skip = 0;; skip += kPage) {
        Arguments page = arguments;
        page.push_back("--skip=" + std::to_string(skip));
        page.insert(page.end(), {"--end-of-options", from, "--"});
        TRY_ASSIGN(const std::string text, repository.ask(page));
        TRY_ASSIGN(std::vector<Logged> list, read_log(text));
        for (Logged& logged : list) {
            TRY_ASSIGN(const bool more, visit(logged));
            if (!more) return {};
        }
        if (list.size() < kPage) return {};
    }
}

/// Keeps the books while a history is walked from its newest commit: a revert that stands undoes
/// what it names, a revert that was itself reverted does not.
class Undone {
 public:
    explicit Undone(const Repository& repository) : repository_(repository) {}

    /// The newer commit that reverted this one, or ""; notes what this one reverts, if none did.
    Result<std::string> meets(const Logged& logged) {
        const std::string by = by_whom(logged.commit.id);
        if (!by.empty()) return by;
        for (const Claim& claim : reverted_by(logged.body)) {
            by_.emplace(claim.id, logged.commit.id);
            if (!claim.parent.empty()) TRY(note_merged(claim, logged.commit.id));
        }
        return std::string();
    }
    std::string by_whom(const std::string& id) const {
        const auto found = by_.find(id);
        return found == by_.end() ? "" : found->second;
    }

 private:
    /// The revert of a merge takes back every commit that it brought.
    Result<> note_merged(const Claim& claim, const std::string& by) {
        TRY_ASSIGN(const ProcessOutcome brought,
                   repository_.run({"rev-list", claim.id, "--not", claim.parent, "--"}));
        if (brought.exit_code != 0) return {};  // a message may name anything
        for (std::size_t at = 0; at < brought.out.size();) {
            const std::size_t end = std::min(brought.out.find('\n', at), brought.out.size());
            by_.emplace(brought.out.substr(at, end - at), by);
            at = end + 1;
        }
        return {};
    }

    const Repository& repository_;
    std::map<std::string, std::string> by_;
};

class Search {
 public:
    Search(const Repository& repository, std::uint64_t issue, const Conventions& conventions,
           std::size_t wanted)
        : repository_(repository), conventions_(conventions), wanted_(wanted), undone_(repository) {
        for (const std::string& subject : conventions.subjects)
            subjects_.push_back(with_issue(subject, issue));
    }

    Result<Found> in(const std::string& from) {
        std::vector<std::string> needles = subjects_;
        needles.emplace_back(kReverts);
        TRY(walk(repository_, from, needles, [this](Logged& logged) { return meet(logged); }));
        return std::move(found_);
    }

 private:
    Result<bool> meet(Logged& logged) {
        TRY_ASSIGN(const std::string undone_by, undone_.meets(logged));
        const std::string& subject = logged.commit.subject;
        if (std::find(subjects_.begin(), subjects_.end(), subject) == subjects_.end()) return true;
        if (!undone_by.empty()) {
            found_.undone.push_back({std::move(logged.commit), undone_by});
            return true;
        }
        TRY(sort(std::move(logged.commit)));
        return found_.code.size() < wanted_;
    }

    Result<> sort(AgentCommit commit) {
        if (!commit.is_merge()) {
            const std::string parent = commit.parents.empty() ? "" : commit.parents[0];
            TRY_ASSIGN(commit.changes, changes_of(repository_, commit.id, parent));
            if (commit.changes.empty()) {
                ++found_.empty;
                return {};
            }
            if (code_files(commit, conventions_).empty()) {
                ++found_.state_only;
                return {};
            }
        }
        found_.code.push_back(std::move(commit));
        return {};
    }

    const Repository& repository_;
    const Conventions& conventions_;
    std::size_t wanted_;
    std::vector<std::string> subjects_;
    Undone undone_;
    Found found_;
};

}  // namespace

bool Conventions::is_state(std::string_view path) const {
    return std::any_of(state_paths.begin(), state_paths.end(), [&](const std::string& state) {
        return state.ends_with('/') ? path.starts_with(state) : path == state;
    });
}

std::string with_issue(std::string text, std::uint64_t issue) {
    constexpr std::string_view kPlace = "{issue}";
    const std::string number = std::to_string(issue);
    for (std::size_t at = text.find(kPlace); at != std::string::npos;
         at = text.find(kPlace, at + number.size())) {
        text.replace(at, kPlace.size(), number);
    }
    return text;
}

std::vector<std::string> code_files(const AgentCommit& commit, const Conventions& conventions) {
    std::vector<std::string> files;
    for (const PathChange& change : commit.changes) {
        if (!conventions.is_state(change.path)) files.push_back(change.path);
    }
    return files;
}

Result<std::vector<PathChange>> changes_of(const Repository& repository, const std::string& id,
                                           const std::string& parent) {
    Arguments arguments = {"diff-tree",   "-z",           "-r",     "--raw",
                           "--no-abbrev", "--no-renames", "--root", "--no-commit-id"};
    if (!parent.empty()) arguments.push_back(parent);
    arguments.push_back(id);
    TRY_ASSIGN(const std::string text, repository.ask(arguments));
    const std::vector<std::string> parts = split_nul(text);
    std::vector<PathChange> changes;
    for (std::size_t at = 0; at + 1 < parts.size(); at += 2) {
        // ":100644 100644 <old id> <new id> M", then the path.
        const std::vector<std::string> facts = words(parts[at]);
        if (facts.size() != 5 || facts[0].size() != 7) {
            return Error(ErrorKind::kSystem, EPROTO,
                         "git diff-tree gave an answer that unwrite cannot read");
        }
        changes.push_back({parts[at + 1], facts[0].substr(1), facts[2]});
    }
    return changes;
}

Result<Found> find_agent_commits(const Repository& repository, const std::string& from,
                                 std::uint64_t issue, const Conventions& conventions,
                                 std::size_t wanted) {
    return Search(repository, issue, conventions, wanted).in(from);
}

Result<std::string> revert_of(const Repository& repository, const std::string& from,
                              const std::string& id) {
    Undone undone(repository);
    const auto visit = [&](Logged& logged) -> Result<bool> {
        TRY(undone.meets(logged));
        return undone.by_whom(id).empty();
    };
    TRY(walk(repository, from, {std::string(kReverts)}, visit));
    return undone.by_whom(id);
}

Result<bool> is_reverted(const Repository& repository, const std::string& from,
                         const std::string& id) {
    TRY_ASSIGN(const std::string by, revert_of(repository, from, id));
    return !by.empty();
}

}  // namespace unwrite::git
