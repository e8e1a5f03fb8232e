#include "cli/command_class.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <string_view>

namespace unwrite::cli {

namespace {

constexpr std::array kClasses = {
    OperationClass{"write-tracked", "write or edit a file that git tracks", "yes", "journal",
                   "none"},
    OperationClass{"write-untracked", "write or edit any other file of the workspace", "yes",
                   "journal", "none"},
    OperationClass{"write-outside", "write outside the workspace", "n/a", "walls of a run",
                   "blocked"},
    OperationClass{"write-denied", "write what a rule denies", "n/a", "policy", "blocked"},
    OperationClass{
        "write-asked",
        "write what a rule, the size cap or the breaker wants a person to be asked about", "yes",
        "journal", "required"},
    OperationClass{"read", "read, search, list", "n/a", "policy", "reading"},
    OperationClass{"run-read-only", "run a command that only reads", "n/a", "none", "none"},
    OperationClass{"run-side-effecting", "run a command that changes things", "no",
                   "only its writes to the workspace: journal", "required"},
    OperationClass{"run-unknown", "run a command that is not known", "no",
                   "only its writes to the workspace: journal", "required"},
    OperationClass{"remote", "git push, publish, and what else leaves the machine", "no", "none",
                   "required"},
    OperationClass{"decide", "commit, gc, discard --purge, change the policy, unmount", "no",
                   "none", "required"},
};

const OperationClass& named(std::string_view name) {
    return *std::find_if(kClasses.begin(), kClasses.end(),
                         [&](const OperationClass& one) { return name == one.name; });
}

using Words = std::span<const std::string>;

bool is_one_of(std::string_view word, std::initializer_list<const char*> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool has_any(Words words, std::initializer_list<const char*> wanted) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
        return std::any_of(wanted.begin(), wanted.end(), [&](const char* one) {
            // "-o" is in "-oFILE" as well, "--output" in "--output=FILE".
            return word.starts_with(one) && (one[1] != '-' || word.size() == std::strlen(one) ||
                                             word[std::strlen(one)] == '=');
        });
    });
}

/// The first word that is no option; `taking`: options that take the next word.
std::string_view verb_of(Words words, std::initializer_list<const char*> taking = {}) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (is_one_of(words[i], taking)) {
            ++i;
        } else if (!words[i].starts_with('-')) {
            return words[i];
        }
    }
    return {};
}

const char* class_of_git(Words words) {
    const std::string_view verb = verb_of(words, {"-C", "-c", "--git-dir", "--work-tree"});
    if (is_one_of(verb, {"push", "send-email", "send-pack", "svn", "p4"})) return "remote";
    // Any of them may write to a file; a configuration given here may run a program.
    if (has_any(words,
                {"-c", "--output", "-O", "--open-files-in-pager", "--ext-diff", "--config-env"}))
        return "run-unknown";
    if (is_one_of(verb, {"status", "log", "diff", "show", "blame", "ls-files", "ls-tree",
                         "rev-parse", "grep", "describe", "shortlog", "cat-file", "rev-list"}))
        return "run-read-only";
    return "run-side-effecting";
}

// Programs that send what they are given, with some of their verbs (none: with all).
struct Sender {
    const char* program;
    std::initializer_list<const char*> verbs;
};

bool is_sender(std::string_view program, Words words) {
    static const std::array kSenders = {Sender{"npm", {"publish", "unpublish", "deprecate"}},
                                        Sender{"pnpm", {"publish"}},
                                        Sender{"yarn", {"publish"}},
                                        Sender{"cargo", {"publish", "yank"}},
                                        Sender{"gem", {"push", "yank"}},
                                        Sender{"twine", {"upload"}},
                                        Sender{"docker", {"push"}},
                                        Sender{"podman", {"push"}},
                                        Sender{"hg", {"push"}},
                                        Sender{"svn", {"commit", "ci", "import", "copy", "delete"}},
                                        Sender{"gh", {}},
                                        Sender{"glab", {}},
                                        Sender{"kubectl", {}},
                                        Sender{"helm", {}},
                                        Sender{"terraform", {"apply", "destroy", "import"}},
                                        Sender{"aws", {}},
                                        Sender{"gcloud", {}},
                                        Sender{"az", {}},
                                        Sender{"ssh", {}},
                                        Sender{"scp", {}},
                                        Sender{"sftp", {}},
                                        Sender{"mail", {}},
                                        Sender{"sendmail", {}}};
    return std::any_of(kSenders.begin(), kSenders.end(), [&](const Sender& sender) {
        return program == sender.program &&
               (sender.verbs.size() == 0 || is_one_of(verb_of(words), sender.verbs));
    });
}

bool only_reads(std::string_view program, Words words) {
    if (is_one_of(program,
                  {"ls",     "cat",      "head",    "tail",     "wc",       "grep",   "egrep",
                   "fgrep",  "stat",     "file",    "du",       "df",       "pwd",    "echo",
                   "printf", "true",     "false",   "test",     "cmp",      "id",     "uname",
                   "whoami", "basename", "dirname", "realpath", "readlink", "md5sum", "sha256sum",
                   "sleep",  "cut",      "tr",      "nl",       "od"}))
        return true;
    if (program == "find") return !has_any(words, {"-delete", "-exec", "-ok", "-fprint", "-fls"});
    if (program == "rg") return !has_any(words, {"--pre", "--hostname-bin"});
    if (program == "diff" || program == "sort" || program == "tree")
        return !has_any(words, {"-o", "--output", "--compress-program"});
    return false;
}

bool changes_things(std::string_view program) {
    return is_one_of(program, {"rm",    "mv",    "cp",     "mkdir",  "rmdir",    "touch",   "chmod",
                               "chown", "ln",    "dd",     "tee",    "truncate", "install", "tar",
                               "unzip", "patch", "make",   "ninja",  "cmake",    "cargo",   "npm",
                               "pnpm",  "yarn",  "pip",    "go",     "rsync",    "sed",     "kill",
                               "curl",  "wget",  "docker", "podman", "apt",      "apt-get"});
}

}  // namespace

std::span<const OperationClass> operation_classes() {
    return kClasses;
}

const OperationClass& class_of(const std::vector<std::string>& command) {
    if (command.empty()) return named("run-unknown");
    // By a path it may be any program.
    const std::string& typed = command[0];
    const std::size_t slash = typed.rfind('/');
    const std::string_view program =
        std::string_view(typed).substr(slash == std::string::npos ? 0 : slash + 1);
    const Words words = Words(command).subspan(1);
    if (is_sender(program, words)) return named("remote");
    const char* const git = program == "git" ? class_of_git(words) : nullptr;
    if (git != nullptr && (slash == std::string::npos || std::strcmp(git, "remote") == 0))
        return named(git);
    if (slash != std::string::npos) return named("run-unknown");
    if (only_reads(program, words)) return named("run-read-only");
    return named(changes_things(program) ? "run-side-effecting" : "run-unknown");
}

}  // namespace unwrite::cli
