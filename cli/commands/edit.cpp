#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/config_tools.h"
#include "cli/editing_room.h"
#include "cli/failure.h"
#include "cli/help.h"
#include "cli/text.h"
#include "overlay/editing.h"

namespace unwrite::cli {

namespace {

struct EditOptions {
    std::string path;
    std::optional<std::string> old_snippet;
    std::optional<std::string> new_snippet;
    std::optional<std::uint64_t> start;
    std::optional<std::uint64_t> end;
    std::optional<std::string> content;
    std::optional<std::string> hash;
};

// The flags in the words of the request, so that one decoder checks both.
std::string request_of(const EditOptions& options) {
    nlohmann::ordered_json json;
    json["path"] = options.path;
    if (options.old_snippet) json["old_snippet"] = *options.old_snippet;
    if (options.new_snippet) json["new_snippet"] = *options.new_snippet;
    if (options.content) json["new_content"] = *options.content;
    const bool hinted = options.old_snippet.has_value();
    nlohmann::ordered_json& lines = hinted ? json["match_hint"] : json;
    if (options.start) lines["start_line"] = *options.start;
    if (options.end) lines["end_line"] = *options.end;
    if (options.hash) json["file_hash"] = *options.hash;
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Result<int> edit_file(Context& context, const EditOptions& options) {
    TRY_ASSIGN(const ToolsConfig config, load_tools_config());
    const edit::Settings& settings = config.edit;
    const bool from_input = options.path.empty();
    if (from_input && !context.json)
        return Error(ErrorKind::kUsage, EINVAL, "edit: no PATH is given",
                     "`unwrite edit --json` reads the request from stdin");
    std::string text = request_of(options);
    if (from_input) {
        TRY_ASSIGN(text, read_input("-", settings.max_arguments + 1));
    }
    auto request = edit::decode_request(text, settings);
    if (!request) {
        if (!context.json) return request.error();
        context.out.line(encode_response(edit::refusal(text, request.error())));
        return kUsage;
    }
    TRY_ASSIGN(const auto entered, enter_mounted(context.base, /*agent=*/false));
    const auto in_mount = [&](auto& one) -> Result<> {
        if constexpr (requires { one.path; }) {
            TRY_ASSIGN(one.path, path_in_mount(context, one.path));
        }
        return {};
    };
    TRY(std::visit(in_mount, *request));
    overlay::EditRoom room{entered->operations(), entered->files(), entered->asker()};
    const overlay::EditAnswer answer =
        overlay::Editing(settings, /*must_read=*/false).edit(room, *request);
    if (context.json) {
        context.out.line(encode_response(answer.response));
    } else if (answer.failed) {
        tell_failure(context, failure_of(answer));
    } else {
        context.out.line(context.out.is_terminal() ? harmless(answer.text) : answer.text);
        for (const std::string& remark : answer.response.remarks)
            context.notes.line("note: " + remark);
    }
    return exit_code(answer);
}

}  // namespace

void add_edit(CLI::App& app, Context& context) {
    const auto options = std::make_shared<EditOptions>();
    CLI::App* command =
        add_command(app, context, "edit", "Replace a piece of text or a range of lines in a file",
                    options, edit_file);
    command->add_option("PATH", options->path,
                        "The file; without it, --json reads a request from standard input");
    command->add_option("--old", options->old_snippet,
                        "The text to replace; it must occur exactly once");
    command->add_option("--new", options->new_snippet, "The new text");
    command->add_option("--start-line", options->start, "First line to replace, counted from 1");
    command->add_option("--end-line", options->end, "Last line to replace");
    command->add_option("--content", options->content, "The new text of these lines");
    command->add_option("--hash", options->hash,
                        "Only edit if the file still has this hash (from \"unwrite read\")");
    describe(*command,
             {.usage = "[OPTIONS] PATH (--old TEXT --new TEXT | --start-line N --end-line N "
                       "--content TEXT)",
              .examples = {{"unwrite edit main.c --old 'int x;' --new 'long x;'", ""},
                           {"unwrite edit main.c --start-line 3 --end-line 4 --content ''", ""},
                           {"unwrite --json edit <request.json", ""}},
              .note = "Line endings stay as they are. \"unwrite undo\" takes the edit back."});
}

}  // namespace unwrite::cli
