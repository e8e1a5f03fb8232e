#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <cerrno>

#include "base/near_words.h"
#include "cli/commands/commands.h"
#include "cli/commands/revert_to_state.h"
#include "cli/commands/why.h"
#include "cli/config_keys.h"
#include "cli/help.h"
#include "cli/suggest.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

using Words = std::vector<std::string>;
using Add = void (*)(CLI::App& app, Context& context, const Words& rest);

template <void (*Command)(CLI::App&, Context&)>
void add(CLI::App& app, Context& context, const Words& /*rest*/) {
    Command(app, context);
}

constexpr const char* kEveryday = "Everyday";
constexpr const char* kGoBack = "Go back";
constexpr const char* kDecide = "Decide";
constexpr const char* kAgents = "Agents";
constexpr const char* kCare = "Care";
constexpr const char* kAdvanced = "Advanced";

struct NamedCommand {
    const char* group;
    std::string_view name;  ///< empty for an `add` that makes several
    Add add;
};

/// In the order of the help.
constexpr std::array kCommands = {
    NamedCommand{kEveryday, "run", add_run},
    NamedCommand{kEveryday, "mount", add<add_mount>},
    NamedCommand{kEveryday, "unmount", add<add_unmount>},
    NamedCommand{kEveryday, "status", add<add_status>},
    NamedCommand{kEveryday, "diff", add<add_diff>},
    NamedCommand{kEveryday, "log", add<add_log>},
    NamedCommand{kEveryday, "checkpoint", add<add_checkpoint>},
    NamedCommand{kEveryday, "task", add<add_task>},
    NamedCommand{kEveryday, "", add<add_help>},
    NamedCommand{kGoBack, "undo", add<add_undo>},
    NamedCommand{kGoBack, "redo", add<add_redo>},
    NamedCommand{kGoBack, "rollback", add<add_rollback>},
    NamedCommand{kGoBack, "restore", add<add_restore>},
    NamedCommand{kGoBack, "discard", add<add_discard>},
    NamedCommand{kDecide, "review", add<add_review>},
    NamedCommand{kDecide, "commit", add<add_commit>},
    NamedCommand{kDecide, "", add<add_approvals>},
    NamedCommand{kAgents, "integrate", add<add_integrate>},
    NamedCommand{kAgents, "adopt", add<add_adopt>},
    NamedCommand{kAgents, "hook", add<add_hook>},
    NamedCommand{kAgents, "mcp", add<add_mcp>},
    NamedCommand{kAgents, "git", add<add_git>},
    NamedCommand{kAgents, "why", add<add_why>},
    NamedCommand{kAgents, "policy", add_policy},
    NamedCommand{kCare, "list", add<add_list>},
    NamedCommand{kCare, "config", add<add_config>},
    NamedCommand{kCare, "recover", add<add_recover>},
    NamedCommand{kCare, "check", add<add_check>},
    NamedCommand{kCare, "gc", add<add_gc>},
    NamedCommand{kCare, "doctor", add<add_doctor>},
    NamedCommand{kAdvanced, "read", add<add_read>},
    NamedCommand{kAdvanced, "edit", add<add_edit>},
    NamedCommand{kAdvanced, "apply", add<add_apply>},
    NamedCommand{kAdvanced, "revert-to-state", add<add_revert_to_state>},
    NamedCommand{kAdvanced, "", add<add_manual>},
};

void add_one(const NamedCommand& command, CLI::App& app, Context& context, const Words& rest) {
    command.add(app, context, rest);
    for (CLI::App* added :
         app.get_subcommands([](CLI::App* one) { return one->get_group() == "Subcommands"; })) {
        added->group(command.group);
    }
}

