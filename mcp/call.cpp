#include "mcp/call.h"

#include <condition_variable>
#include <mutex>

#include "base/held_signals.h"

namespace unwrite::mcp {

std::string cause_of(const Json& meta, const Json& client) {
    Json cause = Json::object();
    std::size_t size = 2;
    const auto add = [&](const std::string& key, const Json& value) {
        const std::size_t more = dump(Json(key)).size() + dump(value).size() + 2;
        if (value.is_null() || size + more > overlay::kMostOfCause) return;
        cause[key] = value;
        size += more;
    };
    const std::string name = text_member(client, "name");
    if (!name.empty()) add("client", name + " " + text_member(client, "version"));
    if (!meta.is_object()) return cause.empty() ? "" : dump(cause);
    for (const auto& [key, value] : meta.items()) {
        // What the protocol says of itself is no number of the client's.
        if (!key.starts_with("io.modelcontextprotocol/")) add(key, value);
    }
    return cause.empty() ? "" : dump(cause);
}

Progress::Progress(const ToolCall& call, const std::function<void(const std::string& line)>& send,
                   std::chrono::milliseconds every) {
    if (call.progress_token.is_null()) return;
    thread_ = std::jthread([&call, &send, every](const std::stop_token& stop) {
        const HeldSignals held;  // the thread that edits decides when they end the process
        std::mutex mutex;
        std::condition_variable_any stopped;
        std::unique_lock lock(mutex);
        for (unsigned count = 1;; ++count) {
            stopped.wait_for(lock, stop, every, [] { return false; });
            if (stop.stop_requested()) return;
            send(dump(Json{
                {"jsonrpc", "2.0"},
                {"method", "notifications/progress"},
                {"params", Json{{"progressToken", call.progress_token},
                                {"progress", count},
                                {"message", std::string(call.tool->title) + ": still at work"}}}}));
        }
    });
}

Progress::~Progress() = default;

}  // namespace unwrite::mcp
