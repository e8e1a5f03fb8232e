#include "cli/refusals.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/text.h"

namespace unwrite::cli {

namespace {

using overlay::AuditEntry;
using overlay::Refused;
using overlay::RefusedKind;

constexpr std::size_t kMostListed = 8;
constexpr std::size_t kMostNewest = 5;
constexpr std::size_t kMostWays = 4;

std::string joined(const std::vector<std::string>& parts, const char* before_last) {
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) text += i + 1 == parts.size() ? before_last : ", ";
        text += parts[i];
    }
    return text;
}

std::string count_words(std::uint64_t writes, std::uint64_t reads, std::uint64_t commands) {
    std::vector<std::string> parts;
    if (writes > 0) parts.push_back(counted(writes, "write", "writes"));
    if (reads > 0) parts.push_back(counted(reads, "read", "reads"));
    if (commands > 0) parts.push_back(counted(commands, "command", "commands"));
    return joined(parts, " and ");
}

std::string who(const AuditEntry& entry) {
    return entry.session.empty() ? "you" : harmless(entry.session);
}

/// What it was about: a path, or the command that an agent may not give.
std::string subject(const AuditEntry& entry) {
    if (!entry.path.empty()) return quote_name(entry.path);
    return entry.operation.empty() ? "other files" : "unwrite " + harmless(entry.operation);
}

std::string rule_words(const AuditEntry& entry) {
    return entry.detail.empty() ? "no rule is named" : harmless(entry.detail);
}

const AuditEntry* newest_of_a_path(const Refused& refused) {
    const auto found = std::find_if(refused.entries.begin(), refused.entries.end(),
                                    [](const AuditEntry& entry) { return !entry.path.empty(); });
    return found == refused.entries.end() ? nullptr : &*found;
}

/// The program that was refused, such as "cat"; of a change the call as well: "create by sh".
std::string how_words(const AuditEntry& entry) {
    const std::string program =
        quote_name(entry.executable.substr(entry.executable.rfind('/') + 1));
    if (entry.path.empty()) return {};
    if (overlay::kind_of(entry) == RefusedKind::kRead) return program.empty() ? "read" : program;
    return harmless(entry.operation) + (program.empty() ? "" : " by " + program);
}

/// All that one rule refused at one path.
struct OfOnePath {
    const AuditEntry* newest = nullptr;
    std::uint64_t count = 0;
    std::vector<std::string> how{};
};

std::string hint(const Refused& refused) {
    const AuditEntry* const newest = newest_of_a_path(refused);
    return newest == nullptr ? "hint: unwrite log --audit"
                             : "hint: unwrite why " + quote_name(newest->path);
}

}  // namespace

std::string refused_words(const Refused& refused) {
    // The entries may be cut, so what they do not hold is said without a name.
    std::vector<std::string> names;
    for (const AuditEntry& entry : refused.entries)
        if (std::find(names.begin(), names.end(), who(entry)) == names.end())
            names.push_back(who(entry));
    std::reverse(names.begin(), names.end());
    std::vector<std::string> parts;
    for (const std::string& name : names) {
        std::uint64_t counts[3] = {};
        for (const AuditEntry& entry : refused.entries)
            if (who(entry) == name)
                counts[static_cast<int>(overlay::kind_of(entry))] += entry.count;
        parts.push_back(count_words(counts[0], counts[1], counts[2]) + " by " + name);
    }
    const std::uint64_t all = refused.writes + refused.reads + refused.commands;
    std::uint64_t listed = 0;
    for (const AuditEntry& entry : refused.entries)
        listed += entry.count;
    if (all > listed) parts.push_back(fmt::format("{} more", all - listed));
    return joined(parts, ", ");
}

