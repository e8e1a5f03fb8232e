#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/syscalls.h"
#include "cli/annex.h"
#include "cli/answering.h"
#include "cli/command_class.h"
#include "cli/commands/commands.h"
#include "cli/config.h"
#include "cli/confine.h"
#include "cli/editing_room.h"
#include "cli/explaining.h"
#include "cli/failure.h"
#include "cli/git_excludes.h"
#include "cli/guard.h"
#include "cli/heaps.h"
#include "cli/held_terminal.h"
#include "cli/help.h"
#include "cli/home_return.h"
#include "cli/known_agents.h"
#include "cli/mounting.h"
#include "cli/network/run_network.h"
#include "cli/npm_registries.h"
#include "cli/outside_runs.h"
#include "cli/outside_shell.h"
#include "cli/place.h"
#include "cli/prompt.h"
#include "cli/refusals.h"
#include "cli/render.h"
#include "cli/run_options.h"
#include "cli/settle.h"
#include "cli/terminal_relay.h"
#include "cli/text.h"
#include "control/rendezvous.h"
#include "overlay/changes.h"

namespace unwrite::cli {

namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : " ") + word;
    return text;
}

// What leaves the machine does not come back with the files. False: it is not wanted.
Result<bool> is_wanted(Context& context, const RunOptions& options) {
    if (options.yes || std::string_view(class_of(options.command).name) != "remote") return true;
    const std::string words = "`" + harmless(joined(options.command)) + "`";
    if (!can_ask()) {
        return Error(ErrorKind::kUsage, EINVAL,
                     "run " + words +
                         ": what this command does outside the workspace cannot be taken back, and "
                         "there is no terminal to ask on",
                     "`unwrite run --yes -- COMMAND` runs it without asking");
    }
    return confirm(context,
                   "What " + words + " does elsewhere cannot be taken back. Run it? (y/n)");
}

std::vector<std::string> named_places(const std::string& base,
                                      const std::vector<std::string>& places) {
    std::vector<std::string> paths;
    for (const std::string& place : places)
        paths.push_back((std::filesystem::path(base) / place).string());
    return paths;
}

/// The daemon's socket; empty when it is not to be found (the command can then ask for nothing).
std::string socket_of(const control::MountPoint& mount) {
    for (const std::string& directory : control::runtime_directories(mount.owner)) {
        std::string path = directory + "/" + mount.id + ".sock";
        if (sys::stat_at(AT_FDCWD, path)) return path;
    }
    return {};
}

/// The command as it is started: by this program again, between the guard and the command. The
/// places that the user named are what they are for as long as `held` lives.
Result<std::vector<std::string>> confined(Context& context, const Workspace& workspace,
                                          const RunOptions& options, Walls walls,
                                          const HomeReturn& home, int relay,
                                          const std::optional<RunNetwork>& network,
                                          std::vector<UniqueFd>& held) {
    std::vector<std::string> words = {"/proc/self/exe", "run", "--inside-root", workspace.root()};
    words.insert(words.end(), {"--inside-raw", workspace.remote()->info().workspace});
    const std::string socket = workspace.mount() ? socket_of(*workspace.mount()) : "";
    if (!socket.empty()) words.insert(words.end(), {"--inside-socket", socket});
    const auto annex = annex_of(workspace.remote()->info().workspace, workspace.root());
    if (annex) words.insert(words.end(), {"--inside-annex", *annex});
    words.insert(words.end(), {"--network", options.network});
    if (walls == Walls::kRequired) words.emplace_back("--require-confinement");
    if (options.leave_running) words.emplace_back("--leave-running");
    if (relay >= 0) words.insert(words.end(), {"--inside-relay", std::to_string(relay)});
    const std::vector<std::string> caches =
        options.caches ? cache_directories() : std::vector<std::string>();
    for (const std::vector<std::string>& places : {caches, home.writable()}) {
        for (const std::string& place : places)
            words.insert(words.end(), {"--inside-granted", encode(GrantedPlace{place, 0, 0})});
    }
    for (const std::string& place : options.write) {
        TRY_ASSIGN(const GrantedPlace granted,
                   granted_place(context.base, place, held.emplace_back()));
        context.notes.line("unwrite: the command may also write in " + quote_name(granted.path));
        words.insert(words.end(), {"--inside-granted", encode(granted)});
    }
    const HomeView& view = home.view();
    if (!view.home.empty()) words.insert(words.end(), {"--inside-home", view.home});
    if (!view.handoff.empty()) words.insert(words.end(), {"--inside-handoff", view.handoff});
    const auto tell = [&](const char* option, const std::vector<std::string>& paths) {
        for (const std::string& path : paths)
            words.insert(words.end(), {option, path});
    };
    tell("--inside-live", view.live);
    tell("--inside-read-only", view.read_only);
    tell("--inside-emptied", view.emptied);
    tell("--inside-shown", view.shown);
    if (network) {
        words.insert(words.end(), {"--inside-network", std::to_string(network->far_end())});
        tell("--inside-forward", network->forwards());
    }
    words.emplace_back("--");
    words.insert(words.end(), options.command.begin(), options.command.end());
    return words;
}

