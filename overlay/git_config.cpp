#include "overlay/git_config.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <vector>

namespace unwrite::overlay {

namespace {

std::string lower(std::string_view text) {
    std::string folded(text);
    for (char& c : folded)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return folded;
}

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Section and key in lower case; `middle` is what stands between them.
struct Setting {
    std::string section;
    std::string middle;
    std::string key;
    std::optional<std::string> value;  ///< nothing: "true" in short
};

/// Reads a file as git does (config.c), one setting after the other.
class Reader {
 public:
    explicit Reader(std::string_view text) : text_(text) {
        if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    }

    std::optional<Setting> next() {
        for (;;) {
            while (!ended() && is_space(peek()))
                ++at_;
            if (ended()) return std::nullopt;
            const char c = peek();
            if (c == '#' || c == ';') {
                skip_line();
            } else if (c == '[') {
                ++at_;
                if (!read_section()) skip_line();
            } else if (auto setting = read_setting()) {
                return setting;
            }
        }
    }

 private:
    bool ended() const { return at_ >= text_.size(); }
    char peek() const { return text_[at_]; }
    void skip_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }
    /// The next character, with a line end as one; '\n' at the end of the file.
    char take() {
        if (ended()) return '\n';
        const char c = text_[at_++];
        if (c != '\r' || ended() || peek() != '\n') return c;
        ++at_;
        return '\n';
    }

    bool read_section() {
        section_.clear();
        middle_.clear();
        while (!ended() && (is_letter_or_digit(peek()) || peek() == '-' || peek() == '.'))
            section_ += text_[at_++];
        if (const auto dot = section_.find('.'); dot != std::string::npos) {
            middle_ = lower(section_.substr(dot + 1));
            section_.resize(dot);
        }
        section_ = lower(section_);
        while (!ended() && (peek() == ' ' || peek() == '\t'))
            ++at_;
        if (!ended() && peek() == '"') {
            ++at_;
            if (!middle_.empty()) middle_ += '.';
            if (!read_subsection()) return false;
        }
        if (ended() || peek() != ']') return false;
        ++at_;
        return true;
    }

    bool read_subsection() {
        while (!ended() && peek() != '\n') {
            char c = text_[at_++];
            if (c == '"') return true;
            if (c == '\\' && !ended()) c = text_[at_++];
            middle_ += c;
        }
        return false;
    }

    std::optional<Setting> read_setting() {
        Setting setting{section_, middle_, {}, {}};
        while (!ended() && (is_letter_or_digit(peek()) || peek() == '-'))
            setting.key += text_[at_++];
        setting.key = lower(setting.key);
        while (!ended() && (peek() == ' ' || peek() == '\t'))
            ++at_;
        if (setting.key.empty()) {
            skip_line();
            return std::nullopt;
        }
        const char c = take();
        if (c == '=')
            setting.value = read_value();
        else if (c != '\n')
            skip_line();
        return setting;
    }

