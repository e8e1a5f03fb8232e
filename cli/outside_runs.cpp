#include "cli/outside_runs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/syscalls.h"
#include "cli/explaining.h"
#include "cli/text.h"
#include "overlay/git_config.h"

namespace unwrite::cli {

namespace {

using overlay::Change;

constexpr std::size_t kMostWalked = 20'000;
constexpr std::size_t kMostListed = 20;

// Of a directory that came only its maker is known, and others may have written below it.
bool is_by_agents(const Change& change, const std::vector<overlay::Origin>& origins) {
    if (S_ISDIR(change.type)) {
        return std::any_of(origins.begin(), origins.end(),
                           [](const overlay::Origin& origin) { return origin.agent; });
    }
    return change.origins.empty() ||
           std::any_of(change.origins.begin(), change.origins.end(), [&](auto number) {
               const auto found = std::find_if(
                   origins.begin(), origins.end(),
                   [&](const overlay::Origin& origin) { return origin.number == number; });
               return found == origins.end() || found->agent;
           });
}

/// Those in force, with what a rule of the profile has besides what is shown of it.
Result<std::shared_ptr<const overlay::Policy>> policy_of(Context& context, Workspace& workspace) {
    if (!workspace.mount()) return configured_policy(context.base);
    TRY_ASSIGN(const auto all, workspace.oversight().rules());
    const std::vector<overlay::Rule> profile = overlay::default_rules();
    std::vector<overlay::Rule> rules;
    for (const overlay::RuleShown& one : all) {
        if (one.source == "policy allow") continue;  // it runs all the same
        const auto known =
            std::find_if(profile.begin(), profile.end(), [&](const overlay::Rule& rule) {
                return rule.pattern == one.pattern && rule.source == one.source &&
                       overlay::shown(rule).action == one.action;
            });
        overlay::Rule rule = known != profile.end() ? *known : overlay::Rule();
        rule.pattern = one.pattern;
        rule.source = one.source;
        rule.subjects = overlay::Subjects::kEveryone;
        if (known == profile.end())
            rule.action = overlay::parse_action(one.action).value_or(overlay::Action::kWatch);
        rule.existing_only = one.source == "policy.databases";
        rules.push_back(std::move(rule));
    }
    return overlay::Policy::compile(std::move(rules));
}

struct Candidate {
    std::string path;
    const overlay::Rule* rule = nullptr;
    bool is_new = false;
};

class Finder {
 public:
    Finder(const overlay::Policy& policy, std::string root)
        : policy_(policy), root_(std::move(root)) {}

    void add(const Change& change) {
        const bool came = change.kind == overlay::ChangeKind::kCreated;
        add(change.path, change.type, came);
        if (S_ISDIR(change.type) && (came || change.kind == overlay::ChangeKind::kRenamed))
            add_below(change.path);
    }
    const std::vector<Candidate>& found() const { return found_; }

 private:
    void add(const std::string& path, std::uint32_t type, bool is_new) {
        if (S_ISDIR(type)) return;
        if (const overlay::Rule* rule = policy_.telling(path, type))
            found_.push_back({path, rule, is_new});
    }
    void add_below(const std::string& directory) {
        namespace fs = std::filesystem;
        std::error_code error;
        const auto options = fs::directory_options::skip_permission_denied;
        fs::recursive_directory_iterator entry(root_ + '/' + directory, options, error);
        for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
            if (++walked_ > kMostWalked) return;
            const std::string path = entry->path().string().substr(root_.size() + 1);
            if (entry->is_symlink(error))
                add(path, S_IFLNK, true);
            else if (entry->is_regular_file(error))
                add(path, S_IFREG, true);
            error.clear();
        }
    }

    const overlay::Policy& policy_;
    std::string root_;
    std::size_t walked_ = 0;
    std::vector<Candidate> found_;
};

bool is_manifest(const Candidate& candidate) {
    return candidate.rule->action == overlay::Action::kTell &&
           candidate.rule->pattern == "package.json";
}

bool is_judged_by_content(const Candidate& candidate) {
    return is_manifest(candidate) || candidate.rule->asks_about == overlay::AsksAbout::kNewSettings;
}

/// What of it runs; nothing when that is as it was.
std::optional<std::string> what_runs(const Candidate& candidate, const std::string& older,
                                     const std::string& newer) {
    std::string words;
    const auto add = [&](const std::string& word) { words += (words.empty() ? "" : ", ") + word; };
    if (is_manifest(candidate)) {
        for (const std::string& script : new_scripts(older, newer))
            add(script);
        return words.empty() ? std::nullopt : std::optional("scripts: " + words);
    }
    const auto before = overlay::executing_settings(candidate.path, older);
    for (const std::string& setting : overlay::executing_settings(candidate.path, newer))
        if (!before.contains(setting)) add(setting);
    return words.empty() ? std::nullopt : std::optional(words);
}

/// The scripts of a package.json by their names.
std::map<std::string, std::string> scripts_of(std::string_view text) {
    std::map<std::string, std::string> scripts;
    const auto json = nlohmann::json::parse(text, nullptr, false, true);
    if (!json.is_object() || !json.contains("scripts") || !json["scripts"].is_object()) return {};
    for (const auto& [name, script] : json["scripts"].items())
        scripts[name] = script.is_string() ? script.get<std::string>() : script.dump();
    return scripts;
}

}  // namespace