Result<int> run_inside(const RunOptions& options) {
    Confinement confinement = options.inside;
    for (const std::string& word : options.granted) {
        TRY_ASSIGN(GrantedPlace place, decode_granted(word));
        confinement.writable.push_back(std::move(place));
    }
    std::sort(confinement.writable.begin(), confinement.writable.end(),
              [](const GrantedPlace& a, const GrantedPlace& b) { return a.path < b.path; });
    confinement.network = options.network == "host";
    confinement.required = options.require_confinement;
    confinement.leave_running = options.leave_running;
    return run_confined(confinement, options.command);
}

struct Ran {
    Ended ended;
    overlay::Node node;
    std::string session;
    NotKept home;
    std::optional<Traffic> traffic;
    bool saw_read_only = false;  ///< on the terminal: something was to be written elsewhere
};

control::Json encode_home(const NotKept& home) {
    const auto list = [](const std::vector<std::string>& paths) {
        control::Json json = control::Json::array();
        for (const std::string& path : paths)
            json.push_back(control::encode_bytes(path));
        return json;
    };
    return {{"decides", list(home.decides)},
            {"elsewhere", list(home.elsewhere)},
            {"cached", home.cached},
            {"copy", control::encode_bytes(home.copy)}};
}

/// The agent that the command starts, which gets its options, and its places in the home directory.
Result<HomeReturn> home_of(Context& context, const Workspace& workspace, const RunOptions& options,
                           std::vector<std::string>& command, Variables& environment,
                           std::optional<RunNetwork>& network) {
    const std::string& named = options.agent;
    TRY_ASSIGN(const Config config, load_user_config());
    const std::vector<KnownAgent> agents = with_configured(known_agents(), config.agents);
    const char* path = std::getenv("PATH");
    Recognised found = recognise(agents, command, path != nullptr ? path : "");
    if (!named.empty()) {
        const auto agent = std::find_if(agents.begin(), agents.end(),
                                        [&](const KnownAgent& one) { return one.name == named; });
        std::string names;
        for (const KnownAgent& one : agents)
            names += (names.empty() ? "" : ", ") + one.name;
        if (agent == agents.end()) {
            return Error(ErrorKind::kUsage, EINVAL,
                         "run: --agent " + quote_name(named) + ": there is no such agent",
                         "the agents are " + names);
        }
        found.agent = &*agent;
    }
    if (options.network == "model") {
        TRY_ASSIGN(network, RunNetwork::of(found.agent, options.endpoints, run_state_directory()));
        context.notes.line("unwrite: " + network->words());
    }
    HomeReturn home = HomeReturn::begin(found.agent, workspace.root());
    if (found.agent == nullptr) return home;
    if (!home.words().empty()) context.notes.line("unwrite: " + home.words());
    environment = found.agent->environment;
    TRY(adapt(*found.agent, found.arguments, command));
    if (found.arguments == 0 || found.agent->options.empty()) return home;
    context.notes.line("unwrite: " + found.agent->name + " is started with " +
                       joined(found.agent->options) +
                       (found.agent->sandbox_options.empty()
                            ? ""
                            : ", because the sandbox of this run stands in for its own"));
    return home;
}

