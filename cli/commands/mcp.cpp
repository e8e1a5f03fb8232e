#include <unistd.h>

#include <cerrno>

#include "cli/commands/commands.h"
#include "cli/config_tools.h"
#include "cli/editing_room.h"
#include "cli/help.h"
#include "mcp/stdio.h"

namespace unwrite::cli {

namespace {

struct McpOptions {
    std::string approval;
    bool revert_to_state = false;
};

Result<mcp::Approval> parse_approval(const std::string& word) {
    if (word == "client") return mcp::Approval::kClient;
    if (word == "elicit") return mcp::Approval::kElicit;
    if (word == "deny") return mcp::Approval::kDeny;
    return Error(ErrorKind::kUsage, EINVAL, "mcp --approval " + word + " is not a kind of approval",
                 "`unwrite mcp --approval client`, elicit or deny");
}

// Clients hide what a server that ends writes on its standard error; an answer reaches the model.
mcp::Enter refusing(const Error& error) {
    const Error told(
        ErrorKind::kRefused, EINVAL, error.message(),
        "Nothing was done. Ask the user to correct the configuration, and then to start "
        "this server again.");
    return [told]() -> Result<std::unique_ptr<mcp::Room>> { return told; };
}

// Nothing is opened before a call needs it: clients start a server only to ask what it is.
Result<int> serve_mcp(Context& context, const McpOptions& options) {
    mcp::ServerOptions server;
    server.enter = [base = context.base] { return enter_mounted(base, /*agent=*/true); };
    const auto loaded = load_tools_config();
    if (!loaded) server.enter = refusing(loaded.error());
    const ToolsConfig config = loaded ? *loaded : ToolsConfig();
    TRY_ASSIGN(server.approval,
               parse_approval(options.approval.empty() ? config.approval : options.approval));
    server.settings = config.edit;
    server.revert_to_state = options.revert_to_state || config.revert_to_state;
    TRY(mcp::serve(STDIN_FILENO, STDOUT_FILENO, std::move(server)));
    return kDone;
}

}  // namespace

void add_mcp(CLI::App& app, Context& context) {
    const auto options = std::make_shared<McpOptions>();
    CLI::App* command = add_command(
        app, context, "mcp", "Serve tools for an agent over MCP, on standard input and output",
        options, serve_mcp);
    command
        ->add_option(
            "--approval", options->approval,
            "How tool calls that change files are approved: client (the agent's own prompt), "
            "elicit (unwrite asks you through the client) or deny (nobody; refuse it)")
        ->type_name("WHO");
    command->add_flag("--revert-to-state", options->revert_to_state,
                      "Also offer the tool revert_to_state");
    describe(*command,
             {.usage = "[OPTIONS]",
              .examples = {{"unwrite mcp", "a client starts this"},
                           {"unwrite mcp --approval elicit", "ask you before each change"}},
              .note = "\"unwrite integrate AGENT\" sets up a client for you."});
}

}  // namespace unwrite::cli