    std::string read_value() {
        std::string value;
        std::size_t wanted = 0;  // without the white space behind it
        bool quoted = false;
        for (;;) {
            char c = take();
            if (c == '\n') break;
            if (!quoted && (c == '#' || c == ';')) {
                skip_line();
                break;
            }
            if (!quoted && is_space(c)) {
                if (!value.empty()) value += c;
                continue;
            }
            if (c == '"') {
                quoted = !quoted;
                wanted = std::max(wanted, value.size());
                continue;
            }
            if (c == '\\') {
                c = take();
                if (c == '\n') continue;
                c = c == 't' ? '\t' : c == 'b' ? '\b' : c == 'n' ? '\n' : c;
            }
            value += c;
            wanted = value.size();
        }
        value.resize(wanted);
        return value;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::string section_;
    std::string middle_;
};

/// `middle`: "" where it must be empty, "*" for any or none.
struct Executing {
    const char* section;
    const char* middle;
    const char* key;
    bool (*is)(std::string_view value) = nullptr;  ///< only with such a value; null: with any
};

bool is_program(std::string_view value) {
    static constexpr std::array kBooleans{"", "true", "false", "yes", "no", "on", "off"};
    const std::string folded = lower(value);
    return std::find(kBooleans.begin(), kBooleans.end(), folded) == kBooleans.end() &&
           folded.find_first_not_of("0123456789") != std::string::npos;
}

// git hands to a shell what begins with `!`; an option in front of a command may set anything.
bool is_command(std::string_view value) {
    const auto first = std::find_if_not(value.begin(), value.end(), is_space);
    return first != value.end() && (*first == '!' || *first == '-');
}

// `ext::command`: what stands before two colons names a program, and this one is a shell.
bool is_helper(std::string_view value) {
    const auto end = std::find_if_not(value.begin(), value.end(), [](char c) {
        return is_letter_or_digit(c) || c == '+' || c == '-' || c == '.';
    });
    return end != value.begin() &&
           value.substr(static_cast<std::size_t>(end - value.begin())).starts_with("::");
}

bool is_path(std::string_view value) {
    return value.find('/') != std::string_view::npos;
}

// Programs that options and arguments of these run come from other settings, which are judged.
constexpr std::string_view kPlainCommands[] = {
    "add",     "blame",    "branch",     "checkout",  "cherry",       "cherry-pick", "clean",
    "commit",  "describe", "diff",       "fetch",     "for-each-ref", "log",         "ls-files",
    "ls-tree", "merge",    "merge-base", "mv",        "pull",         "push",        "reflog",
    "reset",   "restore",  "rev-list",   "rev-parse", "revert",       "rm",          "shortlog",
    "show",    "stash",    "status",     "switch",    "symbolic-ref", "tag",         "whatchanged"};

std::vector<std::string_view> words_in(std::string_view text) {
    std::vector<std::string_view> words;
    for (auto end = text.begin(); end != text.end();) {
        const auto begin = std::find_if_not(end, text.end(), is_space);
        end = std::find_if(begin, text.end(), is_space);
        if (begin != end) words.emplace_back(begin, end);
    }
    return words;
}

// They name a program, or a file to write to; git takes them cut short as well.
constexpr std::string_view kTellingOptions[] = {"upload-pack", "receive-pack", "exec", "output",
                                                "ext-diff"};

bool is_telling_option(std::string_view word) {
    constexpr std::string_view kQuotes = "\"'\\";
    const std::size_t begin = word.find_first_not_of(kQuotes);
    if (begin == std::string_view::npos || word[begin] != '-') return false;
    if (begin != 0) return true;
    std::string_view name = word.substr(0, word.find('='));
    if (name.find_first_of(kQuotes) != std::string_view::npos) return true;
    if (!name.starts_with("--") || name.size() == 2) return false;
    name.remove_prefix(2);
    return std::any_of(std::begin(kTellingOptions), std::end(kTellingOptions),
                       [&](std::string_view option) { return option.starts_with(name); });
}

// What may run a program, or write outside: all but what is known not to.
bool is_telling_alias(std::string_view value) {
    if (value.find("::") != std::string_view::npos) return true;
    bool is_first = true;
    for (const std::string_view word : words_in(value)) {
        const bool plain = std::find(std::begin(kPlainCommands), std::end(kPlainCommands), word) !=
                           std::end(kPlainCommands);
        if (is_first ? !plain : is_telling_option(word)) return true;
        is_first = false;
    }
    return false;
}

constexpr Executing kExecuting[] = {
    {"core", "", "fsmonitor", is_program},
    {"core", "", "hookspath"},
    {"core", "", "sshcommand"},
    {"core", "", "pager"},
    {"core", "", "editor"},
    {"core", "", "askpass"},
    {"core", "", "gitproxy"},
    {"core", "", "alternaterefscommand"},
    {"sequence", "", "editor"},
    {"alias", "*", "*", is_telling_alias},
    {"pager", "*", "*", is_program},
    {"filter", "*", "clean"},
    {"filter", "*", "smudge"},
    {"filter", "*", "process"},
    {"credential", "*", "helper"},
    {"include", "*", "path"},
    {"includeif", "*", "path"},
    {"diff", "", "external"},
    {"diff", "", "tool", is_path},
    {"diff", "", "guitool", is_path},
    {"diff", "*", "command"},
    {"diff", "*", "textconv"},
    {"difftool", "*", "cmd"},
    {"difftool", "*", "path"},
    {"interactive", "", "difffilter"},
    {"merge", "*", "driver"},
    {"merge", "", "tool", is_path},
    {"merge", "", "guitool", is_path},
    {"mergetool", "*", "cmd"},
    {"mergetool", "*", "layout"},
    {"mergetool", "*", "path"},
    {"gpg", "*", "program"},
    {"gpg", "*", "defaultkeycommand"},
    {"hook", "*", "command"},
    {"init", "", "templatedir"},
    {"remote", "*", "url", is_helper},
    {"remote", "*", "pushurl", is_helper},
    {"remote", "*", "vcs"},
    {"remote", "*", "uploadpack"},
    {"remote", "*", "receivepack"},
    {"url", "*", "insteadof"},
    {"url", "*", "pushinsteadof"},
    {"protocol", "", "allow"},
    {"protocol", "ext", "allow"},
    {"branch", "*", "remote", is_helper},
    {"branch", "*", "pushremote", is_helper},
    {"remote", "", "pushdefault", is_helper},
    {"submodule", "*", "update", is_command},
    {"submodule", "*", "url", is_helper},
    {"trailer", "*", "command"},
    {"trailer", "*", "cmd"},
    {"browser", "*", "cmd"},
    {"browser", "*", "path"},
    {"man", "*", "cmd"},
    {"man", "*", "path"},
    {"guitool", "*", "cmd"},
    {"instaweb", "", "httpd"},
    {"instaweb", "", "modulepath"},
    {"svn", "", "authorsprog"},
    {"rebase", "", "instructionformat"},
    {"tar", "*", "command"},
    {"imap", "*", "tunnel"},
    {"gc", "", "recentobjectshook"},
    {"uploadpack", "", "packobjectshook"},
    {"sendemail", "*", "smtpserver", is_path},
    {"sendemail", "*", "sendmailcmd"},
    {"sendemail", "*", "tocmd"},
    {"sendemail", "*", "cccmd"},
    {"sendemail", "*", "headercmd"},
    {"lfs", "*", "path"},
    {"lfs", "*", "clean"},
    {"lfs", "*", "smudge"},
    {"lfs", "*", "standalonetransferagent"},
};

bool executes(const Setting& setting) {
    return std::any_of(std::begin(kExecuting), std::end(kExecuting), [&](const Executing& one) {
        const std::string_view middle = one.middle;
        const std::string_view key = one.key;
        if (setting.section != one.section || (key != "*" && setting.key != key)) return false;
        if (middle != "*" && setting.middle != middle) return false;
        // Only an address that names a program, in place of any other.
        if (setting.section == "url") return is_helper(setting.middle);
        return one.is == nullptr || one.is(setting.value.value_or("true"));
    });
}

std::string name_of(const Setting& setting) {
    std::string name = setting.section + '.';
    if (!setting.middle.empty()) name += setting.middle + '.';
    return name + setting.key + " = " + setting.value.value_or("true");
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_space(text.back()))
        text.remove_suffix(1);
    return text;
}

// Below a `.git` rules hold; git itself makes such files for worktrees and submodules only.
bool leads_below_a_repository(std::string_view gitdir) {
    bool within = false;
    bool owned = false;
    for (std::size_t begin = 0; begin <= gitdir.size();) {
        const std::size_t end = std::min(gitdir.find('/', begin), gitdir.size());
        const std::string_view part = gitdir.substr(begin, end - begin);
        if (within && part == "..") return false;
        if (within && !owned && (part == "modules" || part == "worktrees")) owned = true;
        within |= part == ".git";
        begin = end + 1;
    }
    return owned;
}

/// Where git would check files out to; `repository` holds the configuration.
bool leads_outside(std::string_view repository, std::string_view worktree) {
    if (worktree.starts_with('/') || worktree.starts_with('~')) return true;
    std::ptrdiff_t depth = 0;
    for (const std::string_view path : {repository, worktree}) {
        for (std::size_t begin = 0; begin < path.size();) {
            const std::size_t end = std::min(path.find('/', begin), path.size());
            const std::string_view part = path.substr(begin, end - begin);
            if (part == "..") --depth;
            if (part != ".." && part != "." && !part.empty()) ++depth;
            if (depth < 0) return true;
            begin = end + 1;
        }
    }
    return false;
}

std::set<std::string> settings_in(std::string_view config,
                                  const std::function<bool(const Setting&)>& tells) {
    std::set<std::string> found;
    Reader reader(config);
    while (const auto setting = reader.next()) {
        if (tells(*setting)) found.insert(name_of(*setting));
    }
    return found;
}

/// The lines of a rebase that is under way with which it will run programs.
std::set<std::string> executing_lines(std::string_view todo) {
    std::set<std::string> found;
    for (std::size_t begin = 0; begin < todo.size();) {
        const std::size_t end = std::min(todo.find('\n', begin), todo.size());
        const auto words = words_in(todo.substr(begin, end - begin));
        if (words.size() > 1 && (words[0] == "exec" || words[0] == "x"))
            found.insert("exec " + std::string(words[1].data(), todo.data() + end));
        begin = end + 1;
    }
    return found;
}

}  // namespace

