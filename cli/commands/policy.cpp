// policy show, explain, check, allow, reload, classes. Where the workspace is mounted the daemon
// knows what is in force; where not, the configuration says what would be.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/syscalls.h"
#include "cli/command_class.h"
#include "cli/commands/commands.h"
#include "cli/explaining.h"
#include "cli/help.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

struct PolicyOptions {
    std::string path;
    std::string age;
    bool agents = false;
    std::vector<std::string> command;
};

std::string rule_line(const overlay::RuleShown& rule) {
    std::string line = fmt::format("{:<10} {:<8} {:<28} {}", rule.action, rule.subjects,
                                   quote_name(rule.pattern), harmless(rule.source));
    if (!rule.reason.empty()) line += ": " + harmless(rule.reason);
    if (rule.until_ns != 0) line += " until " + time_words(rule.until_ns);
    return line;
}

Result<int> show(Context& context, const PolicyOptions& /*options*/) {
    TRY_ASSIGN(const std::optional<Workspace> workspace, mounted_workspace(context));
    std::vector<overlay::RuleShown> rules;
    if (workspace) {
        TRY_ASSIGN(rules, workspace->remote()->rules());
    } else {
        TRY_ASSIGN(const auto policy, configured_policy(context.base));
        for (const overlay::Rule& rule : policy->rules())
            rules.push_back(overlay::shown(rule));
    }
    if (context.json) {
        context.out.line(control::dump(
            control::Json{{"rules", control::encode_list(rules)}, {"mounted", bool(workspace)}}));
        return kDone;
    }
    for (const overlay::RuleShown& rule : rules)
        context.out.line(rule_line(rule));
    context.notes.line(workspace ? "In force. Of the rules that match, the last decides."
                                 : "In force when it is mounted. Of the rules that match, the last "
                                   "decides.");
    return kDone;
}

void explain_to(Context& context, const char* who, const overlay::Judged& judged) {
    const auto because = [](const std::string& rule) {
        return rule.empty() ? std::string(", no rule is about it") : ", by " + harmless(rule);
    };
    context.out.line(fmt::format("{}: {}{}", who,
                                 judged.hidden     ? "does not see it"
                                 : judged.may_read ? "may read it"
                                                   : "may not read it",
                                 because(judged.reading)));
    context.out.line(fmt::format("{}: {}{}", who,
                                 judged.may_write ? "may write it"
                                 : judged.asks    ? "may write it when you allow it"
                                                  : "may not write it",
                                 because(judged.writing)));
}

Result<int> explain(Context& context, const PolicyOptions& options) {
    TRY_ASSIGN(const overlay::Explained explained, explain_path(context, options.path));
    if (context.json) {
        context.out.line(control::dump(control::encode(explained)));
        return kDone;
    }
    explain_to(context, "the user", explained.user);
    explain_to(context, "an agent", explained.agent);
    if (explained.tracked)
        context.out.line(
            "git tracks it, and it is as it was when the task began; so an agent may read it");
    return kDone;
}

int tell_good(Context& context, const std::string& text,
              const std::vector<overlay::RuleShown>& unmatched) {
    if (context.json) {
        context.out.line(
            control::dump(control::Json{{"unmatched", control::encode_list(unmatched)}}));
        return kDone;
    }
    context.out.line(text);
    for (const overlay::RuleShown& rule : unmatched)
        context.out.line(fmt::format("note: nothing that is here now matches {} ({})",
                                     quote_name(rule.pattern), harmless(rule.source)));
    return kDone;
}

Result<int> check(Context& context, const PolicyOptions& /*options*/) {
    TRY_ASSIGN(const std::optional<Workspace> workspace, mounted_workspace(context));
    std::vector<overlay::RuleShown> unmatched;
    if (workspace) {
        // The workspace's own file is behind the mount: the daemon reads it.
        TRY_ASSIGN(unmatched, workspace->remote()->reload_policy(true));
    } else {
        TRY_ASSIGN(const UniqueFd root, raw_root(context.base));
        TRY_ASSIGN(const Config config, load_config(root.get()));
        TRY(config.policy());
        TRY_ASSIGN(unmatched, config.unmatched_rules(root.get()));
    }
    return tell_good(context, "The configuration is good.", unmatched);
}