/// Where an agent may not read a project's `.npmrc`, it still asks the registries that this names.
NpmRegistries registries_for(Context& context, const std::string& directory,
                             const std::string& root) {
    const Result<overlay::Explained> explained = explain_path(context, ".npmrc");
    if (!explained || explained->agent.may_read) return {};
    NpmRegistries registries = npm_registries(directory, root);
    if (!registries.empty())
        context.notes.line(
            "unwrite: npm asks the registries of your .npmrc. The agent cannot read "
            "that file, nor the tokens in it");
    return registries;
}

Result<Ran> run_command(Context& context, Workspace& workspace, const RunOptions& options) {
    TRY_ASSIGN(const std::string below, workspace.inside(context.base, "."));
    const std::string directory = below.empty() ? workspace.root() : workspace.root() + "/" + below;
    TRY_ASSIGN(const Walls walls, walls_of(options));
    std::vector<std::string> command = options.command;
    HomeReturn home;
    Ran ran;
    std::optional<TerminalRelay> relay;
    std::optional<RunNetwork> network;
    std::vector<UniqueFd> held;
    Variables environment;
    if (walls != Walls::kNone) {
        relay.emplace(ran.saw_read_only);
        TRY_ASSIGN(home, home_of(context, workspace, options, command, environment, network));
        if (options.hide_home) TRY(home.hide(named_places(context.base, options.show)));
        RunOptions adapted = options;
        adapted.command = command;
        TRY_ASSIGN(command, confined(context, workspace, adapted, walls, home, relay->far_end(),
                                     network, held));
    }
    std::vector<int> kept;
    if (relay && relay->far_end() >= 0) kept.push_back(relay->far_end());
    if (network) kept.push_back(network->far_end());
    const NpmrcOfRun npmrc(registries_for(context, directory, workspace.root()));
    // The guard must not print it a second time.
    ignore(context.notes.flush(), "the run goes on without");
    TRY_ASSIGN(const auto rules, workspace.remote()->rules());
    const bool is_shared =
        walls != Walls::kNone &&
        annex_of(workspace.remote()->info().workspace, workspace.root()).has_value();
    const GitExcludesOfRun excludes(
        rules, directory, is_shared ? settings_of_shared_repository() : std::vector<std::string>());
    environment.insert(environment.begin(), npmrc.environment().begin(), npmrc.environment().end());
    const auto orphaned = [&] {
        context.notes.line("unwrite: the run was killed; its changes are kept");
        home.finish(context, false);
        npmrc.remove();
        excludes.remove();
        ignore(context.notes.flush(), "nobody may be there to read it");
    };
    TRY_ASSIGN(Guard guard, Guard::fork({command, options.leave_running, kept, environment,
                                         orphaned, excludes.environment()}));
    if (network) TRY(network->start());
    overlay::Asker agent;
    agent.pid = guard.pid();
    agent.session = options.session;
    TRY_ASSIGN(ran.node, workspace.operations().begin_run(agent, joined(options.command)));
    const auto named = ran.node.tags.find("session");
    ran.session =
        named != ran.node.tags.end() ? named->second : fmt::format("run-{}", ran.node.number);
    ignore(context.notes.flush(), "before the command prints");
    const HeldTerminal terminal;
    if (relay) relay->start();
    const Result<Ended> ended = [&] {
        const RunQuestions questions(*workspace.mount(), ran.session, relay ? &*relay : nullptr);
        return guard.run(directory, ran.session, [&](int signal) {
            if (relay) relay->pass(signal);
        });
    }();
    relay.reset();
    terminal.take_back();
    const Result<> closed = workspace.operations().end_run(ran.node.number);
    if (network) ran.traffic = network->finish();
    ran.home = home.finish(context, options.on_exit == "ask");
    if (!ended) return ended.error();
    if (!closed) return closed.error();
    ran.ended = *ended;
    return ran;
}

/// Whether the run had a hand in any of it. Who stored through a mapping is not known.
bool has_changed(overlay::NodeNumber run, const std::vector<overlay::Change>& changes,
                 const std::vector<overlay::Origin>& origins) {
    const auto is_of_run = [&](overlay::OriginNumber number) {
        if (number == 0) return true;
        return std::any_of(origins.begin(), origins.end(), [&](const overlay::Origin& origin) {
            return origin.number == number && origin.step == run;
        });
    };
    return std::any_of(changes.begin(), changes.end(), [&](const overlay::Change& change) {
        return change.origins.empty() ||
               std::any_of(change.origins.begin(), change.origins.end(), is_of_run);
    });
}