std::set<std::string> executing_settings(std::string_view config) {
    return settings_in(config, executes);
}

std::set<std::string> executing_settings(std::string_view path, std::string_view content) {
    const std::size_t slash = path.rfind('/');
    const std::string name = lower(slash == std::string_view::npos ? path : path.substr(slash + 1));
    const std::string_view repository = path.substr(0, slash == std::string_view::npos ? 0 : slash);
    if (name == "config" || name == "config.worktree") {
        return settings_in(content, [&](const Setting& setting) {
            const bool places =
                setting.section == "core" && setting.middle.empty() && setting.key == "worktree";
            return executes(setting) ||
                   (places && leads_outside(repository, setting.value.value_or("")));
        });
    }
    if (name == "git-rebase-todo") return executing_lines(content);
    const std::string_view said = trimmed(content);
    if (said.empty()) return {};
    if (name == "commondir") {
        if (said == "../..") return {};
        return {"commondir: " + std::string(said)};
    }
    constexpr std::string_view kGitDir = "gitdir:";
    if (name != ".git" || !said.starts_with(kGitDir)) return {};
    std::string_view gitdir = said.substr(kGitDir.size());
    while (!gitdir.empty() && is_space(gitdir.front()))
        gitdir.remove_prefix(1);
    if (leads_below_a_repository(gitdir)) return {};
    return {"gitdir: " + std::string(gitdir)};
}

}  // namespace unwrite::overlay
