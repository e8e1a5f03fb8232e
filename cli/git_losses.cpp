#include "cli/git_losses.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "base/syscalls.h"
#include "cli/git_words.h"
#include "cli/text.h"
#include "git/elsewhere.h"
#include "git/programs.h"

namespace unwrite::cli {

namespace {

constexpr std::string_view kDirectory = ".git/";
constexpr std::string_view kBranches = "refs/heads/";
constexpr std::string_view kTags = "refs/tags/";
constexpr const char* kPacked = ".git/packed-refs";
constexpr const char* kStashes = ".git/logs/refs/stash";
constexpr std::size_t kMostCommits = 5;  ///< named for each branch
constexpr std::size_t kMostStashes = 3;
constexpr std::size_t kShortId = 7;
constexpr std::chrono::seconds kPatience(10);

bool is_id(std::string_view text) {
    return (text.size() == 40 || text.size() == 64) &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_shown(std::string_view ref) {
    return ref.starts_with(kBranches) || ref.starts_with(kTags);
}

/// A line of a diff that takes an id away or adds one: "-<id>", or "-<id> refs/heads/main".
struct IdLine {
    bool added = false;
    std::string id;
    std::string ref;
};
std::optional<IdLine> id_line(std::string_view line) {
    if (line.empty() || (line.front() != '-' && line.front() != '+')) return std::nullopt;
    const std::string_view rest = line.substr(1);
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (!is_id(rest.substr(0, end))) return std::nullopt;
    return IdLine{line.front() == '+', std::string(rest.substr(0, end)),
                  std::string(rest.substr(std::min(end + 1, rest.size())))};
}

struct Commits {
    std::uint64_t count = 0;
    std::vector<std::string> first;  ///< "1a2b3c4 Add the parser"
};

/// Those of `from` that are in none of `not_of`.
Result<Commits> commits_between(const std::string& root, const std::string& from,
                                const std::vector<std::string>& not_of) {
    ProcessRequest request;
    // rev-list runs no hook, pager, filter or signature program, whatever the configuration says.
    request.arguments = {"git",      "--git-dir=.git", "--no-replace-objects",
                         "rev-list", "--format=%s",    from};
    if (!not_of.empty()) request.arguments.emplace_back("--not");
    request.arguments.insert(request.arguments.end(), not_of.begin(), not_of.end());
    request.directory = root;
    request.timeout = kPatience;
    git::quieten(request);
    request.set.insert(request.set.end(),
                       {{"GIT_NO_LAZY_FETCH", "1"}, {"GIT_ALLOW_PROTOCOL", "none"}});
    git::InstalledPrograms programs;
    TRY_ASSIGN(const ProcessOutcome outcome, programs.run(request));
    if (outcome.exit_code != 0)
        return Error(ErrorKind::kSystem, EIO, "git: " + git::words_of(outcome));
    Commits commits;
    std::string id;
    for (const std::string_view line : lines_of(outcome.out)) {
        if (line.starts_with("commit ") && is_id(line.substr(7))) {
            ++commits.count;
            id = line.substr(7, kShortId);
        } else if (commits.first.size() < kMostCommits) {
            commits.first.push_back(id + " " + harmless(line));
        }
    }
    return commits;
}

class Losses {
 public:
    Losses(std::string root, const std::map<std::string, RefChange>& refs,
           const git::GitState& then)
        : root_(std::move(root)) {
        if (is_id(then.head)) known_.push_back(then.head);
        for (const auto& [name, change] : refs) {
            if (is_id(change.before)) known_.push_back(change.before);
        }
    }

    void add_ref(std::string_view ref, const RefChange& change) {
        if (change.after.empty()) return;  // it comes back
        const bool tag = ref.starts_with(kTags);
        if (!tag && !ref.starts_with(kBranches)) return add_commits("a detached HEAD", change);
        const std::string name = quote_name(ref.substr(tag ? kTags.size() : kBranches.size()));
        if (tag) {
            if (change.before.empty()) line("the new tag " + name);
        } else if (change.before.empty()) {
            add_commits("the new branch " + name, change);
        } else {
            add_commits(name, change);
        }
    }

    void add_stash(const git::GitState& then, const git::GitState& now) {
        std::vector<std::string> gone;
        for (const git::StashEntry& entry : now.stash) {
            if (std::find(then.stash.begin(), then.stash.end(), entry) == then.stash.end())
                gone.push_back(entry.message);
        }
        if (gone.empty()) return;
        line(counted(gone.size(), "stash entry", "stash entries") + ":");
        for (std::size_t i = 0; i < std::min(gone.size(), kMostStashes); ++i)
            line("  " + harmless(gone[i]));
        if (gone.size() > kMostStashes)
            line(fmt::format("  ... and {} more", gone.size() - kMostStashes));
    }

    std::string take() { return std::move(text_); }

 private:
    void line(const std::string& words) { text_ += "  " + words + "\n"; }

    void add_commits(const std::string& where, const RefChange& change) {
        const bool fresh = change.before.empty();
        const auto commits = commits_between(root_, change.after, known_);
        if (!commits) {
            line(fresh ? where
                       : fmt::format("what was committed on {} since {}", where,
                                     change.before.substr(0, kShortId)));
            return;
        }
        const std::string count = counted(commits->count, "commit", "commits");
        if (commits->count == 0) {
            line(fresh ? where
                       : fmt::format("{} goes back to {}; no commit is lost", where,
                                     change.before.substr(0, kShortId)));
            return;
        }
        known_.push_back(change.after);  // said once
        line(fresh ? where + ", with " + count + ":" : count + " on " + where + ":");
        for (const std::string& one : commits->first)
            line("  " + one);
        if (commits->count > commits->first.size())
            line(fmt::format("  ... and {} more", commits->count - commits->first.size()));
    }

    std::string root_;
    std::vector<std::string> known_;  ///< commits that stay, or were named
    std::string text_;
};

}  // namespace

std::map<std::string, RefChange> ref_changes(const std::vector<overlay::FileDiff>& diffs,
                                             std::string_view packed) {
    // Both files that a ref may be in, then and now. Where it is in both, its own file wins.
    std::map<std::string, RefChange> loose;
    std::map<std::string, RefChange> packing;
    for (const std::string_view line : lines_of(packed)) {
        const std::optional<IdLine> entry = id_line("+" + std::string(line));
        if (entry && is_shown(entry->ref)) packing[entry->ref] = {entry->id, entry->id};
    }
    std::set<std::string> touched;
    for (const overlay::FileDiff& diff : diffs) {
        const bool in_pack = diff.change.path == kPacked;
        if (!diff.change.path.starts_with(kDirectory)) continue;
        std::map<std::string, RefChange> changed;
        for (const std::string_view text : lines_of(diff.text)) {
            const std::optional<IdLine> line = id_line(text);
            if (!line) continue;
            const std::string ref =
                in_pack ? line->ref : diff.change.path.substr(kDirectory.size());
            if (!is_shown(ref)) continue;
            (line->added ? changed[ref].after : changed[ref].before) = line->id;
        }
        for (const auto& [ref, change] : changed) {
            touched.insert(ref);
            (in_pack ? packing : loose)[ref] = change;
        }
    }
    std::map<std::string, RefChange> changes;
    for (const std::string& ref : touched) {
        RefChange change = loose[ref];
        if (change.before.empty()) change.before = packing[ref].before;
        if (change.after.empty()) change.after = packing[ref].after;
        if (change.before != change.after) changes[ref] = change;
    }
    return changes;
}

Result<std::string> git_losses(Workspace& workspace, const std::string& since,
                               const git::GitState& then) {
    const git::GitState now = git_state_of(workspace.root());
    if (now.layout != git::Layout::kDirectory && !now.outside) return std::string();
    TRY_ASSIGN(const auto diffs,
               workspace.operations().diff(
                   since, "", {".git/refs/heads", ".git/refs/tags", kPacked, kStashes}, true));
    if (now.outside && diffs.empty()) {
        return now == then ? std::string()
                           : std::string(
                                 "Commits and the index stay as they are: the repository "
                                 "lies outside the\nworkspace, and no run changed it.\n");
    }
    const auto elsewhere = git::find_elsewhere(workspace.root());
    const auto packed =
        sys::read_file_at(AT_FDCWD, elsewhere ? elsewhere->repository + "/packed-refs"
                                              : workspace.root() + "/" + kPacked);
    std::map<std::string, RefChange> refs = ref_changes(diffs, packed ? *packed : "");
    if (now.branch.empty() && now.head != then.head) refs["HEAD"] = {then.head, now.head};
    Losses losses(workspace.root(), refs, then);
    for (const bool fresh : {false, true}) {
        for (const auto& [ref, change] : refs) {
            if (change.before.empty() == fresh) losses.add_ref(ref, change);
        }
    }
    const bool stashed = std::any_of(diffs.begin(), diffs.end(),
                                     [](const auto& diff) { return diff.change.path == kStashes; });
    if (stashed) losses.add_stash(then, now);
    const std::string text = losses.take();
    return text.empty() ? text : "In git, this takes away:\n" + text;
}

}  // namespace unwrite::cli
