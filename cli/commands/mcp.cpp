#include <unistd.h>

#include "cli/commands/commands.h"
#include "cli/config_tools.h"
#include "cli/editing_room.h"
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
    return Error(ErrorKind::kUsage, EINVAL,
                 "mcp --approval " + word + ": it is client, elicit or deny");
}

// Nothing is opened before a call needs it: clients start a server only to ask what it is.
Result<int> serve_mcp(Context& context, const McpOptions& options) {
    mcp::ServerOptions server;
    server.enter = [base = context.base] { return enter_mounted(base, /*agent=*/true); };
    TRY_ASSIGN(const ToolsConfig config, load_tools_config());
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
    CLI::App* command =
        add_command(app, context, "mcp", "Serve the tools of an agent on stdin and stdout (MCP)",
                    options, serve_mcp);
    command->add_option("--approval", options->approval,
                        "Who is asked before a tool changes anything: client (the host's own "
                        "prompt), elicit (the user, through the client), deny (nobody: refused)");
    command->add_flag("--revert-to-state", options->revert_to_state,
                      "Offer the tool revert_to_state");
    command->footer("docs/mcp.md says how to put it into a client's configuration.");
}

}  // namespace unwrite::cli
