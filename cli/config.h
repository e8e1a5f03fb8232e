// Configuration: the user's unwrite.toml, then the workspace's .unwrite/config.toml, which wins.
// Everything has a default; an unknown key or a bad value is an error that names the file and the
// line.
//   durability = "ordered" | "power" | "process"
//   bell = true
//   idle = "auto" | "awake" | "asleep" (processors, while requests are coming)
//   [restore]  mtime = "exact" | "now"
//   [gc]       max_age_days = 30   max_abandoned = 0   max_bytes = "10G"      (0: no limit)
//   [journal]  reserve = "64M" (free space that agents' before-images leave alone; "0": none)
//              compress = "background" | "off" (captured bytes, when they are cold)
//   [policy]   profile = "default" | "strict-forge" | "none"   ask_timeout = "60s"
//              bind = "agents" | "everyone" (whom the default profile, databases, and rules that do
//              not say it themselves bind)
//              size_cap = "10M" (0: no limit)   size_cap_for = "agents" | "everyone"
//              databases = "agents" | "everyone" (are asked about) | "allow"
//   [policy.breaker]   for = "agents" | "everyone"   deleted_share = "50%" ("0%": no limit; so for
//                      the others, with 0)   deletions, deletions_per_second, directories,
//                      directories_per_second = 0   overwritten, overwritten_per_second = "0"
//   [[policy.rule]]  pattern = "..."
//                    action = "allow" | "ask" | "deny-write" | "deny" | "hide" | "watch"
//                    for = "agents" | "everyone"  reason = "..."
//   [agents.NAME]      config_agents.h has its keys
// The rules of both files follow those of the profile, the workspace's last.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/config_agents.h"
#include "cli/git_words.h"
#include "fs/mount.h"
#include "overlay/session.h"

namespace unwrite::cli {

struct Config {
    bool durable = false;
    bool ordered = true;  ///< unless durable
    bool mtime_now = false;
    bool bell = true;  ///< questions ring the terminal's; the user's file says so
    fs::Idle idle = fs::Idle::kChoose;
    overlay::Retention retention{30 * 86400ull, 0, 0};

    std::string profile = "default";
    overlay::Subjects bind = overlay::Subjects::kAgents;
    std::vector<overlay::Rule> rules{};        ///< in order; `source` is "file:line"
    std::set<std::size_t> unsaid{};            ///< those of them that do not say whom they bind
    std::vector<overlay::Rule> first_rules{};  ///< before those of the profile
    /// What the workspace's file says and is not in force, because the user has not agreed to it.
    std::vector<std::string> held_back{};
    std::chrono::seconds ask_timeout{60};
    overlay::SizeCap size_cap{std::uint64_t{10} << 20, overlay::Subjects::kAgents};
    overlay::BreakerLimits breaker{.deleted_share = 50};
    std::optional<std::string> databases{};  ///< without a value, those whom `bind` names
    std::optional<std::uint64_t> reserve{};  ///< bytes; without a value, what Reserve takes
    bool uncompressed = false;               ///< captured bytes stay as they are
    std::vector<ConfiguredAgent> agents{};   ///< the user's file says so

    /// kUsage naming the rule whose pattern is wrong.
    Result<std::shared_ptr<const overlay::Policy>> policy() const;
    /// Those of `rules` that are about no name below `workspace`, a descriptor of the raw
    /// directory. Looks at each name.
    Result<std::vector<overlay::RuleShown>> unmatched_rules(int workspace) const;
    /// `rules`, each with those whom it binds.
    std::vector<overlay::Rule> bound_rules() const;
    /// UNWRITE_COMPRESS_AFTER has a say in when bytes are cold, for tests.
    std::optional<std::chrono::milliseconds> compress_after() const;
    overlay::SessionOptions session_options(
        bool create, std::shared_ptr<const overlay::Policy> policy = nullptr) const {
        return {create,   durable,          mtime_now,      std::move(policy),
                git_tags, ask_timeout,      size_cap,       breaker,
                reserve,  compress_after(), overlay::kSoon, ordered && !durable};
    }
};

/// Reads `text` over what `config` has; `file` is its name in messages.
Result<> read_config(std::string_view text, const std::string& file, Config& config);
/// Both files; that of the workspace, as far as it tightens yours or you agreed to it
/// (agreement.h). `workspace` is a descriptor of the raw directory.
Result<Config> load_config(int workspace);
/// The same with `text` as the workspace's file.
Result<Config> load_config_with(const std::string& text);
/// The user's file alone.
Result<Config> load_user_config();

/// The text of that file, as it is.
struct UserFile {
    std::string file;  ///< where it is, or would be
    std::string text;  ///< empty when there is none
};
Result<UserFile> read_user_config();

}  // namespace unwrite::cli