Result<int> allow(Context& context, const PolicyOptions& options) {
    std::uint64_t seconds = 0;
    if (!options.age.empty()) {
        TRY_ASSIGN(seconds, parse_age(options.age));
    }
    TRY_ASSIGN(Workspace workspace, Workspace::open_mounted(context.base));
    TRY_ASSIGN(const std::string path, workspace.inside(context.base, options.path));
    TRY(workspace.oversight().allow(asker(), path, options.agents, seconds));
    context.out.line(
        fmt::format("{} may be read and written by {} {}", quote_name(path),
                    options.agents ? "everyone" : "the user, and not by agents,",
                    seconds == 0 ? std::string("until the unmount") : "for " + options.age));
    return kDone;
}

control::Json encode_class(const OperationClass& one) {
    return {{"name", one.name},
            {"operation", one.operation},
            {"reversible", one.reversible},
            {"mechanism", one.mechanism},
            {"approval", one.approval}};
}

// Without a workspace too: a client reads it before it starts anything.
Result<int> classes(Context& context, const PolicyOptions& options) {
    const bool of_command = !options.command.empty();
    const auto all = of_command ? std::span(&class_of(options.command), 1) : operation_classes();
    if (context.json) {
        control::Json list = control::Json::array();
        for (const OperationClass& one : all)
            list.push_back(encode_class(one));
        context.out.line(
            control::dump(of_command ? list.front() : control::Json{{"classes", list}}));
        return kDone;
    }
    for (const OperationClass& one : all)
        context.out.line(fmt::format("{:<19} taken back: {:<4} approval: {:<9} {}", one.name,
                                     one.reversible, one.approval, one.operation));
    return kDone;
}

Result<int> reload(Context& context, const PolicyOptions& /*options*/) {
    TRY_ASSIGN(Workspace workspace, Workspace::open_mounted(context.base));
    TRY_ASSIGN(const auto unmatched, workspace.remote()->reload_policy(false));
    return tell_good(context, "The rules of the configuration are in force.", unmatched);
}

void add_policy_allow(CLI::App& policy, Context& context,
                      const std::shared_ptr<PolicyOptions>& options) {
    CLI::App* command =
        add_command(policy, context, "allow",
                    "Allow a path until the unmount, whatever the rules say", options, allow);
    command->add_option("PATH", options->path, "The path, and everything below it")->required();
    command->add_option("--for", options->age, "Only for so long, such as 10m or 2h")
        ->type_name("AGE");
    command->add_flag("--agents", options->agents, "Agents may read and write it, too");
    describe(*command, {.usage = "[OPTIONS] PATH",
                        .examples = {{"unwrite policy allow .env --agents --for 10m", ""},
                                     {"unwrite policy allow migrations", ""}},
                        .note = "\"unwrite log --audit\" records it."});
}

}  // namespace

void add_policy(CLI::App& app, Context& context, const std::vector<std::string>& rest) {
    CLI::App* policy =
        app.add_subcommand("policy", "Show and change what agents may read and write");
    policy->require_subcommand(1);
    describe(*policy,
             {.usage = "COMMAND",
              .examples = {{"unwrite policy explain .env", "which rule is about this file"},
                           {"unwrite policy show", "all rules"}}});
    const auto options = std::make_shared<PolicyOptions>();
    options->command = rest;
    CLI::App* command =
        add_command(*policy, context, "show", "List the rules in order", options, show);
    describe(*command, {.usage = "",
                        .examples = {{"unwrite policy show", "for people"},
                                     {"unwrite policy show --json", "for programs"}},
                        .note = "If several rules match a file, the last one decides."});
    command =
        add_command(*policy, context, "explain",
                    "Show who may do what with a path, and which rule says so", options, explain);
    command->add_option("PATH", options->path, "The path; it need not exist")->required();
    describe(*command, {.usage = "PATH",
                        .examples = {{"unwrite policy explain .env", ""},
                                     {"unwrite policy explain .git/hooks/pre-commit", ""}}});
    command = add_command(*policy, context, "check", "Check the configuration for mistakes",
                          options, check);
    describe(*command,
             {.usage = "",
              .examples = {{"unwrite policy check", "also lists rules that match nothing"},
                           {"unwrite -C ~/project policy check", "of another directory"}}});
    add_policy_allow(*policy, context, options);
    command = add_command(*policy, context, "classes",
                          "Show which kinds of commands can be taken back and which need approval",
                          options, classes);
    describe(*command, {.usage = "[-- COMMAND...]",
                        .examples = {{"unwrite policy classes", "all kinds"},
                                     {"unwrite policy classes -- git push", "of one command"}}});
    command = add_command(*policy, context, "reload", "Apply the rules of the configuration now",
                          options, reload);
    describe(*command,
             {.usage = "",
              .examples = {{"unwrite policy reload", "after you edited unwrite.toml"},
                           {"unwrite -C ~/project policy reload", "of another directory"}}});
}

}  // namespace unwrite::cli
