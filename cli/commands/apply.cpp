#include <cerrno>

#include "cli/commands/commands.h"
#include "cli/config_tools.h"
#include "cli/editing_room.h"
#include "cli/failure.h"
#include "cli/help.h"
#include "cli/text.h"
#include "control/protocol.h"
#include "edit/text_safety.h"
#include "overlay/editing.h"

namespace unwrite::cli {

namespace {

struct ApplyOptions {
    std::string patch = "-";
    unsigned strip = 1;
};

// An LP1 patch begins with its header, behind blank and comment lines at most.
bool is_lp1(std::string_view patch) {
    for (std::size_t at = 0; at < patch.size();) {
        const std::size_t end = std::min(patch.find('\n', at), patch.size());
        std::string_view line = patch.substr(at, end - at);
        at = end + 1;
        const std::size_t first = line.find_first_not_of(" \t\r");
        if (first == std::string_view::npos || line[first] == '#') continue;
        line = line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
        return line == "LP1";
    }
    return false;
}

Result<int> apply(Context& context, const ApplyOptions& options) {
    TRY_ASSIGN(const ToolsConfig config, load_tools_config());
    const edit::Settings& settings = config.edit;
    const std::string file =
        options.patch == "-" ? options.patch : absolute_path(context.base, options.patch);
    if (!settings.enabled) {
        return Error(ErrorKind::kRefused, EPERM,
                     "editing is switched off in the configuration (tools.edit.enabled)",
                     "set tools.edit.enabled to true in your unwrite.toml");
    }
    const auto read = read_input(file, settings.max_patch);
    if (!read && read.error().number() == E2BIG)
        return Error(ErrorKind::kUsage, E2BIG, "Patch exceeds max_patch_bytes");
    if (!read) return read.error();
    const std::string& patch = *read;
    TRY_ASSIGN(const auto entered, enter_mounted(context.base, /*agent=*/false));
    overlay::EditRoom room{entered->operations(), entered->files(), entered->asker()};
    overlay::Editing editing(settings, /*must_read=*/false);
    const overlay::EditAnswer answer = is_lp1(patch)
                                           ? editing.edit(room, edit::PatchRequest{patch})
                                           : editing.apply_unified(room, patch, options.strip);
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

void add_apply(CLI::App& app, Context& context) {
    const auto options = std::make_shared<ApplyOptions>();
    CLI::App* command = add_command(app, context, "apply",
                                    "Apply a patch completely, or not at all", options, apply);
    command->add_option("PATCH", options->patch, "The patch file (default: standard input)");
    command->add_option("-p,--strip", options->strip,
                        "Remove N leading parts of each path in a unified diff (default 1)");
    describe(*command, {.usage = "[OPTIONS] [PATCH]",
                        .examples = {{"unwrite apply fix.patch", "a unified diff or an LP1 patch"},
                                     {"unwrite apply -p 0 <fix.patch", "paths without a/ and b/"}},
                        .note = "Paths in the patch are relative to the top of the workspace. "
                                "\"unwrite undo\" takes the patch back."});
}

}  // namespace unwrite::cli
