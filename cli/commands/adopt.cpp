#include <fmt/format.h>

#include <cerrno>
#include <limits>

#include "cli/commands/commands.h"
#include "cli/help.h"
#include "cli/parentage.h"
#include "cli/text.h"
#include "cli/workspace.h"

namespace unwrite::cli {

namespace {

struct AdoptOptions {
    std::string pid;
    std::string session;
};

Result<int> adopt(Context& context, const AdoptOptions& options) {
    const Result<std::uint64_t> pid = parse_number(options.pid);
    if (!pid || *pid == 0 || *pid > std::numeric_limits<pid_t>::max()) {
        return Error(ErrorKind::kUsage, EINVAL,
                     "adopt " + quote_name(options.pid) + ": this is not the number of a process",
                     "`pgrep -a claude` finds one");
    }
    TRY_ASSIGN(const Workspace workspace, Workspace::open_mounted(context.base));
    overlay::Asker process = asker();
    process.pid = static_cast<std::int64_t>(*pid);
    const std::string name = process_name(static_cast<pid_t>(*pid));
    process.session = options.session.empty() ? fmt::format("{}-{}", name, *pid) : options.session;
    TRY_ASSIGN(const overlay::Node node, workspace.remote()->adopt(process, name));
    if (context.json) {
        context.out.line(control::dump(control::encode(node)));
        return kDone;
    }
    const auto session = node.tags.find("session");
    const std::string shown = session != node.tags.end() ? session->second : process.session;
    context.out.line(fmt::format("{} ({}) and the processes it starts are now an agent: session {}",
                                 quote_name(name), *pid, quote_name(shown)));
    context.out.line("The rules for agents bind it. It is not in a sandbox. `unwrite undo " +
                     quote_name(shown) + "` takes back what it changes from now on.");
    return kDone;
}

}  // namespace

void add_adopt(CLI::App& app, Context& context) {
    const auto options = std::make_shared<AdoptOptions>();
    CLI::App* command = add_command(
        app, context, "adopt", "Treat a running process as an agent from now on", options, adopt);
    command->add_option("PID", options->pid, "The number of the process")->required();
    command
        ->add_option("--session", options->session,
                     "A name for what it changes, for \"unwrite undo NAME\"")
        ->type_name("NAME");
    describe(*command,
             {.usage = "[OPTIONS] PID",
              .examples = {{"unwrite adopt 4711", "this process and those it starts"},
                           {"unwrite adopt --session helper 4711", "with a name for its changes"}},
              .note = "It counts as an agent until it ends. Its changes have a session of their "
                      "own, and the rules for agents bind it. It is not put in a sandbox; for "
                      "that, start it with \"unwrite run\"."});
}

}  // namespace unwrite::cli
