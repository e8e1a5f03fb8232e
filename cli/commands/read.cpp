#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/editing_room.h"
#include "cli/help.h"
#include "cli/text.h"
#include "control/protocol.h"
#include "overlay/editing.h"

namespace unwrite::cli {

namespace {

struct ReadOptions {
    std::string path;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    bool with_numbers = false;
    bool without_numbers = false;
};

Result<int> read(Context& context, const ReadOptions& options) {
    TRY_ASSIGN(const auto entered, enter_mounted(context.base, /*agent=*/false));
    TRY_ASSIGN(const std::string path, path_in_mount(context, options.path));
    overlay::EditRoom room{entered->operations(), entered->files(), entered->asker()};
    overlay::Editing editing({}, /*must_read=*/false);
    std::optional<edit::LineRange> lines;
    if (options.start != 0 || options.end != 0) {
        lines = edit::LineRange{options.start == 0 ? 1 : options.start,
                                options.end == 0 ? UINT64_MAX : options.end};
    }
    TRY_ASSIGN(const overlay::ReadAnswer answer, editing.read(room, path, lines));
    const bool with_numbers =
        !options.without_numbers && (lines.has_value() || options.with_numbers);
    const std::string text =
        with_numbers ? edit::numbered_lines(answer.text, answer.lines.start) : answer.text;
    if (!context.json) {
        context.out.print(context.out.is_terminal() ? harmless(text) : text);
        context.notes.line(overlay::facts_of(answer));
        return kDone;
    }
    context.out.line(
        control::dump(control::Json{{"path", control::encode_bytes(answer.path)},
                                    {"start_line", answer.lines.start},
                                    {"end_line", answer.lines.end},
                                    {"line_count", answer.line_count},
                                    {"file_hash", to_text(answer.hash)},
                                    {"newline_kind", std::string(edit::name_of(answer.newline))},
                                    {"line_numbers", with_numbers},
                                    {"content", text}}));
    return kDone;
}

}  // namespace

void add_read(CLI::App& app, Context& context) {
    const auto options = std::make_shared<ReadOptions>();
    CLI::App* command = add_command(app, context, "read",
                                    "Print a text file as the edit tools see it", options, read);
    command->add_option("PATH", options->path, "The file")->required();
    command->add_option("--start-line", options->start, "First line, counted from 1");
    command->add_option("--end-line", options->end, "Last line");
    auto* with = command->add_flag("--line-numbers", options->with_numbers,
                                   "Number the lines; this is the default for a part of the file");
    command
        ->add_flag("--no-line-numbers", options->without_numbers,
                   "Print a part of the file exactly, without numbers")
        ->excludes(with);
    describe(
        *command,
        {.usage = "[OPTIONS] PATH",
         .examples = {{"unwrite read main.c", "the whole file, exactly"},
                      {"unwrite read main.c --start-line 10 --end-line 20", "with line numbers"}},
         .note = "Standard error gets a line with the number of lines, the newline kind, and "
                 "the hash that \"unwrite edit --hash\" takes."});
}

}  // namespace unwrite::cli
