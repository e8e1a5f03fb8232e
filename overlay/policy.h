// Policy: which names of the workspace may be written, and which may be read by whom. Rules in
// order; for reading and for writing apart, the last rule that matches decides, so a rule against
// writing after one against reading does not allow reading again. A rule that begins with `!`
// allows both. Compiled once, then immutable: safe to use from any thread.
//
// Patterns are those of Glob; paths are relative to the root, bytes, no leading slash.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "overlay/glob.h"
#include "overlay/oversight.h"

namespace unwrite::overlay {

enum class Action {
    kAllow,
    kAsk,        ///< changed only after a person has allowed it
    kDenyWrite,  ///< seen and read, not changed
    kDeny,       ///< seen, neither read nor changed
    kHide,       ///< neither seen nor made
    kWatch,      ///< as the other rules say; who looks it up is in the audit log
    kTell,       ///< as the other rules say; what agents change there is named first
};

enum class Subjects {
    kEveryone,
    kAgents,
    kUser,  ///< everybody else; no configuration says this, `policy allow` does
};

/// Which changes of a name an asking rule is about. What is there afterwards decides.
enum class AsksAbout {
    kAnyChange,
    /// Of what is no directory: all but what leaves the bytes that stand there or stood there when
    /// the task began.
    kNewBytes,
    /// The same, and of files: a setting by which git would execute something, and which was not
    /// there (git_config.h).
    kNewSettings,
    /// Symbolic links that come; but not the one by which git tries whether there are links.
    kNewLinks,
};

struct Rule {
    std::string pattern{};  ///< a leading `!` makes it an exception, whatever `action` says
    Action action = Action::kDenyWrite;
    Subjects subjects = Subjects::kEveryone;
    std::string reason{};
    std::string source{};        ///< "profile default", "unwrite.toml:12"
    bool files_only = false;     ///< only regular files
    bool itself_only = false;    ///< not what is below a directory of that name
    bool existing_only = false;  ///< asks about what was there when the task began
    /// Asks about what could be executed: in a directory made since the task began, a file that
    /// nobody may execute is free.
    bool executable_only = false;
    AsksAbout asks_about = AsksAbout::kAnyChange;
    /// Asks only in a directory that stood there when the task began. The pattern is one name.
    bool old_places_only = false;
    /// Agents may read a file that git tracked when the task began, with the bytes that it had
    /// then.
    bool spares_tracked = false;
    Glob::Style style = Glob::Style::kRelative;
};

/// What the rules say of one path to one subject.
struct Verdict {
    bool may_read = true;
    bool may_write = true;
    bool asks = false;  ///< may not write, unless a person allows it
    bool hidden = false;
    const Rule* reading = nullptr;  ///< the rule that decided; null when none matched
    const Rule* writing = nullptr;
    const Rule* watching = nullptr;
    bool is_free() const { return may_read && may_write && !hidden; }
};

/// How much may be copied for the before-image of one file in one interval.
struct SizeCap {
    std::uint64_t bytes = 0;  ///< 0: no limit
    Subjects subjects = Subjects::kAgents;
};

/// What the breaker (breaker.h) counts, for each session: a run with all its descendants; the user
/// is one. Beyond, a person is asked. 0: no limit.
struct BreakerLimits {
    Subjects subjects = Subjects::kAgents;
    unsigned deleted_share =
        0;  ///< per cent of the files, below 100; from Breaker::kFewest deletions on
    std::uint64_t deletions = 0;
    std::uint64_t deletions_per_second = 0;
    std::uint64_t overwritten = 0;  ///< bytes
    std::uint64_t overwritten_per_second = 0;
    std::uint64_t directories = 0;  ///< in which anything changes
    std::uint64_t directories_per_second = 0;

    bool weighs_bytes() const { return (overwritten | overwritten_per_second) != 0; }
    bool weighs_directories() const { return (directories | directories_per_second) != 0; }
    bool weighs_deletions() const {
        return deleted_share != 0 || (deletions | deletions_per_second) != 0;
    }
    bool any() const { return weighs_bytes() || weighs_directories() || weighs_deletions(); }
};

class Policy {
 public:
    /// kUsage naming the rule's source and pattern when a pattern is wrong, or when a rule would
    /// hide names from agents alone: a directory's listing is one for all, for the kernel keeps it.
    static Result<std::shared_ptr<const Policy>> compile(std::vector<Rule> rules);

    bool empty() const { return rules_.empty(); }
    const std::vector<Rule>& rules() const { return rules_; }
    /// True when a rule does not concern everyone: the same name is then one thing to an agent and
    /// another to the user.
    bool tells_agents_apart() const { return tells_agents_apart_; }
    /// True when any rule refuses something to the user.
    bool binds_user() const { return binds_user_; }
    /// True when any rule hides names.
    bool hides() const { return hides_; }

    /// False when the verdict on a path that ends with `name`, and on all below it, is free as long
    /// as that is false for each component above it. Costs nanoseconds.
    bool may_concern(std::string_view name) const;
    /// `type`: S_IFMT bits of what is or would be there.
    Verdict judge(std::string_view path, std::uint32_t type, bool agent) const;
    /// The rule because of which a change there by an agent is to be named first: the last one that
    /// matches tells, or asks about more than what was there. Null: there is none.
    const Rule* telling(std::string_view path, std::uint32_t type) const;
    /// Sets the bit of each rule whose pattern is about this path, whatever other rules say and
    /// whomever it binds. `matched`: one bit for each of rules().
    void note_matches(std::string_view path, std::uint32_t type, std::vector<bool>& matched) const;
    /// False when a directory can move between these two paths without any verdict below it
    /// changing.
    bool tells_apart(std::string_view one, std::string_view other) const;

 private:
    bool is_about(std::size_t rule, std::string_view folded, std::uint32_t type) const;
    void note_beginning(const Glob& glob);
    struct Compiled {
        Glob glob;
        Glob::Reach reach = Glob::Reach::kBelow;
        bool exception = false;
    };
    std::vector<Rule> rules_;
    std::vector<Compiled> compiled_;  // beside rules_
    // Where patterns may begin: names as they are, and patterns of names.
    std::unordered_set<std::string> literals_;
    std::vector<Glob> wildcards_;
    bool tells_agents_apart_ = false;
    bool binds_user_ = false;
    bool hides_ = false;
};

/// The profiles that every workspace knows (docs/security.md). `bind`: who may not write; agents
/// alone may not read, in either case.
std::vector<Rule> default_rules(Subjects bind = Subjects::kAgents);
/// Databases and the files beside them.
std::vector<Rule> database_rules(Subjects subjects);
std::vector<Rule> strict_forge_rules();

/// For people.
RuleShown shown(const Rule& rule);
Explained explain(const Policy& policy, std::string_view path, std::uint32_t type);
/// For people: the pattern, where it stands, and why.
std::string describe(const Rule& rule);

/// "deny-write"; and back, nothing for another word.
const char* action_word(Action action);
std::optional<Action> parse_action(std::string_view word);

}  // namespace unwrite::overlay