/// A shell's prompt, or an agent's loop, should not wait for the options of the other commands: the
/// one that is named, when the line begins with it, or all.
void add_commands(CLI::App& app, Context& context, const std::string& word, const Words& rest) {
    const auto* const named = std::find_if(
        kCommands.begin(), kCommands.end(),
        [&](const NamedCommand& command) { return !command.name.empty() && command.name == word; });
    if (named != kCommands.end()) {
        add_one(*named, app, context, rest);
        return;
    }
    for (const NamedCommand& command : kCommands)
        add_one(command, app, context, rest);
}

/// Whether the command at `at` takes another one after "--".
bool takes_a_command(const Words& words) {
    Words commands;
    for (std::size_t i = 0; i < words.size() && words[i] != "--" && commands.size() < 2; ++i) {
        if (words[i] == "-C") {
            ++i;
        } else if (!words[i].starts_with('-')) {
            commands.push_back(words[i]);
        }
    }
    if (commands.empty()) return false;
    return commands[0] == "run" || commands == Words{"policy", "classes"};
}

std::size_t first_command(const Words& words) {
    std::size_t at = 0;
    while (at < words.size() && (words[at] == "-C" || words[at] == "--json"))
        at += words[at] == "-C" ? 2U : 1U;
    return std::min(at, words.size());
}

Words names_of_commands(const CLI::App& app) {
    Words names;
    for (const CLI::App* command : commands_of(app))
        names.push_back(command->get_name());
    return names;
}

std::string help_hint(const CLI::App& command) {
    const std::string verb = verb_of(command);
    return "`unwrite help" + (verb.empty() ? "" : ' ' + verb) + "` " +
           (verb.empty() ? "lists the commands" : "shows how to use it");
}

Error in_command(const CLI::App& command, const std::string& text) {
    const std::string verb = verb_of(command);
    return Error(ErrorKind::kUsage, EINVAL, (verb.empty() ? "" : verb + ": ") + text,
                 help_hint(command));
}

const CLI::App& innermost(const CLI::App& app) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    return chosen.empty() ? app : innermost(*chosen.front());
}

std::string shown(const std::string& word) {
    return '"' + harmless(word) + '"';
}

/// The parser's words are for programmers.
std::string plain(const CLI::ParseError& error) {
    const std::string name = error.get_name();
    const std::string what = error.what();
    const auto before = [&](const char* end) { return what.substr(0, what.find(end)); };
    const auto behind = [&](const char* mark) {
        const std::size_t at = what.find(mark);
        return at == std::string::npos ? what : what.substr(at + std::string(mark).size());
    };
    if (name == "RequiredError") return before(" is required") + " is missing";
    if (name == "RequiresError") return before(" requires ") + " needs " + behind(" requires ");
    if (name == "ExcludesError")
        return before(" excludes ") + " and " + behind(" excludes ") + " exclude each other";
    if (name == "ArgumentMismatch" && what.find(" required ") != std::string::npos)
        return before(": ") + " needs a value";
    if (name == "ConversionError" && what.starts_with("Could not convert: ")) {
        const std::string option = behind("convert: ");
        const std::size_t sign = option.find(" = ");
        return option.substr(0, sign) + " takes a number, not " + shown(option.substr(sign + 3));
    }
    return what;
}

void describe_program(CLI::App& app) {
    describe(app,
             {.usage = "[-C DIR] [--json] COMMAND [ARGUMENTS]",
              .examples = {{"unwrite run -- make install", "a command you can take back"},
                           {"unwrite mount ~/project", "record all changes to a directory"},
                           {"unwrite status", "what changed since the task began"},
                           {"unwrite undo", "take back the newest step"},
                           {"unwrite review", "keep or reject, file by file"}},
              .note = "\"unwrite help COMMAND\" shows the options and examples of a command."});
}

}  // namespace

