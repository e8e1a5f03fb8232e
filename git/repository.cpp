#include "git/repository.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/syscalls.h"

namespace unwrite::git {

namespace {

Arguments command_line(const std::string& directory, const Arguments& arguments) {
    // A file monitor is a program that the repository itself may name, and a bare repository is
    // easily made of files anywhere; a recorded resolution would turn a conflict into something
    // nobody has looked at, and a guessed renaming of a directory would write where nobody looked.
    Arguments all = {"git",
                     "-C",
                     directory,
                     "--no-pager",
                     "--no-optional-locks",
                     "--no-replace-objects",
                     "--literal-pathspecs",
                     "-c",
                     "core.fsmonitor=false",
                     "-c",
                     "core.quotePath=false",
                     "-c",
                     "color.ui=false",
                     "-c",
                     "gc.auto=0",
                     "-c",
                     "maintenance.auto=false",
                     "-c",
                     "rerere.enabled=false",
                     "-c",
                     "merge.directoryRenames=false",
                     "-c",
                     "safe.bareRepository=explicit"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
}

Result<ProcessOutcome> run_git(Programs& programs, const std::string& directory,
                               const Arguments& arguments, const Extra& extra) {
    ProcessRequest request;
    request.arguments = command_line(directory, arguments);
    request.input = extra.input;
    request.timeout = extra.timeout;
    request.cancelled = extra.cancelled;
    request.grace = extra.grace;
    quieten(request);
    if (!extra.index.empty()) request.set.emplace_back("GIT_INDEX_FILE", extra.index);
    Result<ProcessOutcome> outcome = programs.run(request);
    if (outcome) return outcome;
    const std::string verb = arguments.empty() ? "git" : "git " + arguments[0];
    if (outcome.error().number() == ENOENT) {
        return Error(ErrorKind::kSystem, ENOENT, "git was not found",
                     "`apt install git` installs it; if it is there, add its directory to PATH");
    }
    if (outcome.error().number() == ETIMEDOUT) {
        return Error(
            ErrorKind::kSystem, ETIMEDOUT,
            verb + " did not end within " + std::to_string(extra.timeout.count()) + " seconds");
    }
    if (outcome.error().number() == ECANCELED) {
        return Error(ErrorKind::kSystem, ECANCELED, verb + " was interrupted");
    }
    return outcome.error().with_context("could not run " + verb);
}

struct Marker {
    const char* file;
    const char* word;
};
constexpr Marker kMarkers[] = {{"rebase-merge", "rebase"},          {"rebase-apply/applying", "am"},
                               {"rebase-apply", "rebase"},          {"MERGE_HEAD", "merge"},
                               {"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"},
                               {"sequencer", "sequencer"},          {"BISECT_LOG", "bisect"}};

/// Between two commits of `git revert A B` or `git cherry-pick A B` only the list of what is left
/// tells which it is.
std::string sequence(const std::string& todo) {
    const Result<UniqueFd> file = sys::open_at(AT_FDCWD, todo, O_RDONLY | O_NONBLOCK);
    char word[6] = {};
    const bool read =
        file && sys::read_exactly_at(file->get(), std::as_writable_bytes(std::span(word)), 0);
    return read && std::string_view(word, sizeof word) == "revert" ? "revert" : "cherry-pick";
}

}  // namespace

std::vector<std::string> split_nul(std::string_view text) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\0'), text.size());
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

std::string short_id(const std::string& id) {
    return id.substr(0, 7);
}

std::string how_to_end(const std::string& underway) {
    if (underway == "bisect") return "`git bisect reset` ends it";
    return "`git " + underway + " --continue` finishes it, `git " + underway +
           " --abort` gives it up";
}

Result<Repository> Repository::open(Programs& programs, const std::string& directory) {
    const Arguments question = {"rev-parse", "--is-inside-work-tree", "--show-toplevel"};
    TRY_ASSIGN(const ProcessOutcome outcome, run_git(programs, directory, question, {}));
    const std::string yes = "true\n";
    if (outcome.exit_code == 0 && outcome.out.starts_with(yes) && outcome.out.ends_with('\n')) {
        return Repository(programs,
                          outcome.out.substr(yes.size(), outcome.out.size() - yes.size() - 1));
    }
    const bool none = outcome.err.find("not a git repository") != std::string::npos;
    const bool bare = outcome.out.starts_with("false") ||
                      outcome.err.find("must be run in a work tree") != std::string::npos ||
                      outcome.err.find("safe.bareRepository") != std::string::npos;
    if (none) {
        return Error(ErrorKind::kNotFound, ENOENT, directory + " is not in a git repository",
                     "`cd` to the repository first, or name it: `unwrite -C DIR ...`");
    }
    if (bare) {
        return Error(ErrorKind::kNotFound, ENOENT,
                     directory + " has no work tree: it is a bare repository or a .git directory",
                     "`git clone` makes a work tree");
    }
    return Error(ErrorKind::kSystem, EIO,
                 "could not open the repository at " + directory + ": " + words_of(outcome));
}

Repository Repository::at(const std::string& root) const {
    return Repository(*programs_, root);
}

Result<ProcessOutcome> Repository::run(const Arguments& arguments, const Extra& extra) const {
    return run_git(*programs_, root_, arguments, extra);
}

Result<std::string> Repository::ask(const Arguments& arguments, const Extra& extra) const {
    TRY_ASSIGN(ProcessOutcome outcome, run(arguments, extra));
    if (outcome.exit_code == 0) return std::move(outcome.out);
    return Error(ErrorKind::kSystem, EIO, "git " + arguments[0] + " failed: " + words_of(outcome));
}

Result<std::string> Repository::line(const Arguments& arguments, const Extra& extra) const {
    TRY_ASSIGN(std::string text, ask(arguments, extra));
    if (text.ends_with('\n')) text.pop_back();
    return text;
}

Result<std::vector<std::string>> Repository::list(const Arguments& arguments,
                                                  const std::vector<std::string>& paths) const {
    // Far below the kernel's limit on arguments with the longest of names.
    constexpr std::size_t kAtOnce = 200;
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < paths.size(); at += kAtOnce) {
        Arguments some = arguments;
        some.emplace_back("--");
        const std::size_t end = std::min(at + kAtOnce, paths.size());
        some.insert(some.end(), paths.begin() + static_cast<std::ptrdiff_t>(at),
                    paths.begin() + static_cast<std::ptrdiff_t>(end));
        TRY_ASSIGN(const std::string text, ask(some));
        for (std::string& part : split_nul(text))
            parts.push_back(std::move(part));
    }
    return parts;
}

Result<std::string> Repository::configured(const std::string& key) const {
    TRY_ASSIGN(const ProcessOutcome outcome, run({"config", "-z", "--get", key}));
    if (outcome.exit_code == 1) return std::string();  // not set
    if (outcome.exit_code != 0) {
        return Error(ErrorKind::kSystem, EIO, "git config failed: " + words_of(outcome));
    }
    return outcome.out.substr(0, outcome.out.find('\0'));
}

Result<std::optional<std::string>> Repository::commit_of(const std::string& revision) const {
    TRY_ASSIGN(const ProcessOutcome outcome, run({"rev-parse", "--quiet", "--verify",
                                                  "--end-of-options", revision + "^{commit}"}));
    if (outcome.exit_code != 0) return std::optional<std::string>();
    return std::optional(outcome.out.substr(0, outcome.out.find('\n')));
}

Result<std::string> Repository::own_path(const std::string& name) const {
    TRY_ASSIGN(const std::string path, line({"rev-parse", "--git-path", name}));
    return path.starts_with('/') ? path : root_ + "/" + path;
}

Result<Standing> Repository::standing() const {
    Standing standing;
    TRY_ASSIGN(const std::optional<std::string> head, commit_of("HEAD"));
    standing.head = head.value_or("");
    TRY_ASSIGN(const ProcessOutcome branch, run({"symbolic-ref", "--quiet", "--short", "HEAD"}));
    if (branch.exit_code == 0) standing.branch = branch.out.substr(0, branch.out.find('\n'));
    TRY_ASSIGN(const std::string shallow, line({"rev-parse", "--is-shallow-repository"}));
    standing.shallow = shallow == "true";
    for (const Marker& marker : kMarkers) {
        TRY_ASSIGN(const std::string path, own_path(marker.file));
        if (standing.underway.empty() && sys::stat_at(AT_FDCWD, path)) {
            standing.underway = marker.word;
        }
    }
    if (standing.underway == "sequencer") {
        TRY_ASSIGN(const std::string todo, own_path("sequencer/todo"));
        standing.underway = sequence(todo);
    }
    return standing;
}

Result<std::vector<std::string>> Repository::staged_files() const {
    TRY_ASSIGN(const std::string names,
               ask({"diff-index", "--cached", "--name-only", "-z", "--no-renames",
                    "--ignore-submodules=none", "HEAD", "--"}));
    return split_nul(names);
}

Result<std::vector<std::string>> Repository::changed_files() const {
    // Unlike diff-files, status compares contents where only the times differ.
    TRY_ASSIGN(const std::string entries,
               ask({"status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames",
                    "--ignore-submodules=dirty"}));
    std::set<std::string> names;
    for (const std::string& entry : split_nul(entries)) {
        if (entry.size() > 3) names.insert(entry.substr(3));
    }
    return std::vector(names.begin(), names.end());
}

}  // namespace unwrite::git
