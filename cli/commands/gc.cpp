#include "cli/commands/commands.h"
#include "cli/text.h"
#include "cli/workspace.h"

namespace unwrite::cli {

namespace {

struct GcOptions {
    std::string max_age;
    std::string max_nodes;
    std::string max_bytes;
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
    TRY_ASSIGN(const overlay::Collected collected, workspace.operations().gc(retention));
    if (context.json) {
        context.out.line(control::dump(control::encode(collected)));
    } else {
        context.out.line("dropped " +
                         counted(collected.nodes, "abandoned state", "abandoned states") + ", " +
                         counted(collected.deltas, "delta", "deltas") + ", " +
                         counted(collected.objects, "object", "objects") + " of the attic");
    }
    return kDone;
}

}  // namespace

void add_gc(CLI::App& app, Context& context) {
    const auto options = std::make_shared<GcOptions>();
    CLI::App* command =
        add_command(app, context, "gc", "Drop abandoned states, the oldest first", options, gc);
    command->add_option("--max-age", options->max_age, "Older than this: 30d, 12h; 0 for no limit");
    command->add_option("--max-nodes", options->max_nodes, "More than this many; 0 for no limit");
    command->add_option("--max-bytes", options->max_bytes,
                        "When the state directory has more: 500M, 10G; 0 for no limit");
    command->footer(
        "Without options the limits of the configuration hold (30 days). States on the way to the "
        "live one stay.");
}

}  // namespace unwrite::cli
