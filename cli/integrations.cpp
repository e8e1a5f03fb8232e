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

Integration claude_code(const std::string& project) {
    return {"claude-code",
            project,
            {{PieceKind::kJson, project + "/.mcp.json", text_of("claude-code/.mcp.json")},
             {PieceKind::kJson, project + "/.claude/settings.json",
              text_of("claude-code/hooks/hooks.json")},
             {PieceKind::kWhole, project + "/.claude/commands/unwrite-undo.md",
              text_of("claude-code/commands/undo.md")}}};
}

// One file of the client has what an extension has in two.
Integration gemini_cli(const std::string& project) {
    OrderedJson settings =
        OrderedJson::parse(member_of("gemini-cli/gemini-extension.json", "mcpServers"));
    settings.update(OrderedJson::parse(text_of("gemini-cli/hooks/hooks.json")));
    return {"gemini-cli",
            project,
            {{PieceKind::kJson, project + "/.gemini/settings.json", settings.dump()},
             {PieceKind::kWhole, project + "/.gemini/commands/unwrite/undo.toml",
              text_of("gemini-cli/commands/unwrite/undo.toml")}}};
}

Integration opencode(const std::string& project) {
    const std::string plain = project + "/opencode.json";
    const std::string commented = project + "/opencode.jsonc";
    const bool has_comments = !is_there(plain) && is_there(commented);
    return {"opencode",
            project,
            {{PieceKind::kJson, has_comments ? commented : plain,
              member_of("opencode/opencode.json", "mcp")},
             {PieceKind::kWhole, project + "/.opencode/commands/unwrite-undo.md",
              text_of("opencode/commands/unwrite-undo.md")},
             {PieceKind::kWhole, project + "/.opencode/plugins/unwrite.js",
              text_of("opencode/plugins/unwrite.js")}}};
}

// It reads the user's configuration alone.
Result<Integration> codex() {
    std::string directory;
    const char* own = std::getenv("CODEX_HOME");
    const char* home = std::getenv("HOME");
    if (own != nullptr && own[0] == '/') {
        directory = own;
    } else if (home != nullptr && home[0] == '/') {
        directory = std::string(home) + "/.codex";
    } else {
        return Error(ErrorKind::kUsage, ENOENT,
                     "HOME is not set, so the configuration of codex cannot be found");
    }
    return Integration{
        "codex",
        directory,
        {{PieceKind::kToml, directory + "/config.toml", text_of("codex/config.toml")},
         {PieceKind::kJson, directory + "/hooks.json", text_of("codex/hooks.json")}}};
}

}  // namespace

std::string known_agents() {
    return "claude-code, codex, gemini-cli, opencode";
}

Result<Integration> integration_of(const std::string& agent, const std::string& project) {
    if (agent == "claude-code" || agent == "claude") return claude_code(project);
    if (agent == "codex") return codex();
    if (agent == "gemini-cli" || agent == "gemini") return gemini_cli(project);
    if (agent == "opencode") return opencode(project);
    return Error(ErrorKind::kUsage, EINVAL, "integrate " + agent + ": there is no such agent",
                 "the agents are " + known_agents() + "; docs/mcp.md tells about others");
}

}  // namespace unwrite::cli
