#include "git/accept.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/syscalls.h"

namespace unwrite::git {

namespace {

/// One line of `git status --porcelain=v2`.
struct Entry {
    char kind = 0;  ///< '1' changed, 'u' unmerged, '?' untracked
    std::string path;
    std::string submodule;  ///< "N...", or "S" and three letters
    std::string staged;     ///< the staged blob, where it is neither HEAD's nor the file's
};

/// The path of a line is what follows its n-th space.
std::string after_space(std::string_view line, int count) {
    for (; count > 0; --count) {
        const std::size_t space = line.find(' ');
        if (space == std::string_view::npos) return {};
        line.remove_prefix(space + 1);
    }
    return std::string(line);
}

std::string first_word(const std::string& text) {
    return text.substr(0, text.find(' '));
}

std::vector<Entry> parse_status(std::string_view text) {
    constexpr int kBeforeChanged = 8;
    constexpr int kBeforeUnmerged = 10;
    constexpr std::size_t kSubmodule = 5;
    std::vector<Entry> entries;
    for (const std::string& line : split_nul(text)) {
        Entry entry;
        entry.kind = line.empty() ? '\0' : line[0];
        if (entry.kind == '?') {
            entry.path = after_space(line, 1);
        } else if (entry.kind == '1' || entry.kind == 'u') {
            entry.path = after_space(line, entry.kind == '1' ? kBeforeChanged : kBeforeUnmerged);
            if (line.size() > kSubmodule + 4) entry.submodule = line.substr(kSubmodule, 4);
            // "1 XY sub mH mI mW hH hI path"
            const bool both = line[0] == '1' && line[2] != '.' && line[2] != 'D' && line[3] != '.';
            if (both) entry.staged = first_word(after_space(line, kBeforeChanged - 1));
        }
        if (!entry.path.empty()) entries.push_back(std::move(entry));
    }
    return entries;
}

std::string joined_nul(const std::vector<std::string>& paths) {
    std::string text;
    for (const std::string& path : paths) {
        text += path;
        text += '\0';
    }
    return text;
}

constexpr std::chrono::hours kHooks(24);  // a hook may well run all the tests there are
const Arguments kFromInput = {"--pathspec-from-file=-", "--pathspec-file-nul"};

Arguments with_paths(Arguments arguments) {
    arguments.insert(arguments.end(), kFromInput.begin(), kFromInput.end());
    return arguments;
}

struct Chosen {
    std::vector<std::string> files;
    std::vector<std::string> fresh;  ///< those of them that git does not know yet
    std::vector<std::string> left_out;
    std::vector<std::pair<std::string, std::string>> staged_otherwise;
};

bool is_below(const std::set<std::string>& paths, const std::string& directory) {
    const auto first = paths.lower_bound(directory + "/");
    return first != paths.end() && first->starts_with(directory + "/");
}

/// git sees one entry where a scope may name the files in it, or those of its repository.
bool concerns_submodule(const Repository& repository, const Scope& scope, const std::string& path) {
    if (scope.covers(path) || is_below(scope.paths, path)) return true;
    const Result<std::string> own =
        repository.at(repository.root() + "/" + path).line({"rev-parse", "--absolute-git-dir"});
    const std::string top = repository.root() + "/";
    return own && own->starts_with(top) && is_below(scope.paths, own->substr(top.size()));
}

/// Why it is left out, else "".
std::string against_submodule(const Entry& entry, const Scope& scope) {
    // "SC..": it stands at another commit, which is a change of this repository.
    if (entry.submodule[1] != 'C') return "a submodule with changes of its own";
    if (is_below(scope.except, entry.path)) return "a submodule of which not all is accepted";
    return "";
}

void take(const Entry& entry, const Scope& scope, Chosen& chosen) {
    if (entry.submodule.starts_with('S')) {
        if (const std::string why = against_submodule(entry, scope); !why.empty()) {
            chosen.left_out.push_back(entry.path + ": " + why);
            return;
        }
    }
    // All files are asked for, so a directory is one that git does not look into.
    if (entry.kind == '?' && entry.path.ends_with('/')) {
        chosen.left_out.push_back(entry.path + ": a repository of its own");
        return;
    }
    chosen.files.push_back(entry.path);
    if (entry.kind == '?') chosen.fresh.push_back(entry.path);
    if (!entry.staged.empty()) chosen.staged_otherwise.emplace_back(entry.path, entry.staged);
}

/// No status shows what changed in these.
Result<> leave_out_unwatched(const Repository& repository, const Scope& scope, Chosen& chosen) {
    TRY_ASSIGN(const std::vector<std::string> entries,
               repository.list({"ls-files", "-z", "-v"}, {scope.paths.begin(), scope.paths.end()}));
    for (const std::string& entry : entries) {  // "h path": a small letter or an S are the flags
        if (entry.size() < 3 || (entry[0] != 'S' && (entry[0] < 'a' || entry[0] > 'z'))) continue;
        const std::string path = entry.substr(2);
        // What a sparse checkout left away is not there, and nobody changed it.
        const bool away =
            entry[0] == 'S' && !sys::stat_at(AT_FDCWD, repository.root() + "/" + path);
        if (scope.covers(path) && !away)
            chosen.left_out.push_back(path + ": git is told not to look at its changes");
    }
    return {};
}

Result<Chosen> choose(const Repository& repository, const Scope& scope) {
    TRY_ASSIGN(const std::string text,
               repository.ask({"status", "--porcelain=v2", "-z", "--untracked-files=all",
                               "--no-renames", "--ignore-submodules=none"}));
    Chosen chosen;
    for (const Entry& entry : parse_status(text)) {
        const bool concerned = entry.submodule.starts_with('S')
                                   ? concerns_submodule(repository, scope, entry.path)
                                   : scope.covers(entry.path);
        if (!concerned) continue;
        if (entry.kind == 'u') {
            return Error(ErrorKind::kConflict, EBUSY,
                         "commit to git: " + entry.path + " is unmerged",
                         "resolve it and `git add` it first");
        }
        take(entry, scope, chosen);
    }
    TRY_ASSIGN(const std::string ignored, repository.ask({"ls-files", "-z", "--others", "--ignored",
                                                          "--exclude-standard", "--directory"}));
    for (const std::string& path : split_nul(ignored)) {
        if (scope.covers(path)) chosen.left_out.push_back(path + ": ignored");
    }
    TRY(leave_out_unwatched(repository, scope, chosen));
    std::sort(chosen.files.begin(), chosen.files.end());
    // What was staged as deleted and is there again is listed twice.
    chosen.files.erase(std::unique(chosen.files.begin(), chosen.files.end()), chosen.files.end());
    return chosen;
}

Result<> check(const Repository& repository, const Standing& standing) {
    if (!standing.underway.empty()) {
        return Error(
            ErrorKind::kConflict, EBUSY, "commit to git: a " + standing.underway + " is under way",
            how_to_end(standing.underway) + "; without --git the changes are accepted as they are");
    }
    TRY_ASSIGN(const ProcessOutcome identity, repository.run({"var", "GIT_COMMITTER_IDENT"}));
    if (identity.exit_code == 0) return {};
    return Error(ErrorKind::kSystem, EINVAL,
                 "commit to git: git has no name and address for the author",
                 "`git config user.name NAME` and `git config user.email ADDRESS` set them");
}

/// A commit of named files takes only names that the index has.
Result<> make_known(const Repository& repository, const std::vector<std::string>& fresh) {
    if (fresh.empty()) return {};
    Arguments add = {"add", "--intent-to-add"};
    TRY_ASSIGN(const std::string sparse, repository.configured("core.sparseCheckout"));
    if (sparse == "true") add.emplace_back("--sparse");
    TRY(repository.ask(with_paths(add), {.input = joined_nul(fresh)}));
    return {};
}

/// The opposite; exactly those entries, for anything more would touch what a person staged.
void forget(const Repository& repository, const std::vector<std::string>& fresh) {
    if (fresh.empty()) return;
    ignore(repository.ask({"update-index", "-z", "--force-remove", "--stdin"},
                          {.input = joined_nul(fresh)}),
           "what stays behind is the intent to add");
}

/// git may fail, or be ended, after it made the commit: while a hook runs that is told of it.
bool is_made(const Repository& repository, const std::optional<std::string>& before) {
    const auto now = repository.commit_of("HEAD");
    const auto parent = repository.commit_of("HEAD^");
    return now && parent && now->has_value() && *now != before && *parent == before;
}

/// What a hook added to the commit (a formatter, say) is not in the index, which would then have
/// the next commit undo it. What a person staged stays, but for the files that were asked for.
void settle_index(const Repository& repository, const std::vector<std::string>& files,
                  const std::set<std::string>& staged_before) {
    std::vector<std::string> behind = repository.staged_files().value_or({});
    if (behind.empty()) return;
    const Result<std::string> text =
        repository.ask({"diff-tree", "-r", "-z", "--root", "--no-commit-id", "--name-only",
                        "--no-renames", "HEAD"});
    if (!text) return;
    const std::vector<std::string> all = split_nul(*text);
    const std::set<std::string> committed(all.begin(), all.end());
    std::erase_if(behind, [&](const std::string& path) {
        const bool asked = std::binary_search(files.begin(), files.end(), path);
        return !committed.contains(path) || (!asked && staged_before.contains(path));
    });
    if (behind.empty()) return;
    ignore(repository.ask(with_paths({"reset", "--quiet"}), {.input = joined_nul(behind)}),
           "the commit is made all the same");
}

}  // namespace

bool Scope::covers(std::string_view path) const {
    while (path.ends_with('/'))
        path.remove_suffix(1);
    for (;;) {
        if (except.contains(std::string(path))) return false;
        if (paths.contains(std::string(path))) return true;
        const std::size_t slash = path.rfind('/');
        if (slash == std::string_view::npos) return false;
        path = path.substr(0, slash);
    }
}

Result<Accepted> commit_scope(const Repository& repository, const Scope& scope,
                              const std::string& message, const Arguments& options,
                              const Cancelled& cancelled) {
    TRY_ASSIGN(Chosen chosen, choose(repository, scope));
    TRY_ASSIGN(const std::optional<std::string> before, repository.commit_of("HEAD"));
    if (chosen.files.empty()) {
        return Error(ErrorKind::kNothing, ENOENT,
                     "commit to git: nothing among it that git would record");
    }
    const std::vector<std::string> staged = repository.staged_files().value_or({});
    TRY(make_known(repository, chosen.fresh));
    Arguments commit = {"commit", "--quiet", "--only", "-m", message};
    commit.insert(commit.end(), options.begin(), options.end());
    const Extra extra{.input = joined_nul(chosen.files), .timeout = kHooks, .cancelled = cancelled};
    const Result<std::string> committed = repository.ask(with_paths(commit), extra);
    if (!committed && !is_made(repository, before)) {
        forget(repository, chosen.fresh);
        if (committed.error().number() != ECANCELED) return committed.error();
        return Error(ErrorKind::kSystem, ECANCELED,
                     "commit to git: interrupted, so nothing was committed");
    }
    settle_index(repository, chosen.files, {staged.begin(), staged.end()});
    Accepted accepted;
    TRY_ASSIGN(accepted.commit, repository.line({"rev-parse", "HEAD"}));
    accepted.files = std::move(chosen.files);
    accepted.left_out = std::move(chosen.left_out);
    accepted.staged_otherwise = std::move(chosen.staged_otherwise);
    return accepted;
}

Result<Accepted> commit_accepted(const Repository& repository, const Scope& scope,
                                 const std::string& message, const Cancelled& cancelled) {
    TRY_ASSIGN(const Standing standing, repository.standing());
    TRY(check(repository, standing));
    TRY_ASSIGN(Accepted accepted, commit_scope(repository, scope, message, {}, cancelled));
    accepted.branch = standing.branch;
    return accepted;
}

}  // namespace unwrite::git
