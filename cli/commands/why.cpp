// why PATH: what the user and an agent may do at a path, by which rule, what was refused there, and
// how to change that. For agents too.
#include "cli/commands/why.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>

#include "base/syscalls.h"
#include "cli/explaining.h"
#include "cli/help.h"
#include "cli/refusals.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

constexpr std::size_t kMostListed = 10;

struct WhyOptions {
    std::string path;
};

/// What an agent may do now, where git tracks the file.
overlay::Explained as_it_is(overlay::Explained explained) {
    if (explained.tracked && !explained.agent.hidden) explained.agent.may_read = true;
    return explained;
}

std::string permission_words(const overlay::Judged& judged, bool second_person) {
    if (judged.hidden) return second_person ? "do not see it" : "does not see it";
    if (judged.may_read && judged.may_write) return "may read and write it";
    if (judged.may_read && judged.asks)
        return "may read it, and write it after a person has agreed";
    if (judged.may_read) return "may read it, and not write it";
    return judged.may_write ? "may write it, and not read it" : "may neither read nor write it";
}

bool is_free(const overlay::Judged& judged) {
    return judged.may_read && judged.may_write && !judged.hidden;
}

std::string rule_words(const overlay::Judged& judged) {
    const std::string& rule = judged.may_write ? judged.reading : judged.writing;
    if (!rule.empty() && !is_free(judged)) return ", by " + harmless(rule);
    return rule.empty() ? "" : " (" + harmless(rule) + ")";
}

/// What was refused at that path, or below it, since the task began. A workspace that is not there
/// refused nothing.
Result<overlay::RefusedTo> refused_at(Context& context, const std::string& typed) {
    auto workspace = Workspace::open(context.base);
    if (!workspace && workspace.error().kind() == ErrorKind::kNoWorkspace)
        return overlay::RefusedTo();
    if (!workspace) return workspace.error();
    TRY_ASSIGN(const std::string path, workspace->inside(context.base, typed));
    TRY_ASSIGN(overlay::RefusedTo found, refused_of(*workspace, "", 0));
    std::erase_if(found.refused.entries, [&](const overlay::AuditEntry& entry) {
        return entry.path != path && !entry.path.starts_with(path + "/");
    });
    return found;
}

std::string hint(const overlay::Explained& explained, const overlay::RefusedTo& found,
                 const std::string& path) {
    const std::string name = quote_name(path);
    const bool anything = !found.refused.entries.empty();
    if (found.agent) {
        if (is_free(explained.agent) && !anything) return {};
        return "hint: ask the person who started the run; this allows it: unwrite policy allow "
               "--agents " +
               name;
    }
    if (!is_free(explained.user) && !explained.user.asks)
        return "hint: unwrite policy allow " + name;
    if (explained.agent.asks || explained.user.asks) return "hint: unwrite approvals";
    if (!is_free(explained.agent)) return "hint: unwrite policy allow --agents " + name;
    return anything ? "hint: unwrite approvals" : "";
}

void print_json(Context& context, const overlay::Explained& explained,
                const overlay::RefusedTo& found) {
    control::Json json = control::encode(explained);
    json["asked_by_agent"] = found.agent;
    json["refused"] = control::encode_list(found.refused.entries);
    context.out.line(control::dump(json));
}

Result<int> why(Context& context, const WhyOptions& options) {
    TRY_ASSIGN(overlay::Explained explained, explain_path(context, options.path));
    TRY_ASSIGN(const overlay::RefusedTo found, refused_at(context, options.path));
    const std::vector<overlay::AuditEntry>& refused = found.refused.entries;
    if (context.json) {
        print_json(context, explained, found);
        return kDone;
    }
    const std::string name = quote_name(options.path);
    explained = as_it_is(std::move(explained));
    const auto& [user, agent, tracked] = explained;
    const auto there = sys::stat_at(AT_FDCWD, absolute_path(context.base, options.path));
    if (!there && there.error().number() == ENOENT) context.out.line(name + ": does not exist");
    if (user.reading.empty() && user.writing.empty() && agent.reading.empty() &&
        agent.writing.empty()) {
        context.out.line(name + ": no rule is about it; you and agents may read and write it");
    } else if (found.agent) {
        context.out.line(fmt::format("{}: you {} (this process belongs to a run){}", name,
                                     permission_words(agent, true), rule_words(agent)));
        context.out.line(fmt::format("{}: the user {}{}", name, permission_words(user, false),
                                     rule_words(user)));
    } else {
        context.out.line(fmt::format("{}: an agent {}{}", name, permission_words(agent, false),
                                     rule_words(agent)));
        context.out.line(
            fmt::format("{}: you {}{}", name, permission_words(user, true), rule_words(user)));
    }
    if (tracked)
        context.out.line(
            name +
            ": git tracks it, and it is as it was when the task began; so agents may read it");
    for (std::size_t i = 0; i < std::min(refused.size(), kMostListed); ++i)
        context.out.line("refused: " + refusal_words(refused[i]));
    const std::string advice = hint(explained, found, options.path);
    if (!advice.empty()) context.out.line(advice);
    return kDone;
}

}  // namespace

void add_why(CLI::App& app, Context& context) {
    const auto options = std::make_shared<WhyOptions>();
    CLI::App* command = add_command(
        app, context, "why", "Show why a path is refused, and what to do about it", options, why);
    command->add_option("PATH", options->path, "The path; it need not exist")->required();
    describe(*command, {.usage = "PATH",
                        .examples = {{"unwrite why .env", "which rule, and what was refused there"},
                                     {"unwrite why node_modules", "also of what is below it"}},
                        .note = "Agents may ask, too; they are told of their own run alone."});
}

}  // namespace unwrite::cli
