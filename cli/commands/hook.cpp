#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/syscalls.h"
#include "cli/agent_session.h"
#include "cli/commands/commands.h"
#include "cli/help.h"
#include "cli/text.h"
#include "control/protocol.h"

namespace unwrite::cli {

namespace {

using control::Json;

/// Beyond, what the client tells is read and not looked at.
constexpr std::size_t kMostTold = std::size_t{16} << 20U;

struct HookOptions {
    std::string agent;
    std::string event;
};

/// To its end: a client that cannot get rid of it takes that for a failure.
Json told_by_client() {
    if (::isatty(STDIN_FILENO) == 1) return Json::object();
    std::string text;
    std::array<char, 65536> room;
    for (;;) {
        const ssize_t got = ::read(STDIN_FILENO, room.data(), room.size());
        if (got < 0 && sys::last_error().number() == EINTR) continue;
        if (got <= 0) break;
        if (text.size() < kMostTold) text.append(room.data(), static_cast<std::size_t>(got));
    }
    Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    return json.is_object() ? json : Json::object();
}

std::string text_of(const Json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

/// What the user said: Gemini puts in front what a hook told it at the start.
std::string prompt_of(const Json& told) {
    std::string prompt = text_of(told, "prompt");
    constexpr std::string_view kEnd = "</hook_context>";
    const std::size_t end = prompt.find(kEnd);
    if (prompt.starts_with("<hook_context>") && end != std::string::npos)
        prompt.erase(0, end + kEnd.size());
    return prompt;
}

/// The client's own name of the event, which its answer must have.
const char* client_event(const std::string& agent, HookEvent event) {
    switch (event) {
        case HookEvent::kStart:
            return "SessionStart";
        case HookEvent::kPrompt:
            return agent == "gemini-cli" ? "BeforeAgent" : "UserPromptSubmit";
        case HookEvent::kStop:
            return agent == "gemini-cli" ? "AfterAgent" : "Stop";
        case HookEvent::kEnd:
            return "SessionEnd";
    }
    return "";
}

Result<Hooked> hooked_of(const HookOptions& options) {
    constexpr std::array<std::pair<const char*, const char*>, 4> agents = {
        {{"claude-code", "claude"},
         {"codex", "codex"},
         {"gemini-cli", "gemini"},
         {"opencode", "opencode"}}};
    constexpr std::array<std::pair<const char*, HookEvent>, 4> events = {
        {{"session-start", HookEvent::kStart},
         {"prompt", HookEvent::kPrompt},
         {"stop", HookEvent::kStop},
         {"session-end", HookEvent::kEnd}}};
    Hooked hooked;
    bool known = false;
    for (const auto& [name, agent] : agents)
        if (options.agent == name) hooked.agent = agent;
    for (const auto& [name, event] : events) {
        if (options.event != name) continue;
        hooked.event = event;
        known = true;
    }
    if (hooked.agent.empty() || !known) {
        return Error(ErrorKind::kUsage, EINVAL,
                     "hook " + quote_name(options.agent) + " " + quote_name(options.event) +
                         ": there is no such hook",
                     "`unwrite integrate AGENT` sets up the hooks of an agent");
    }
    return hooked;
}

Result<int> hook(Context& context, const HookOptions& options) {
    TRY_ASSIGN(Hooked hooked, hooked_of(options));
    const Json told = told_by_client();
    hooked.id = text_of(told, "session_id");
    hooked.prompt = prompt_of(told);
    const std::string source = text_of(told, "source");
    hooked.again = source == "clear" || source == "compact";
    const HookAnswer answer = answer_hook(context, hooked);
    if (answer.for_user.empty() && answer.for_model.empty()) return kDone;
    Json json = Json::object();
    if (!answer.for_user.empty()) json["systemMessage"] = answer.for_user;
    if (!answer.for_model.empty()) {
        json["hookSpecificOutput"] = {{"hookEventName", client_event(options.agent, hooked.event)},
                                      {"additionalContext", answer.for_model}};
    }
    context.out.line(json.dump(-1, ' ', false, Json::error_handler_t::replace));
    return kDone;
}

}  // namespace

void add_hook(CLI::App& app, Context& context) {
    const auto options = std::make_shared<HookOptions>();
    CLI::App* command =
        add_command(app, context, "hook", "Answer a hook of a coding agent (set up by integrate)",
                    options, hook);
    command->add_option("AGENT", options->agent, "claude-code, codex, gemini-cli or opencode")
        ->required();
    command->add_option("EVENT", options->event, "session-start, prompt, stop or session-end")
        ->required();
    describe(*command,
             {.usage = "AGENT EVENT",
              .examples = {{"unwrite hook claude-code prompt <told.json", "as the agent calls it"},
                           {"unwrite hook claude-code session-start <told.json", "at the start"}},
              .note = "It reads what the agent tells on stdin and answers as the agent expects. It "
                      "succeeds whatever happens, so that the agent goes on."});
}

}  // namespace unwrite::cli
