#include "mcp/resources.h"

#include <cerrno>

#include "mcp/arguments.h"
#include "mcp/encode.h"

namespace unwrite::mcp {

namespace {

constexpr std::size_t kMostNodes = 100;

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

Result<Json> prompt_content(const std::string& name, const Json& arguments, const Enter& enter) {
    if (name != "review")
        return Error(ErrorKind::kUsage, ENOENT, "Unknown prompt: " + name.substr(0, 100));
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
