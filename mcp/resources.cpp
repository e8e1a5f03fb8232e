#include "mcp/resources.h"

#include <algorithm>
#include <cerrno>

#include "edit/text_safety.h"
#include "mcp/arguments.h"
#include "mcp/encode.h"

namespace unwrite::mcp {

namespace {

constexpr std::size_t kMostNodes = 100;
constexpr std::size_t kMostCompletions = 100;  // the protocol's

Json entry(const char* uri, const char* name, const char* title, const char* description) {
    return Json{{"uri", uri},
                {"name", name},
                {"title", title},
                {"description", description},
                {"mimeType", "text/plain"}};
}

Result<std::string> text_for(const std::string& uri, const Enter& enter) {
    const bool status = uri == "unwrite://status";
    const bool tree = uri == "unwrite://tree";
    if (!status && !tree && uri != "unwrite://diff")
        return Error(ErrorKind::kNotFound, ENOENT, "Resource not found");
    TRY_ASSIGN(const auto room, enter());
    if (status) {
        TRY_ASSIGN(const overlay::Status now, room->operations().status("", true));
        TRY_ASSIGN(const overlay::Log log, room->operations().log("", false, false));
        return text_of(now) + notes_text(log);
    }
    if (tree) {
        TRY_ASSIGN(const overlay::Log log, room->operations().log("", true, false));
        return text_of(log, kMostNodes);
    }
    TRY_ASSIGN(const auto diffs, room->operations().diff("", "", {}, true));
    return text_of(diffs, false);
}

}  // namespace

Json resource_list() {
    return Json::array({entry("unwrite://status", "status", "What changed",
                              "The files that changed since the task began."),
                        entry("unwrite://tree", "tree", "Checkpoints and steps",
                              "The nodes of the workspace, abandoned ones too."),
                        entry("unwrite://diff", "diff", "Differences",
                              "A unified diff of all that changed since the task began.")});
}

Result<Json> resource_content(const std::string& uri, const Enter& enter) {
    TRY_ASSIGN(const std::string text, text_for(uri, enter));
    return Json{{"uri", uri}, {"mimeType", "text/plain"}, {"text", text}};
}

Json prompt_list() {
    return Json::array(
        {Json{{"name", "review"},
              {"title", "Review what changed"},
              {"description", "Goes through all changes of the task, or since a checkpoint."},
              {"arguments", Json::array({Json{{"name", "since"},
                                              {"description", "A checkpoint's name or \"n12\"."},
                                              {"required", false}}})}}});
}

namespace {

/// "root", the names of checkpoints, then the nodes; the newest first.
std::vector<std::string> places_of(const overlay::Log& log, const std::string& prefix) {
    std::vector<std::string> names{"root"};
    std::vector<std::string> nodes;
    for (const overlay::LogEntry& entry : log.entries) {
        const std::string& name = entry.node.name;
        const bool is_new = std::find(names.begin(), names.end(), name) == names.end();
        if (!name.empty() && edit::is_utf8(name) && is_new) names.push_back(name);
        nodes.push_back("n" + std::to_string(entry.node.number));
    }
    names.insert(names.end(), nodes.begin(), nodes.end());
    std::erase_if(names, [&](const std::string& name) { return !name.starts_with(prefix); });
    return names;
}

}  // namespace

Result<Json> completion(const Json& params, const Enter& enter) {
    const Json& reference = member(params, "ref");
    const Json& argument = member(params, "argument");
    if (text_member(reference, "type") != "ref/prompt" ||
        text_member(reference, "name") != "review" || text_member(argument, "name") != "since")
        return Error(ErrorKind::kUsage, EINVAL, "There is no such argument to be completed");
    TRY_ASSIGN(const auto room, enter());
    TRY_ASSIGN(const overlay::Log log, room->operations().log("", true, false));
    std::vector<std::string> values = places_of(log, text_member(argument, "value"));
    const std::size_t total = values.size();
    values.resize(std::min(total, kMostCompletions));
    return Json{{"completion",
                 Json{{"values", values}, {"total", total}, {"hasMore", total > values.size()}}}};
}

Result<Json> prompt_content(const std::string& name, const Json& arguments, const Enter& enter) {
    if (name != "review")
        return Error(ErrorKind::kUsage, ENOENT,
                     "Unknown prompt: " + edit::displayed(name.substr(0, 100)));
    const Json given = arguments.is_null() ? Json::object() : arguments;
    TRY_ASSIGN(const Arguments checked, Arguments::check(given, {"since"}));
    TRY_ASSIGN(const std::string since, checked.text("since"));
    TRY_ASSIGN(const auto room, enter());
    TRY_ASSIGN(const auto diffs, room->operations().diff(since, "", {}, true));
    const std::string text =
        "Review these changes file by file. Say for each what it does, whether it belongs to the "
        "task, and what is wrong with it. Name the files that should be taken back, and do not "
        "take anything back before I agree.\n\n" +
        text_of(diffs, false);
    return Json{
        {"description", "Review what changed"},
        {"messages", Json::array({Json{{"role", "user"},
                                       {"content", Json{{"type", "text"}, {"text", text}}}}})}};
}

}  // namespace unwrite::mcp