CommandLine::CommandLine(Context& context, Words words)
    : context_(context),
      words_(std::move(words)),
      app_(
          "Take back anything that any process writes in a directory: the newest step, everything "
          "since a checkpoint, or the whole task.",
          "unwrite") {
    // What follows "--" of a run is the command's, whatever it looks like.
    const auto dashes = std::find(words_.begin(), words_.end(), "--");
    if (takes_a_command(words_) && dashes != words_.end()) {
        rest_.assign(dashes + 1, words_.end());
        words_.erase(dashes, words_.end());
    }
    first_ = first_command(words_);
    describe_program(app_);
    app_.add_option("-C", directory_, "Act as if started in DIR")->type_name("DIR");
    app_.add_flag("--json", context.json, "Answer in JSON");
    app_.set_version_flag("--version", std::string("unwrite ") + UNWRITE_VERSION,
                          "Show the version");
    app_.require_subcommand(1);
    app_.fallthrough();
    add_commands(app_, context, first_ < words_.size() ? words_[first_] : "", rest_);
}

Result<> CommandLine::expect_known_commands() const {
    const CLI::App* level = &app_;
    for (std::size_t i = first_; i < words_.size() && !words_[i].starts_with('-'); ++i) {
        const Words names = names_of_commands(*level);
        if (names.empty()) return {};
        const std::string& word = words_[i];
        if (std::find(names.begin(), names.end(), word) != names.end()) {
            level = level->get_subcommand(word);
            continue;
        }
        Words meant = level == &app_ ? same_meaning(word) : Words();
        std::erase_if(meant, [&](const std::string& one) {
            return std::find(names.begin(), names.end(), one) == names.end();
        });
        if (meant.empty()) meant = nearest(word, names);
        if (level->get_name() == "config" && config_key(word) != nullptr)
            meant = {"config set " + word};
        context_.verb = verb_of(*level);
        return in_command(*level, "unknown command " + shown(word) + '.' + did_you_mean(meant));
    }
    return {};
}

Error CommandLine::surplus(const CLI::App& chosen, const std::string& word) const {
    if (!word.starts_with('-') && chosen.get_name() == "run") {
        return Error(ErrorKind::kUsage, EINVAL, "run: the command comes after \"--\"",
                     "unwrite run -- " + quote_name(word) + " ...");
    }
    if (!word.starts_with('-')) return in_command(chosen, "unexpected argument " + shown(word));
    const std::string name = word.substr(0, word.find('='));
    Words known;
    for (const CLI::App* app : {&chosen, &app_}) {
        for (const CLI::Option* option : options_of(*app)) {
            const Words flags = flags_of(*option);
            known.insert(known.end(), flags.begin(), flags.end());
        }
    }
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    const Words meant = name.size() > 2 ? nearest(name, known) : Words();
    return in_command(chosen, "unknown option " + shown(name) + '.' + did_you_mean(meant));
}

Error CommandLine::usage_error(const CLI::ParseError& error) const {
    const CLI::App& chosen = innermost(app_);
    const Words remaining = app_.remaining(true);
    // The first that nobody takes; a command that is missing beside it is a consequence.
    const bool extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    if (!remaining.empty() && (extras || error.get_name() == "RequiredError"))
        return surplus(chosen, remaining.front());
    if (!commands_of(chosen).empty() && error.get_name() == "RequiredError") {
        return in_command(chosen,
                          &chosen == &app_
                              ? "no command given"
                              : "a command is missing: " +
                                    fmt::format("{}", fmt::join(names_of_commands(chosen), ", ")));
    }
    return in_command(chosen, plain(error));
}

Result<> CommandLine::parse() {
    TRY(expect_known_commands());
    Words words = words_;
    std::reverse(words.begin(), words.end());
    try {
        app_.parse(std::move(words));
    } catch (const CLI::CallForHelp&) {
        text_ = help_text(innermost(app_));
    } catch (const CLI::CallForVersion&) {
        text_ = app_.version() + '\n';
    } catch (const CLI::ParseError& error) {
        context_.verb = verb_of(innermost(app_));
        return usage_error(error);
    }
    return {};
}

}  // namespace unwrite::cli
