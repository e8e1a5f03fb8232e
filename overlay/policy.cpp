#include "overlay/policy.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace unwrite::overlay {

namespace {

constexpr std::array<std::pair<Action, const char*>, 7> kActions = {{
    {Action::kAllow, "allow"},
    {Action::kAsk, "ask"},
    {Action::kDenyWrite, "deny-write"},
    {Action::kDeny, "deny"},
    {Action::kHide, "hide"},
    {Action::kWatch, "watch"},
    {Action::kTell, "tell"},
}};

}  // namespace

const char* action_word(Action action) {
    for (const auto& [value, word] : kActions) {
        if (value == action) return word;
    }
    return "";
}

std::optional<Action> parse_action(std::string_view word) {
    for (const auto& [value, name] : kActions) {
        if (word == name) return value;
    }
    return std::nullopt;
}

std::string describe(const Rule& rule) {
    std::string text = rule.pattern + " (" + rule.source + ")";
    if (!rule.reason.empty()) text += ": " + rule.reason;
    return text;
}

RuleShown shown(const Rule& rule) {
    RuleShown made;
    made.pattern = rule.pattern;
    made.action = rule.pattern.starts_with('!') ? "allow" : action_word(rule.action);
    made.subjects = rule.subjects == Subjects::kEveryone ? "everyone"
                    : rule.subjects == Subjects::kAgents ? "agents"
                                                         : "user";
    made.reason = rule.reason;
    made.source = rule.source;
    return made;
}

Explained explain(const Policy& policy, std::string_view path, std::uint32_t type) {
    const auto judged = [&](bool agent) {
        const Verdict verdict = policy.judge(path, type, agent);
        const auto words = [](const Rule* rule) {
            return rule == nullptr ? std::string() : describe(*rule);
        };
        return Judged{verdict.may_read, verdict.may_write,      verdict.asks,
                      verdict.hidden,   words(verdict.reading), words(verdict.writing)};
    };
    return {judged(false), judged(true)};
}

Result<std::shared_ptr<const Policy>> Policy::compile(std::vector<Rule> rules) {
    auto policy = std::make_shared<Policy>();
    for (const Rule& rule : rules) {
        std::string_view pattern = rule.pattern;
        Compiled compiled;
        compiled.exception = pattern.starts_with('!') || rule.action == Action::kAllow;
        if (pattern.starts_with('!')) pattern.remove_prefix(1);
        if (rule.itself_only) compiled.reach = Glob::Reach::kItself;
        auto glob = Glob::compile(pattern, rule.style);
        if (!glob) {
            return Error(ErrorKind::kUsage, EINVAL,
                         rule.source + ": the pattern `" + rule.pattern +
                             "` is wrong: " + glob.error().message(),
                         "docs/security.md says what a pattern may be");
        }
        if (rule.action == Action::kHide && rule.subjects == Subjects::kAgents) {
            return Error(
                ErrorKind::kUsage, EINVAL,
                rule.source + ": `" + rule.pattern + "` cannot be hidden from agents alone",
                "use `deny`, or hide it from everyone");
        }
        compiled.glob = *std::move(glob);
        // An exception only frees what another rule, which begins where it does, refuses.
        const bool refuses = !compiled.exception && rule.action != Action::kTell;
        if (refuses) {
            policy->note_beginning(compiled.glob);
            policy->binds_user_ |= rule.subjects != Subjects::kAgents;
        }
        policy->compiled_.push_back(std::move(compiled));
        policy->hides_ |= rule.action == Action::kHide;
        policy->tells_agents_apart_ |=
            rule.action != Action::kTell && rule.subjects != Subjects::kEveryone;
    }
    policy->rules_ = std::move(rules);
    return std::shared_ptr<const Policy>(std::move(policy));
}

// Several rules begin at the same name as a rule: each is looked at once.
void Policy::note_beginning(const Glob& glob) {
    const std::string& begins = glob.beginning();
    if (glob.begins_at_one_name()) {
        literals_.insert(begins);
    } else if (std::none_of(wildcards_.begin(), wildcards_.end(),
                            [&](const Glob& other) { return other.beginning() == begins; })) {
        wildcards_.push_back(glob);
    }
}

bool Policy::may_concern(std::string_view name) const {
    if (rules_.empty()) return false;
    const std::string folded = Glob::fold(name);
    return literals_.contains(folded) ||
           std::any_of(wildcards_.begin(), wildcards_.end(),
                       [&](const Glob& glob) { return glob.may_begin_at(folded); });
}

bool Policy::is_about(std::size_t rule, std::string_view folded, std::uint32_t type) const {
    if (rules_[rule].files_only && !S_ISREG(type)) return false;
    if (rules_[rule].asks_about == AsksAbout::kNewLinks && !S_ISLNK(type)) return false;
    if (rules_[rule].asks_about == AsksAbout::kNewSettings && S_ISDIR(type)) return false;
    return compiled_[rule].glob.matches(folded, S_ISDIR(type), compiled_[rule].reach);
}

void Policy::note_matches(std::string_view path, std::uint32_t type,
                          std::vector<bool>& matched) const {
    const std::string folded = Glob::fold(path);
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        if (!matched[i]) matched[i] = is_about(i, folded, type);
    }
}

Verdict Policy::judge(std::string_view path, std::uint32_t type, bool agent) const {
    const std::string folded = Glob::fold(path);
    Verdict verdict;
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        const Rule& rule = rules_[i];
        if (rule.subjects == (agent ? Subjects::kUser : Subjects::kAgents)) continue;
        if (!is_about(i, folded, type)) continue;
        const Action action = compiled_[i].exception ? Action::kAllow : rule.action;
        if (action == Action::kWatch) verdict.watching = &rule;
        if (action == Action::kWatch || action == Action::kTell) continue;
        verdict.writing = &rule;
        verdict.may_write = action == Action::kAllow;
        verdict.asks = action == Action::kAsk;
        if (action == Action::kDenyWrite || action == Action::kAsk) continue;
        verdict.reading = &rule;
        verdict.may_read = action == Action::kAllow;
        verdict.hidden = action == Action::kHide;
    }
    return verdict;
}

const Rule* Policy::telling(std::string_view path, std::uint32_t type) const {
    const std::string folded = Glob::fold(path);
    for (std::size_t i = rules_.size(); i-- > 0;) {
        const Rule& rule = rules_[i];
        const bool tells = !compiled_[i].exception &&
                           (rule.action == Action::kTell || rule.action == Action::kAsk) &&
                           !rule.existing_only;
        if (!tells && !compiled_[i].exception) continue;
        if (is_about(i, folded, type)) return tells ? &rule : nullptr;
    }
    return nullptr;
}

bool Policy::tells_apart(std::string_view one, std::string_view other) const {
    const std::string folded = Glob::fold(one);
    const std::string folded_other = Glob::fold(other);
    return std::any_of(compiled_.begin(), compiled_.end(), [&](const Compiled& compiled) {
        return compiled.glob.tells_apart(folded, folded_other, compiled.reach);
    });
}

}  // namespace unwrite::overlay