std::vector<std::string> new_scripts(std::string_view older, std::string_view newer) {
    std::vector<std::string> names;
    const auto before = scripts_of(older);
    for (const auto& [name, script] : scripts_of(newer)) {
        const auto known = before.find(name);
        if (known == before.end() || known->second != script) names.push_back(name);
    }
    return names;
}

std::string before_diff(std::string_view newer, std::string_view diff) {
    std::string older;
    std::size_t at = 0;  // in `newer`
    std::size_t line = 1;
    const auto copy_line = [&](bool keep) {
        const std::size_t end = std::min(newer.find('\n', at), newer.size() - 1) + 1;
        if (at < newer.size() && keep) older += newer.substr(at, end - at);
        at = std::min(end, newer.size());
        ++line;
    };
    bool in_hunk = false;
    for (std::size_t begin = 0; begin < diff.size();) {
        const std::size_t end = std::min(diff.find('\n', begin), diff.size());
        const std::string_view one = diff.substr(begin, end - begin);
        begin = end + 1;
        if (one.starts_with("@@ ")) {
            const std::size_t plus = one.find('+');
            std::size_t first = 0;
            for (std::size_t i = plus + 1; i < one.size() && one[i] >= '0' && one[i] <= '9'; ++i)
                first = first * 10 + static_cast<std::size_t>(one[i] - '0');
            // Of a hunk without a line of its own the number is that of the line before.
            const bool empty = one.find(",0 @@") != std::string_view::npos;
            while (line < first + (empty ? 1 : 0) && at < newer.size())
                copy_line(true);
            in_hunk = true;
        } else if (in_hunk && !one.empty() && one.front() == '+') {
            copy_line(false);
        } else if (in_hunk && !one.empty() && one.front() == '-') {
            older += std::string(one.substr(1)) + '\n';
        } else if (in_hunk && (one.empty() || one.front() == ' ')) {
            copy_line(true);
        }
    }
    return older + std::string(newer.substr(at));
}

Result<std::vector<OutsideRun>> outside_runs(Context& context, Workspace& workspace,
                                             const std::vector<Change>& changes,
                                             const std::vector<overlay::Origin>& origins,
                                             const std::string& since) {
    TRY_ASSIGN(const auto policy, policy_of(context, workspace));
    Finder finder(*policy, workspace.root());
    for (const Change& change : changes) {
        if (change.kind != overlay::ChangeKind::kDeleted && is_by_agents(change, origins))
            finder.add(change);
    }
    std::vector<std::string> compared;
    for (const Candidate& candidate : finder.found())
        if (is_judged_by_content(candidate) && !candidate.is_new)
            compared.push_back(candidate.path);
    std::map<std::string, std::string> diffs;
    if (!compared.empty()) {
        TRY_ASSIGN(const auto all, workspace.operations().diff(since, "", compared, true));
        for (const overlay::FileDiff& diff : all)
            diffs[diff.change.path] = diff.text;
    }
    std::vector<OutsideRun> runs;
    for (const Candidate& candidate : finder.found()) {
        if (!is_judged_by_content(candidate)) {
            runs.push_back({candidate.path});
            continue;
        }
        const auto now = sys::read_file_at(AT_FDCWD, workspace.root() + '/' + candidate.path);
        const std::string newer = now ? *now : std::string();
        const std::string older = candidate.is_new ? "" : before_diff(newer, diffs[candidate.path]);
        if (auto what = what_runs(candidate, older, newer))
            runs.push_back({candidate.path, *std::move(what)});
    }
    return runs;
}

Result<std::vector<OutsideRun>> outside_runs_of_task(Context& context, Workspace& workspace) {
    TRY_ASSIGN(const overlay::Status status, workspace.operations().status("", false));
    TRY_ASSIGN(const overlay::Log log, workspace.operations().log("", false, false));
    return outside_runs(context, workspace, status.changes, log.origins, "");
}

std::string outside_run_words(const std::vector<OutsideRun>& runs) {
    if (runs.empty()) return "";
    const std::string more = runs.size() > 1 ? fmt::format(" and {} more", runs.size() - 1) : "";
    return "Runs outside the sandbox: " + quote_name(runs.front().path) + more;
}

std::string outside_run_lines(const std::vector<OutsideRun>& runs) {
    if (runs.empty()) return "";
    std::string text = "Runs outside the sandbox; look at it before you use it:\n";
    for (std::size_t i = 0; i < std::min(runs.size(), kMostListed); ++i) {
        text += "  ! " + quote_name(runs[i].path);
        if (!runs[i].what.empty()) text += "  (" + harmless(runs[i].what) + ")";
        text += '\n';
    }
    if (runs.size() > kMostListed)
        text += fmt::format("  ... and {} more\n", runs.size() - kMostListed);
    return text;
}

control::Json encode_outside_runs(const std::vector<OutsideRun>& runs) {
    control::Json list = control::Json::array();
    for (const OutsideRun& run : runs)
        list.push_back(
            {{"path", control::encode_bytes(run.path)}, {"what", control::encode_bytes(run.what)}});
    return list;
}

}  // namespace unwrite::cli
