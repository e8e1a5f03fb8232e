// The messages of the Model Context Protocol.
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "mcp/server.h"
#include "overlay/editing_record.h"
#include "tests/fuzz/targets.h"

namespace unwrite::fuzz {

namespace {

void promised(bool truth, const char* words) {
    if (truth) return;
    std::fprintf(stderr, "not so: %s\n", words);
    std::abort();
}

// A question to the user is one, too, where the client said that it can ask them.
bool is_message(const mcp::Json& json) {
    return mcp::text_member(json, "jsonrpc") == "2.0" &&
           (json.contains("result") != json.contains("error") ||
            mcp::text_member(json, "method") == "elicitation/create");
}

void serve(std::string_view input, mcp::Approval approval) {
    std::size_t answers = 0;
    mcp::Server server({.enter = []() -> Result<std::unique_ptr<mcp::Room>> {
                            return Error(ErrorKind::kNoWorkspace, ENOENT, "nothing is mounted");
                        },
                        .approval = approval,
                        .revert_to_state = true,
                        .progress_every = std::chrono::hours(1)},
                       [&answers](const std::string& line) {
                           ++answers;
                           promised(line.find('\n') == std::string::npos, "an answer is one line");
                           const mcp::Json json = mcp::Json::parse(line, nullptr, false);
                           promised(json.is_array() || is_message(json),
                                    "an answer is one of the protocol");
                       });
    std::size_t lines = 0;
    for (std::size_t at = 0; at <= input.size();) {
        const std::size_t end = std::min(input.find('\n', at), input.size());
        server.take(input.substr(at, end - at));
        at = end + 1;
        ++lines;
    }
    while (server.step()) {
    }
    promised(answers <= lines, "no line has more than one answer");
}

}  // namespace

void rpc(std::string_view input) {
    serve(input, mcp::Approval::kClient);
    serve(input, mcp::Approval::kElicit);
    promised(input.starts_with(overlay::words_of_step(input)), "a step's words are in its text");
    if (const auto record = overlay::record_of(input))
        promised(overlay::record_of(overlay::record_text("edit", *record)).has_value(),
                 "a record is read back");
}

}  // namespace unwrite::fuzz
