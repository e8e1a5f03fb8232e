// unwrite: chooses the command, runs it, and turns a failure into words and an exit code.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "base/syscalls.h"
#include "cli/command_line.h"
#include "cli/failure.h"
#include "cli/text.h"
#include "control/protocol.h"

namespace unwrite::cli {

namespace {

void report(Context& context, const Error& error) {
    tell_failure(context, error);
    if (context.json) {
        context.out.line(control::dump(control::Json{{"error", control::encode_error(error)}}));
    }
}

/// A shell that stood in a mount which has ended is nowhere, but knows by what name it came there.
std::string current_directory() {
    std::error_code failure;
    const std::string here = std::filesystem::current_path(failure).string();
    if (!failure) return here;
    const char* remembered = std::getenv("PWD");
    return remembered != nullptr && remembered[0] == '/' ? remembered : "";
}

Result<> find_base(Context& context, const std::string& directory) {
    const std::string here = current_directory();
    if (here.empty() && !directory.starts_with('/')) {
        return Error(ErrorKind::kSystem, ENOENT, "the current directory is gone",
                     "`cd .` enters it again if it was made anew");
    }
    const Result<std::string> base = real_path(here, directory.empty() ? "." : directory);
    if (!base)
        return base.error().with_context("cannot enter " +
                                         quote_name(directory.empty() ? "." : directory));
    context.base = *base;
    return {};
}

Result<int> act(Context& context, const std::string& directory) {
    TRY(find_base(context, directory));
    return context.action();
}

int conclude(Context& context, const Result<int>& outcome) {
    int code = outcome ? *outcome : exit_code(outcome.error());
    if (!outcome) report(context, outcome.error());
    const Result<> written = context.out.flush();
    if (!written) {
        report(context, written.error());
        code = code == kDone ? kFailed : code;
    }
    ignore(context.notes.flush(), "there is nowhere left to say so");
    return code;
}

int run_main(std::vector<std::string> words) {
    // A reader that goes away is met where it is written to, so that no operation ends in the
    // middle.
    std::signal(SIGPIPE, SIG_IGN);
    Context context{.base = {},
                    .out = Output(STDOUT_FILENO),
                    .notes = Output(STDERR_FILENO),
                    .verb = {},
                    .action = {}};
    CommandLine line(context, std::move(words));
    const Result<> parsed = line.parse();
    if (!parsed) return conclude(context, parsed.error());
    if (line.text()) {
        context.out.print(*line.text());
        return conclude(context, static_cast<int>(kDone));
    }
    return conclude(context, act(context, line.directory()));
}

}  // namespace

}  // namespace unwrite::cli

int main(int count, char** words) {
    try {
        return unwrite::cli::run_main(
            std::vector<std::string>(words + 1, words + std::max(count, 1)));
    } catch (const std::exception& exception) {
        fmt::print(stderr, "unwrite: failed: {}\n", exception.what());
        return unwrite::cli::kFailed;
    }
}
