#include "git/renamed.h"

#include <vector>

namespace unwrite::git {

namespace {

constexpr std::string_view kReverts = "This reverts commit ";
// More than that is not an undo with a few commits of the day.
constexpr std::size_t kMost = 1000;

struct Replayed {
    std::string id;
    std::string known_by;  ///< author, their date and the subject: what a rebase keeps
};

/// The commits of `head` that `onto` has not, oldest first.
Result<std::vector<Replayed>> replayed(const Repository& repository, const std::string& head,
                                       const std::string& onto) {
    TRY_ASSIGN(const std::string text,
               repository.ask({"log", "-z", "--reverse", "--topo-order", "--no-show-signature",
                               "--encoding=UTF-8", "--format=tformat:%H%x00%an <%ae> %at %s", head,
                               "--not", onto, "--"}));
    const std::vector<std::string> fields = split_nul(text);
    std::vector<Replayed> list;
    for (std::size_t at = 0; at + 1 < fields.size(); at += 2)
        list.push_back({fields[at], fields[at + 1]});
    return list;
}

/// One by one where all are there in the same order; else those that cannot be confused.
Renamed pair(const std::vector<Replayed>& before, const std::vector<Replayed>& after) {
    bool same = before.size() == after.size();
    for (std::size_t i = 0; same && i < before.size(); ++i)
        same = before[i].known_by == after[i].known_by;
    Renamed names;
    if (same) {
        for (std::size_t i = 0; i < before.size(); ++i)
            names[before[i].id] = after[i].id;
        return names;
    }
    std::map<std::string, std::vector<std::string>> old_ids;
    std::map<std::string, std::vector<std::string>> new_ids;
    for (const Replayed& commit : before)
        old_ids[commit.known_by].push_back(commit.id);
    for (const Replayed& commit : after)
        new_ids[commit.known_by].push_back(commit.id);
    for (const auto& [known_by, ids] : old_ids) {
        const auto found = new_ids.find(known_by);
        if (ids.size() == 1 && found != new_ids.end() && found->second.size() == 1)
            names[ids[0]] = found->second[0];
    }
    return names;
}

void replace_all(std::string& text, const std::string& what, const std::string& with) {
    for (std::size_t at = text.find(what); at != std::string::npos;
         at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
}

std::string name_in(const Renamed& names, const std::string& id) {
    const auto found = names.find(id);
    return found == names.end() ? id : found->second;
}

class Rewriting {
 public:
    Rewriting(const Repository& repository, const Renamed& rebased)
        : repository_(repository), rebased_(rebased) {}

    /// `commit` anew, if its message or a parent has another name now.
    Result<> rewrite(const std::string& commit) {
        TRY_ASSIGN(const std::string raw, repository_.ask({"cat-file", "commit", commit}));
        const std::size_t blank = std::min(raw.find("\n\n"), raw.size());
        std::string head = raw.substr(0, blank);
        std::string body = raw.substr(blank);
        for (const auto& [old_id, new_id] : final_)
            replace_all(head, "\nparent " + old_id, "\nparent " + new_id);
        for (const auto& [old_id, new_id] : rebased_) {
            const std::string now = name_in(final_, new_id);
            replace_all(body, std::string(kReverts) + old_id, std::string(kReverts) + now);
        }
        if (head + body == raw) return {};
        signed_ = signed_ || head.find("\ngpgsig") != std::string::npos;
        TRY_ASSIGN(final_[commit],
                   repository_.line({"hash-object", "-t", "commit", "-w", "--stdin"},
                                    Extra{.input = head + body}));
        return {};
    }
    const Renamed& names() const { return final_; }
    /// One of them is signed: no other commit could have that signature.
    bool is_signed() const { return signed_; }

 private:
    const Repository& repository_;
    const Renamed& rebased_;
    Renamed final_;
    bool signed_ = false;
};

}  // namespace

Result<Renamed> name_after_rebase(const Repository& repository, const std::string& before,
                                  const std::string& onto) {
    TRY_ASSIGN(const std::string head, repository.line({"rev-parse", "HEAD"}));
    TRY_ASSIGN(const std::vector<Replayed> old_commits, replayed(repository, before, onto));
    TRY_ASSIGN(const std::vector<Replayed> new_commits, replayed(repository, head, onto));
    if (old_commits.size() > kMost) return Renamed();
    Renamed names = pair(old_commits, new_commits);
    Rewriting rewriting(repository, names);
    for (const Replayed& commit : new_commits)
        TRY(rewriting.rewrite(commit.id));
    if (rewriting.is_signed()) return names;
    const std::string tip = name_in(rewriting.names(), head);
    if (tip != head) {
        TRY(repository.ask(
            {"update-ref", "-m", "git undo: name what the rebase renamed", "HEAD", tip, head}));
    }
    for (auto& [old_id, new_id] : names)
        new_id = name_in(rewriting.names(), new_id);
    return names;
}

}  // namespace unwrite::git
