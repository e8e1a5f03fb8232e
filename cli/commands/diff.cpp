#include <cerrno>

#include "cli/commands/commands.h"
#include "cli/help.h"
#include "cli/known_path.h"
#include "cli/outside_shell.h"
#include "cli/render.h"
#include "cli/text.h"
#include "cli/workspace.h"

namespace unwrite::cli {

namespace {

struct DiffOptions {
    std::vector<std::string> words;
    bool stat = false;
};

struct Range {
    std::string from;
    std::string to;
};

Result<bool> is_range(Context& context, overlay::Operations& operations, const std::string& word) {
    if (word.find("..") != std::string::npos && word.find('/') == std::string::npos) return true;
    return names_state(operations, context.base, word);
}

/// A state of the log alone is the step that led to it, as `log` shows it.
Range parse_range(const std::string& word) {
    const std::size_t dots = word.find("..");
    if (dots == std::string::npos && is_node(word) && !word.ends_with('^'))
        return {word + "^", word};
    if (dots == std::string::npos) return {word, ""};
    return {word.substr(0, dots), word.substr(dots + 2)};
}

Error no_such(const std::string& word, bool may_be_state) {
    return Error(ErrorKind::kNotFound, ENOENT,
                 "diff: " + quote_name(word) +
                     (may_be_state ? " is neither a state nor a path" : " is not a path"),
                 "`unwrite log` lists the states, `unwrite status` the paths that changed");
}

Result<int> diff(Context& context, const DiffOptions& options) {
    TRY_ASSIGN(Workspace workspace, Workspace::open(context.base));
    Range range;
    std::vector<std::string> words = options.words;
    if (!words.empty()) {
        TRY_ASSIGN(const bool first, is_range(context, workspace.operations(), words[0]));
        if (first) {
            range = parse_range(words[0]);
            words.erase(words.begin());
        }
    }
    std::vector<std::string> paths;
    for (const std::string& word : words) {
        TRY_ASSIGN(std::string path, workspace.inside(context.base, word));
        TRY_ASSIGN(const bool known, is_known_path(workspace, path));
        if (!known) return no_such(word, word == options.words.front());
        if (!path.empty()) paths.push_back(std::move(path));
    }
    TRY_ASSIGN(const std::vector<overlay::FileDiff> diffs,
               workspace.operations().diff(range.from, range.to, paths, !options.stat));
    if (context.json) {
        context.out.line(control::dump(control::Json{{"files", control::encode_list(diffs)}}));
        return kDone;
    }
    if (options.stat && !diffs.empty()) context.out.print(stat_lines(diffs));
    const Colour colour = context.out.has_colour() ? Colour::kYes : Colour::kNo;
    for (const overlay::FileDiff& one : diffs) {
        if (!options.stat) context.out.print(diff_lines(one, context.out.is_terminal(), colour));
    }
    tell_outside(context, workspace);
    return kDone;
}

}  // namespace

void add_diff(CLI::App& app, Context& context) {
    const auto options = std::make_shared<DiffOptions>();
    CLI::App* command =
        add_command(app, context, "diff", "Show what changed, line by line", options, diff);
    command->add_option("NODE[..NODE] PATH", options->words,
                        "One step (n7), or these states compared (default: the start of the task "
                        "with now), or only these paths. n7^ is the state before step n7, ./NAME "
                        "is always a path.");
    command->add_flag("--stat", options->stat, "Only count the lines of each file");
    describe(*command, {.usage = "[OPTIONS] [NODE[..NODE]] [PATH...]",
                        .examples = {{"unwrite diff", "everything since the task began"},
                                     {"unwrite diff n7", "what step n7 changed"},
                                     {"unwrite diff before src/", "since a checkpoint, below src"},
                                     {"unwrite diff n3..n5 --stat", "between two states"}}});
}

}  // namespace unwrite::cli
