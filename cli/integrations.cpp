#include "cli/integrations.h"

#include <cerrno>
#include <cstdlib>

#include "base/syscalls.h"
#include "cli/json_text.h"

namespace unwrite::cli {

namespace {

std::string text_of(std::string_view name) {
    return std::string(integration_text(name));
}

// One member of a file that has more in it.
std::string member_of(std::string_view name, const char* key) {
    const auto json = OrderedJson::parse(integration_text(name), nullptr, false);
    return OrderedJson{{key, json.value(key, OrderedJson::object())}}.dump();
}

bool is_there(const std::string& file) {
    return sys::stat_at(AT_FDCWD, file).ok();
}

/// $`variable` (where it has a name), or a directory in the home directory.
Result<std::string> directory_of_user(const char* variable, const std::string& below_home,
                                      const std::string& agent) {
    const char* own = *variable != '\0' ? std::getenv(variable) : nullptr;
    const char* home = std::getenv("HOME");
    if (own != nullptr && own[0] == '/') return std::string(own);
    if (home != nullptr && home[0] == '/') return std::string(home) + "/" + below_home;
    return Error(ErrorKind::kUsage, ENOENT,
                 "HOME is not set, so the configuration of " + agent + " cannot be found");
}

// The user's servers are in a file that the client writes all the time; it is left alone.
Result<Integration> claude_code(const std::string& project, Scope scope) {
    std::string directory = project + "/.claude";
    Integration one{"claude-code", project, {}};
    if (scope == Scope::kUser) {
        TRY_ASSIGN(directory, directory_of_user("CLAUDE_CONFIG_DIR", ".claude", "claude-code"));
        one.place = directory;
    } else {
        one.pieces.push_back(
            {PieceKind::kJson, project + "/.mcp.json", text_of("claude-code/.mcp.json")});
    }
    one.pieces.push_back(
        {PieceKind::kJson, directory + "/settings.json", text_of("claude-code/hooks/hooks.json")});
    for (const std::string name : {"undo", "redo", "review", "status"}) {
        one.pieces.push_back({PieceKind::kWhole, directory + "/commands/unwrite/" + name + ".md",
                              text_of("claude-code/commands/" + name + ".md")});
    }
    return one;
}

// One file of the client has what an extension has in two.
Result<Integration> gemini_cli(const std::string& project, Scope scope) {
    OrderedJson settings =
        OrderedJson::parse(member_of("gemini-cli/gemini-extension.json", "mcpServers"));
    settings.update(OrderedJson::parse(text_of("gemini-cli/hooks/hooks.json")));
    Integration one{"gemini-cli", project, {}};
    std::string directory = project + "/.gemini";
    if (scope == Scope::kUser) {
        TRY_ASSIGN(directory, directory_of_user("", ".gemini", "gemini-cli"));
        one.place = directory;
    }
    one.pieces.push_back({PieceKind::kJson, directory + "/settings.json", settings.dump()});
    for (const std::string name : {"undo", "redo", "review", "status"}) {
        const std::string file = "commands/unwrite/" + name + ".toml";
        one.pieces.push_back(
            {PieceKind::kWhole, directory + "/" + file, text_of("gemini-cli/" + file)});
    }
    return one;
}

Result<Integration> opencode(const std::string& project, Scope scope) {
    Integration one{"opencode", project, {}};
    std::string settings = project;
    std::string directory = project + "/.opencode";
    if (scope == Scope::kUser) {
        TRY_ASSIGN(directory, directory_of_user("", ".config", "opencode"));
        const char* own = std::getenv("XDG_CONFIG_HOME");
        if (own != nullptr && own[0] == '/') directory = own;
        directory += "/opencode";
        one.place = settings = directory;
    }
    const std::string plain = settings + "/opencode.json";
    const std::string commented = settings + "/opencode.jsonc";
    const bool has_comments = !is_there(plain) && is_there(commented);
    one.pieces.push_back({PieceKind::kJson, has_comments ? commented : plain,
                          member_of("opencode/opencode.json", "mcp")});
    for (const std::string name : {"undo", "redo", "review", "status"}) {
        const std::string file = "commands/unwrite-" + name + ".md";
        one.pieces.push_back(
            {PieceKind::kWhole, directory + "/" + file, text_of("opencode/" + file)});
    }
    one.pieces.push_back({PieceKind::kWhole, directory + "/plugins/unwrite.js",
                          text_of("opencode/plugins/unwrite.js")});
    return one;
}

// It reads the user's configuration alone. It asks its user before it runs a hook, and only he may
// answer: docs/decisions/0090.
Result<Integration> codex() {
    TRY_ASSIGN(const std::string directory, directory_of_user("CODEX_HOME", ".codex", "codex"));
    return Integration{
        "codex",
        directory,
        {{PieceKind::kToml, directory + "/config.toml", text_of("codex/config.toml")},
         {PieceKind::kJson, directory + "/hooks.json", text_of("codex/hooks.json")}},
        "Codex runs no hook that you have not trusted. Start `codex` in a terminal once; when it "
        "says \"Hooks need review\", choose \"Trust all and continue\". If you skipped that, type "
        "/hooks in it and press t."};
}

}  // namespace

std::string integrated_agents() {
    return "claude-code, codex, gemini-cli, opencode";
}

Result<Integration> integration_of(const std::string& agent, const std::string& project,
                                   Scope scope) {
    if (agent == "claude-code" || agent == "claude") return claude_code(project, scope);
    if (agent == "codex") return codex();
    if (agent == "gemini-cli" || agent == "gemini") return gemini_cli(project, scope);
    if (agent == "opencode") return opencode(project, scope);
    return Error(ErrorKind::kUsage, EINVAL, "integrate " + agent + ": there is no such agent",
                 "the agents are " + integrated_agents() + "; docs/mcp.md tells about others");
}

}  // namespace unwrite::cli