Result<overlay::Status> print_summary(Context& context, Workspace& workspace, const Ran& ran) {
    overlay::Operations& operations = workspace.operations();
    TRY_ASSIGN(const overlay::RefusedTo refused,
               refused_of(workspace, ran.session, ran.node.time_ns));
    TRY_ASSIGN(overlay::Status status,
               operations.status(fmt::format("n{}", ran.node.number), true));
    const Colour colour = context.notes.has_colour() ? Colour::kYes : Colour::kNo;
    if (ran.ended.leftovers > 0) {
        context.notes.line("unwrite: ended " +
                           counted(ran.ended.leftovers, "process", "processes") +
                           " that the command had left running");
    }
    TRY_ASSIGN(const overlay::Log log, operations.log("", false, false));
    TRY_ASSIGN(const auto runs, outside_runs(context, workspace, status.changes, log.origins,
                                             fmt::format("n{}", ran.node.number)));
    if (context.json) {
        control::Json json = control::encode(status);
        json["run"] = ran.node.number;
        json["runs_outside"] = encode_outside_runs(runs);
        json["exit_code"] = exit_code_of(ran.ended);
        json["refused"] = encode_refused(refused.refused);
        json["home"] = encode_home(ran.home);
        if (ran.traffic) json["network"] = traffic_json(*ran.traffic);
        context.out.line(control::dump(json));
    }
    tell_refused(context, refused.refused);
    if (ran.traffic) tell_traffic(context, *ran.traffic);
    if (ran.saw_read_only) {
        context.notes.line(
            "\"Read-only file system\": a run writes in the workspace, in a /tmp of its own and in "
            "its copy of your home directory");
        context.notes.line("hint: unwrite run --write DIR also lets it write in DIR");
    }
    context.notes.print(outside_run_lines(runs));
    if (!status.changes.empty() && !has_changed(ran.node.number, status.changes, log.origins))
        context.notes.line("Nothing was changed by this run. Meanwhile others changed files:");
    context.notes.line(summary_words(status.changes));
    if (status.changes.empty()) return status;
    context.notes.print(change_lines(heaped(status.changes), 20, colour));
    context.notes.line(
        line_words(status.lines, overlay::files_in(status.changes), status.lines_not_counted));
    context.notes.print(who_lines(status.changes, log.origins));
    return status;
}

Result<> finish(Context& context, Workspace& workspace, const RunOptions& options, const Ran& ran,
                bool clean_before) {
    TRY_ASSIGN(const overlay::Status status, print_summary(context, workspace, ran));
    if (status.changes.empty()) return {};
    TRY_ASSIGN(Ending ending, parse_ending("run: --on-exit", options.on_exit));
    if (options.discard_on_failure && exit_code_of(ran.ended) != 0) ending = Ending::kDiscard;
    if (!clean_before && ending != Ending::kDiscard) {
        context.notes.line("(other changes were open before this run; a commit accepts them too)");
    }
    // What was there before the run is none of its business: a discard goes back to where the run
    // began.
    const std::string node = fmt::format("n{}", ran.node.number);
    const Question question{node, clean_before ? "" : node, "[C]ommit  [D]iscard  [R]eview",
                            ran.session};
    TRY(settle(context, workspace, ending, question));
    return {};
}

Result<int> run(Context& context, const RunOptions& options) {
    if (options.command.empty()) {
        return Error(ErrorKind::kUsage, EINVAL, "run: no command given; it comes after \"--\"",
                     "unwrite run -- make install");
    }
    if (!options.inside.root.empty()) return run_inside(options);
    TRY(parse_ending("run: --on-exit", options.on_exit));
    TRY(walls_of(options));
    TRY_ASSIGN(const bool wanted, is_wanted(context, options));
    if (!wanted) {
        context.notes.line("Nothing was done.");
        return kNothingToDo;
    }
    TRY_ASSIGN(Workspace workspace, workspace_for_run(context, options.workspace));
    TRY_ASSIGN(const overlay::Status before, workspace.operations().status("", false));
    TRY_ASSIGN(const Ran ran, run_command(context, workspace, options));
    if (ran.ended.exec_failure != 0) {
        tell_failure(context, not_started(options.command[0], ran.ended.exec_failure));
    }
    const Result<> finished = finish(context, workspace, options, ran, before.changes.empty());
    tell_outside(context, workspace);
    if (!finished) return finished.error();
    return exit_code_of(ran.ended);
}

}  // namespace

