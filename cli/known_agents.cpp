#include "cli/known_agents.h"

#include <fnmatch.h>

#include <algorithm>
#include <cerrno>

namespace unwrite::cli {

namespace {

// ~/.claude.json holds counters and answers, and also servers that Claude starts; of projects, this
// one alone is the run's business.
KeyedFile claude_state() {
    return {".claude.json",
            false,
            {{"**", true},
             {"mcpServers/**", false},
             {"projects/**", false},
             {"projects/@here/**", true},
             {"projects/@here/mcpServers/**", false},
             {"bypassPermissionsModeAccepted", false}}};
}

KnownAgent claude() {
    StatePlace place;
    place.variable = "CLAUDE_CONFIG_DIR";
    place.path = ".claude";
    place.live = {"projects", "todos", "file-history", "plans", "tasks", "backups", "paste-cache"};
    place.kept = {".credentials.json", "history.jsonl", ".last-cleanup", "stats-cache.json",
                  "image-cache",       "usage-data",    "statsig"};
    place.passing = {"shell-snapshots", "session-env", "sessions", "ide",    "debug",
                     "telemetry",       "cache",       "*.lock",   "*.tmp.*"};
    place.keyed = {{"settings.json",
                    false,
                    {{"theme", true},
                     {"model", true},
                     {"effortLevel", true},
                     {"tui", true},
                     {"env/DISABLE_AUTOUPDATER", true}}},
                   claude_state()};
    StatePlace file;
    file.path = "";
    file.passing = {".claude.json.lock", ".claude.json.tmp.*", ".claude.json.backup*"};
    file.keyed = {claude_state()};
    KnownAgent agent{"claude", {"claude"}, {"@anthropic-ai/claude-code"}, {place, file}, {}};
    // The second and third renew the login, in newer and older versions.
    agent.endpoints = {"api.anthropic.com", "platform.claude.com", "console.anthropic.com"};
    agent.endpoint_variables = {"ANTHROPIC_BASE_URL", "ANTHROPIC_BEDROCK_BASE_URL",
                                "ANTHROPIC_VERTEX_BASE_URL", "ANTHROPIC_FOUNDRY_BASE_URL"};
    return agent;
}

KnownAgent codex() {
    StatePlace place;
    place.variable = "CODEX_HOME";
    place.path = ".codex";
    place.live = {"sessions", "archived_sessions", "log", "thread-writer-locks"};
    place.kept = {"auth.json",        "history.jsonl", "session_index.jsonl",
                  "installation_id",  "version.json",  "models_cache.json",
                  "*.sqlite",         ".*_migration",  ".codex-global-state.json",
                  "generated_images", "tui-*",         "attachments"};
    // The daemon's files would lead the next plain codex into a /tmp that is gone.
    place.passing = {"tmp",
                     ".tmp*",
                     "shell_snapshots",
                     "skills/.system",
                     "*.sqlite-*",
                     "app-server-*",
                     "*.sock",
                     "*.lock",
                     "*.pid",
                     "packages",
                     "cache",
                     "plugins/cache",
                     "process_manager",
                     "models_cache.json.*",
                     "config.toml.tmp*"};
    place.keyed = {{"config.toml",
                    true,
                    {{"model", true},
                     {"model_reasoning_effort", true},
                     {"personality", true},
                     {"notice/**", true},
                     {"tui/**", true},
                     {"projects/@here/trust_level", true}}}};
    KnownAgent agent{
        "codex",
        {"codex"},
        {"@openai/codex"},
        {place},
        {"--disable", "daemon_auto_start", "-c", "sandbox_mode=\"danger-full-access\""},
        {"-s", "--sandbox"}};
    agent.endpoints = {"api.openai.com", "chatgpt.com", "auth.openai.com"};
    agent.endpoint_variables = {"OPENAI_BASE_URL", "CODEX_OSS_BASE_URL"};
    return agent;
}

KnownAgent gemini() {
    StatePlace place;
    place.variable = "GEMINI_CLI_HOME";
    place.suffix = "/.gemini";
    place.path = ".gemini";
    place.live = {"tmp", "history"};
    place.read_only = {"tmp/bin"};
    place.kept = {
        "oauth_creds.json", "google_accounts.json",    "installation_id",  "state.json",
        "user_id",          "gemini-credentials.json", "mcp-oauth-*.json", "google_account_id"};
    place.passing = {"*.lock", "*.tmp"};
    place.keyed = {{"projects.json", false, {{"**", true}}},
                   {"trustedFolders.json", false, {{"@here", true}}},
                   {"settings.json",
                    false,
                    {{"security/auth/selectedType", true},
                     {"ui/**", true},
                     {"model/**", true},
                     {"ide/hasSeenNudge", true},
                     {"general/vimMode", true}}}};
    KnownAgent agent{"gemini", {"gemini"}, {"@google/gemini-cli"}, {place}, {}};
    agent.endpoints = {"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com",
                       "aiplatform.googleapis.com", "oauth2.googleapis.com"};
    agent.endpoint_variables = {"GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL",
                                "CODE_ASSIST_ENDPOINT"};
    return agent;
}

KnownAgent opencode() {
    StatePlace data;
    data.variable = "XDG_DATA_HOME";
    data.suffix = "/opencode";
    data.path = ".local/share/opencode";
    data.live = {""};
    data.read_only = {"bin"};
    data.emptied = {"snapshot"};  // repositories, in which git would run what is planted
    StatePlace state = data;
    state.variable = "XDG_STATE_HOME";
    state.path = ".local/state/opencode";
    state.read_only = state.emptied = {};
    StatePlace cache;
    cache.variable = "XDG_CACHE_HOME";
    cache.suffix = "/opencode";
    cache.path = ".cache/opencode";
    cache.passing = {"*"};
    StatePlace config;
    config.variable = "XDG_CONFIG_HOME";
    config.suffix = "/opencode";
    config.path = ".config/opencode";
    config.passing = {"node_modules", "package.json", "package-lock.json", "bun.lock*",
                      ".gitignore"};
    for (const char* name : {"opencode.json", "opencode.jsonc", "config.json"})
        config.keyed.push_back(
            {name, false, {{"$schema", true}, {"model", true}, {"theme", true}}});
    KnownAgent agent{"opencode", {"opencode"}, {"opencode-ai"}, {data, state, cache, config}, {}};
    // Its own models, its list of models, and those of the makers of the other agents. Whoever has
    // another provider names it.
    agent.endpoints = {"opencode.ai", "models.dev", "api.anthropic.com", "api.openai.com",
                       "generativelanguage.googleapis.com"};
    agent.endpoint_variables = {"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"};
    return agent;
}

}  // namespace

std::vector<KnownAgent> known_agents() {
    return {claude(), codex(), gemini(), opencode()};
}

Result<> adapt(const KnownAgent& agent, std::size_t arguments, std::vector<std::string>& command) {
    if (arguments == 0) return {};
    for (std::size_t i = arguments; i < command.size() && command[i] != "--";) {
        const std::string option = command[i].substr(0, command[i].find('='));
        const auto& own = agent.sandbox_options;
        if (std::find(own.begin(), own.end(), option) == own.end()) {
            ++i;
            continue;
        }
        const bool is_one_word = option != command[i];
        const std::size_t words = is_one_word || i + 1 == command.size() ? 1 : 2;
        const std::string value =
            is_one_word ? command[i].substr(option.size() + 1) : command[i + words - 1];
        if (value == "read-only") {
            return Error(
                ErrorKind::kUsage, EINVAL,
                "run: " + agent.name + " cannot make its own sandbox inside this one, so \"" +
                    option + " read-only\" would not hold",
                "leave it out: the workspace can be taken back, and nothing else is written");
        }
        command.erase(command.begin() + static_cast<std::ptrdiff_t>(i),
                      command.begin() + static_cast<std::ptrdiff_t>(i + words));
    }
    command.insert(command.begin() + static_cast<std::ptrdiff_t>(arguments), agent.options.begin(),
                   agent.options.end());
    return {};
}

bool covers(const std::string& pattern, const std::string& path) {
    const bool is_deep = pattern.ends_with("/**");
    const std::string head = is_deep ? pattern.substr(0, pattern.size() - 3) : pattern;
    if (head == "**") return true;
    for (std::size_t end = 0; end != std::string::npos;) {
        end = path.find('/', end == 0 ? 0 : end + 1);
        if (::fnmatch(head.c_str(), path.substr(0, end).c_str(), FNM_PATHNAME) == 0) return true;
    }
    return false;
}

bool any_covers(const std::vector<std::string>& patterns, const std::string& path) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const std::string& pattern) { return covers(pattern, path); });
}

}  // namespace unwrite::cli