std::string refusal_words(const AuditEntry& entry) {
    std::uint64_t counts[3] = {};
    counts[static_cast<int>(overlay::kind_of(entry))] = entry.count;
    const std::string program = entry.executable.substr(entry.executable.rfind('/') + 1);
    return fmt::format("{} by {}{}, {}: {}", count_words(counts[0], counts[1], counts[2]),
                       who(entry), program.empty() ? "" : " (" + quote_name(program) + ")",
                       time_words(entry.time_ns), rule_words(entry));
}

RefusedLines refused_lines(const std::vector<AuditEntry>& entries, std::size_t most) {
    std::vector<OfOnePath> paths;
    for (const AuditEntry& entry : entries) {
        auto at = std::find_if(paths.begin(), paths.end(), [&](const OfOnePath& known) {
            return subject(*known.newest) == subject(entry) && known.newest->detail == entry.detail;
        });
        if (at == paths.end()) at = paths.insert(at, {&entry});
        at->count += entry.count;
        const std::string how = how_words(entry);
        if (!how.empty() && std::find(at->how.begin(), at->how.end(), how) == at->how.end())
            at->how.push_back(how);
    }
    RefusedLines lines;
    for (std::size_t i = 0; i < std::min(paths.size(), most); ++i) {
        OfOnePath& path = paths[i];
        lines.refusals += path.count;
        std::reverse(path.how.begin(), path.how.end());  // as they happened
        if (path.how.size() > kMostWays) {
            path.how.resize(kMostWays);
            path.how.emplace_back("...");
        }
        std::string how = joined(path.how, ", ");
        if (path.count > 1) how += fmt::format("{}{} times", how.empty() ? "" : "; ", path.count);
        lines.text += fmt::format("  {}{}: {}\n", subject(*path.newest),
                                  how.empty() ? "" : "  (" + how + ")", rule_words(*path.newest));
    }
    return lines;
}

std::string refused_status(const Refused& refused) {
    if (refused.entries.empty()) return {};
    const AuditEntry& newest = refused.entries.front();
    return fmt::format("Refused since the task began: {}; newest {} ({})\n{}\n",
                       refused_words(refused), subject(newest), rule_words(newest), hint(refused));
}

control::Json encode_refused(const Refused& refused) {
    control::Json newest = control::Json::array();
    for (std::size_t i = 0; i < std::min(refused.entries.size(), kMostNewest); ++i) {
        const AuditEntry& entry = refused.entries[i];
        newest.push_back({{"path", control::encode_bytes(entry.path)},
                          {"operation", control::encode_bytes(entry.operation)},
                          {"count", entry.count},
                          {"session", control::encode_bytes(entry.session)},
                          {"agent", entry.agent},
                          {"time_ns", entry.time_ns},
                          {"reason", control::encode_bytes(entry.detail)}});
    }
    return {{"writes", refused.writes},
            {"reads", refused.reads},
            {"commands", refused.commands},
            {"newest", newest}};
}

Result<overlay::RefusedTo> refused_of(Workspace& workspace, const std::string& session,
                                      std::int64_t since_ns) {
    if (workspace.mount()) return control::ask_refused(*workspace.mount(), since_ns, session);
    TRY_ASSIGN(Refused refused, overlay::refused_in(workspace.oversight(), workspace.operations(),
                                                    since_ns, session));
    return overlay::RefusedTo{std::move(refused), false};
}

void tell_refused(Context& context, const Refused& refused) {
    if (refused.entries.empty()) return;
    context.notes.line("Refused in this run: " +
                       count_words(refused.writes, refused.reads, refused.commands));
    const RefusedLines lines = refused_lines(refused.entries, kMostListed);
    context.notes.print(lines.text);
    const std::uint64_t all = refused.writes + refused.reads + refused.commands;
    const std::uint64_t more = all - std::min(all, lines.refusals);
    if (more > 0)
        context.notes.line(
            fmt::format("  ... and {} more; \"unwrite log --audit\" lists all", more));
    context.notes.line(hint(refused));
}

}  // namespace unwrite::cli