void add_run(CLI::App& app, Context& context, const std::vector<std::string>& rest) {
    const auto options = std::make_shared<RunOptions>();
    options->command = rest;
    CLI::App* command =
        add_command(app, context, "run",
                    "Run a command in a sandbox, as one step you can take back", options, run);
    command
        ->add_option("--workspace", options->workspace,
                     "Mount DIR and run the command there, instead of the top of the git work tree "
                     "or the current directory")
        ->type_name("DIR");
    command
        ->add_option("--session", options->session,
                     "A name for what it changes, for \"unwrite undo NAME\"")
        ->type_name("NAME");
    command
        ->add_option("--on-exit", options->on_exit,
                     "What to do with the changes afterwards: ask, keep, commit or discard")
        ->type_name("ANSWER");
    command->add_flag("--discard-on-failure", options->discard_on_failure,
                      "Take its changes back if it fails");
    command->add_flag(
        "--leave-running", options->leave_running,
        "Let processes that outlive the command go on; their further changes count as "
        "yours");
    command->add_flag("--yes", options->yes,
                      "Do not ask before commands that cannot be taken back, such as git push");
    command->add_option("--write", options->write, "Also let it write in DIR; may be repeated")
        ->type_name("DIR");
    command->add_flag("--caches", options->caches,
                      "Let it write in the caches of package managers (~/.cache, ~/.npm, ...)");
    command
        ->add_option("--agent", options->agent,
                     "Treat it as this agent: claude, codex, gemini, opencode or one of your "
                     "configuration")
        ->type_name("NAME");
    command
        ->add_option("--network", options->network,
                     "host (default), none, or model: the agent's own endpoints only")
        ->type_name("ACCESS");
    command
        ->add_option("--endpoint", options->endpoints,
                     "With --network model: it reaches HOST[:PORT] as well; may be repeated")
        ->type_name("HOST");
    command->add_flag("--hide-home", options->hide_home,
                      "Hide your home directory, but for programs, git's settings and the agent's "
                      "own files");
    command->add_option("--show", options->show, "With --hide-home: show PLACE as well")
        ->type_name("PLACE");
    command->add_flag("--require-confinement", options->require_confinement,
                      "Fail if any part of the sandbox is unavailable");
    command->add_flag("--no-confine", options->no_confine,
                      "No sandbox: the command may write wherever you may");
    command->add_option("--inside-root", options->inside.root)->group("");
    command->add_option("--inside-raw", options->inside.raw)->group("");
    command->add_option("--inside-annex", options->inside.annex)->group("");
    command->add_option("--inside-socket", options->inside.socket)->group("");
    command->add_option("--inside-relay", options->inside.relay)->group("");
    command->add_option("--inside-network", options->inside.channel)->group("");
    command->add_option("--inside-forward", options->inside.forwards)->group("");
    command->add_option("--inside-granted", options->granted)->group("");
    command->add_option("--inside-home", options->inside.home.home)->group("");
    command->add_option("--inside-handoff", options->inside.home.handoff)->group("");
    command->add_option("--inside-live", options->inside.home.live)->group("");
    command->add_option("--inside-read-only", options->inside.home.read_only)->group("");
    command->add_option("--inside-emptied", options->inside.home.emptied)->group("");
    command->add_option("--inside-shown", options->inside.home.shown)->group("");
    describe(*command, {.usage = "[OPTIONS] -- COMMAND...",
                        .examples = {{"unwrite run -- claude", "an agent; asks at its end"},
                                     {"unwrite run --discard-on-failure -- make install", ""},
                                     {"unwrite run --network model -- claude", ""},
                                     {"unwrite run --network none -- npm test", ""}},
                        .note = "unwrite returns the exit code of the command."});
}

}  // namespace unwrite::cli
