#include "cli/commands/commands.h"
#include "cli/help.h"
#include "cli/text.h"
#include "cli/workspace.h"

namespace unwrite::cli {

namespace {

struct GcOptions {
    std::string max_age;
    std::string max_nodes;
    std::string max_bytes;
    bool lost_found = false;
};

Result<int> gc(Context& context, const GcOptions& options) {
    TRY_ASSIGN(Workspace workspace, Workspace::open(context.base));
    overlay::Retention retention = workspace.retention();
    if (!options.max_age.empty()) {
        TRY_ASSIGN(retention.max_age_seconds, parse_age(options.max_age));
    }
    if (!options.max_nodes.empty()) {
        TRY_ASSIGN(retention.max_abandoned, parse_number(options.max_nodes));
    }
    if (!options.max_bytes.empty()) {
        TRY_ASSIGN(retention.max_bytes, parse_size(options.max_bytes));
    }
    retention.drop_lost = options.lost_found;
    TRY_ASSIGN(const overlay::Collected collected, workspace.operations().gc(retention));
    if (context.json) {
        context.out.line(control::dump(control::encode(collected)));
    } else {
        context.out.line("dropped " +
                         counted(collected.nodes, "abandoned state", "abandoned states") + ", " +
                         counted(collected.deltas, "delta", "deltas") + ", " +
                         counted(collected.objects, "object", "objects") + " of the attic");
        if (options.lost_found) {
            context.out.line(
                "removed " + counted(collected.lost.objects, "deleted file", "deleted files") +
                " and " +
                counted(collected.lost.deltas, "part of the history", "parts of the history") +
                " from lost+found");
        }
    }
    return kDone;
}

}  // namespace

void add_gc(CLI::App& app, Context& context) {
    const auto options = std::make_shared<GcOptions>();
    CLI::App* command =
        add_command(app, context, "gc", "Remove old abandoned states to free space", options, gc);
    command
        ->add_option("--max-age", options->max_age,
                     "Remove states older than this, such as 30d or 12h; 0 for no limit")
        ->type_name("AGE");
    command
        ->add_option("--max-nodes", options->max_nodes,
                     "Keep at most N abandoned states; 0 for no limit")
        ->type_name("N");
    command
        ->add_option("--max-bytes", options->max_bytes,
                     "Remove states until the history is smaller than this, such as 500M or "
                     "10G; 0 for no limit")
        ->type_name("SIZE");
    command->add_flag("--lost-found", options->lost_found,
                      "Also remove what did not fit the history after a power cut");
    describe(*command,
             {.usage = "[OPTIONS]",
              .examples = {{"unwrite gc", "by the limits of the configuration"},
                           {"unwrite gc --max-age 7d", "older than a week"}},
              .note = "It never removes a state that \"unwrite log\" shows without --all."});
}

}  // namespace unwrite::cli
