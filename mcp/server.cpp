#include "mcp/server.h"

#include <algorithm>
#include <array>
#include <utility>

#include "edit/line_changes.h"
#include "mcp/resources.h"
#include "mcp/revert_tool.h"

namespace unwrite::mcp {

namespace {

constexpr const char* kModern = "2026-07-28";
constexpr std::array kLegacy = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05",
                                "2024-10-07"};
constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kClientKey = "io.modelcontextprotocol/clientInfo";
constexpr const char* kServerKey = "io.modelcontextprotocol/serverInfo";
constexpr const char* kInstructions =
    "Files of this workspace are edited with Read and Edit; Undo takes the last Edit back. "
    "Whatever "
    "any program writes here can be taken back too: make a checkpoint before something risky and "
    "rollback if it went wrong. status and diff show what changed.";
constexpr std::int64_t kHour = 3600000;

Json server_info() {
    return Json{{"name", "unwrite"}, {"title", "unwrite"}, {"version", UNWRITE_VERSION}};
}

Json capabilities() {
    return Json{{"tools", Json::object()},
                {"resources", Json::object()},
                {"prompts", Json::object()},
                {"completions", Json::object()}};
}

ProtocolError error_for(const Message& message, ErrorCode code, std::string text,
                        Json data = nullptr) {
    return {code, std::move(text), std::move(data), message.id};
}

void keep(Json& result, bool modern, std::int64_t ms, const char* scope) {
    if (!modern) return;
    result["ttlMs"] = ms;
    result["cacheScope"] = scope;
}

}  // namespace

const Server::Method Server::kMethods[] = {
    {"initialize", &Server::initialize, true},
    {"server/discover", &Server::discover, true},
    {"ping", &Server::ping, true},
    {"tools/list", &Server::list_tools, false},
    {"tools/call", &Server::call_tool, false},
    {"resources/list", &Server::list_resources, false},
    {"resources/templates/list", &Server::list_templates, false},
    {"resources/read", &Server::read_resource, false},
    {"prompts/list", &Server::list_prompts, false},
    {"prompts/get", &Server::get_prompt, false},
    {"completion/complete", &Server::complete_argument, false},
};

Server::Server(ServerOptions options, Send send)
    : approval_(options.approval),
      progress_every_(options.progress_every),
      session_{std::move(options.enter),
               overlay::Editing(options.settings, /*must_read=*/true),
               {.enabled = options.revert_to_state}},
      send_(std::move(send)) {
    session_.enter = [this, enter = std::move(session_.enter)] { return this->enter(enter); };
}

Result<std::unique_ptr<Room>> Server::enter(const Enter& enter) {
    auto entered = enter();
    if (!entered && entered.error().kind() == ErrorKind::kNoWorkspace)
        return entered.error().with_advice("Nothing was done. Ask the user: " +
                                           entered.error().advice());
    TRY_ASSIGN(auto room, std::move(entered));
    room->while_waiting([this] { return go_on(); });
    if (session_.first_node == 0) {
        const auto newest = room->operations().trunk(0, 1);
        if (newest && !newest->empty()) session_.first_node = newest->front().number;
    }
    return room;
}

void Server::take(std::string_view line) {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
    Line parsed = parse_line(line);
    const auto batch = parsed.batch ? std::make_shared<Batch>() : nullptr;
    if (batch) batch->left = parsed.messages.size();
    for (Parsed& item : parsed.messages) {
        const auto* message = std::get_if<Message>(&item);
        const bool cancels = message != nullptr && message->kind == MessageKind::kNotification &&
                             message->method == "notifications/cancelled";
        if (cancels) notified(*message);
        queue_.push_back({std::move(item), batch});
    }
}

bool Server::settle() {
    // What was read may be edited next, and the report of an edit compares lines.
    if (session_.has_read) edit::prepare_line_changes();
    // Before the first call nothing is opened, whatever an earlier life left waiting.
    return session_.reverts.asked && settle_reverts(session_);
}

bool Server::step() {
    if (queue_.empty()) return false;
    const Item item = std::move(queue_.front());
    queue_.pop_front();
    try {
        if (const auto* error = std::get_if<ProtocolError>(&item.parsed)) {
            answer(item, error_of(*error));
        } else {
            running_ = std::get<Message>(item.parsed).id;
            cancelled_ = false;
            auto json = handle(std::get<Message>(item.parsed));
            if (json && !cancelled_) answer(item, *std::move(json));
        }
    } catch (const std::exception& exception) {
        const auto* message = std::get_if<Message>(&item.parsed);
        answer(item, error_of({ErrorCode::kInternal, std::string("Failed: ") + exception.what(),
                               nullptr, message == nullptr ? Json() : message->id}));
    }
    running_ = nullptr;
    close(item);
    return true;
}

bool Server::go_on() {
    if (listen_ && !listen_()) return false;
    for (Item& item : queue_) {
        auto* const message = std::get_if<Message>(&item.parsed);
        const bool is_ping = message != nullptr && message->kind == MessageKind::kRequest &&
                             message->method == "ping" && !item.batch;
        if (!is_ping) continue;
        if (const auto json = respond(*message)) send_(dump(*json));
        message->kind = MessageKind::kNotification;
    }
    return !cancelled_;
}

void Server::answer(const Item& item, Json json) {
    if (item.batch) {
        item.batch->answers.push_back(std::move(json));
    } else {
        send_(dump(json));
    }
}

// The last message of a batch sends the answers to all of them.
void Server::close(const Item& item) {
    if (!item.batch || --item.batch->left > 0 || item.batch->answers.empty()) return;
    send_(dump(item.batch->answers));
}

std::optional<Json> Server::handle(const Message& message) {
    switch (message.kind) {
        case MessageKind::kNotification:
            return std::nullopt;  // a cancellation has been heard when it came
        case MessageKind::kResponse:
            answered(message);
            return std::nullopt;
        case MessageKind::kRequest:
            break;
    }
    return respond(message);
}

// Of requests that were answered already nothing is left to be cancelled.
void Server::notified(const Message& message) {
    const Json& id = member(message.params, "requestId");
    if (id.is_null()) return;
    if (running_ == id) cancelled_ = true;
    const auto is_it = [&](const Item& item) {
        const auto* request = std::get_if<Message>(&item.parsed);
        return request != nullptr && request->kind == MessageKind::kRequest && request->id == id &&
               request->method != "initialize";
    };
    for (Item& item : queue_) {
        // Its place stays: a batch counts its messages.
        if (is_it(item)) std::get<Message>(item.parsed).kind = MessageKind::kNotification;
    }
    std::erase_if(asked_, [&](const auto& entry) { return entry.second.request == id; });
}

Json Server::complete(const Call& call, Json result) const {
    if (call.modern) {
        if (!result.contains("resultType")) result["resultType"] = "complete";
        result["_meta"][kServerKey] = server_info();
    }
    return result_of(call.message.id, std::move(result));
}

std::optional<Json> Server::respond(const Message& request) {
    const Json& meta = member(request.params, "_meta");
    const std::string version = text_member(meta, kVersionKey);
    Call call{request, !version.empty() || request.method == "server/discover", capabilities_,
              client_};
    if (!version.empty() && version != kModern) {
        return error_of(
            error_for(request, ErrorCode::kVersion, "Unsupported protocol version",
                      Json{{"supported", Json::array({kModern})}, {"requested", version}}));
    }
    if (call.modern) {
        call.capabilities = member(meta, kCapabilitiesKey);
        call.client = member(meta, kClientKey);
    }
    const auto* method =
        std::find_if(std::begin(kMethods), std::end(kMethods),
                     [&](const Method& known) { return request.method == known.name; });
    if (method == std::end(kMethods))
        return error_of(error_for(request, ErrorCode::kNoMethod, "Method not found"));
    if (!call.modern && !initialized_ && !method->before_handshake) {
        return error_of(error_for(request, ErrorCode::kInvalidRequest,
                                  "Not initialized: send initialize first, or name the protocol "
                                  "version in params._meta"));
    }
    Handled handled = (this->*method->handle)(call);
    if (const auto* error = std::get_if<ProtocolError>(&handled)) return error_of(*error);
    Json result = std::get<Json>(std::move(handled));
    if (result.is_null()) return std::nullopt;  // the user was asked; the answer comes later
    return complete(call, std::move(result));
}

Server::Handled Server::handled(const Call& call, Result<Json> result) {
    if (result) return *std::move(result);
    const bool usage = result.error().kind() == ErrorKind::kUsage;
    return error_for(call.message, usage ? ErrorCode::kInvalidParams : ErrorCode::kInternal,
                     result.error().message());
}

Server::Handled Server::initialize(const Call& call) {
    const std::string asked = text_member(call.message.params, "protocolVersion");
    if (asked.empty())
        return error_for(call.message, ErrorCode::kInvalidParams, "protocolVersion is required");
    const bool known = std::find(kLegacy.begin(), kLegacy.end(), asked) != kLegacy.end();
    capabilities_ = member(call.message.params, "capabilities");
    client_ = member(call.message.params, "clientInfo");
    initialized_ = true;
    return Json{{"protocolVersion", known ? asked : kLegacy.front()},
                {"capabilities", capabilities()},
                {"serverInfo", server_info()},
                {"instructions", kInstructions}};
}

Server::Handled Server::discover(const Call& call) {
    Json result{{"supportedVersions", Json::array({kModern})},
                {"capabilities", capabilities()},
                {"serverInfo", server_info()},
                {"instructions", kInstructions}};
    keep(result, call.modern, kHour, "public");
    return result;
}

Server::Handled Server::ping(const Call& /*call*/) {
    return Json::object();
}

bool Server::is_offered(const Tool& tool) const {
    if (tool.opt_in) return session_.reverts.enabled;
    return !tool.edits || session_.editing.settings().enabled;
}

Server::Handled Server::list_tools(const Call& call) {
    Json list = Json::array();
    for (const Tool& tool : tools()) {
        if (is_offered(tool)) list.push_back(describe(tool, session_.editing.settings()));
    }
    if (confirms(call)) list.push_back(confirm_description());
    Json result{{"tools", std::move(list)}};
    // Whether the client can ask the user is a matter of this client.
    keep(result, call.modern, kHour, approval_ == Approval::kElicit ? "private" : "public");
    return result;
}

Server::Handled Server::list_resources(const Call& call) {
    Json result{{"resources", resource_list()}};
    keep(result, call.modern, kHour, "public");
    return result;
}

Server::Handled Server::list_templates(const Call& call) {
    Json result{{"resourceTemplates", Json::array()}};
    keep(result, call.modern, kHour, "public");
    return result;
}

Server::Handled Server::read_resource(const Call& call) {
    const std::string uri = text_member(call.message.params, "uri");
    const auto content = resource_content(uri, session_.enter);
    if (!content && content.error().kind() == ErrorKind::kNotFound) {
        return error_for(call.message,
                         call.modern ? ErrorCode::kInvalidParams : ErrorCode::kNoResource,
                         content.error().message(), Json{{"uri", uri}});
    }
    if (!content) return error_for(call.message, ErrorCode::kInternal, content.error().message());
    Json result{{"contents", Json::array({*content})}};
    keep(result, call.modern, 0, "private");
    return result;
}

Server::Handled Server::list_prompts(const Call& call) {
    Json result{{"prompts", prompt_list()}};
    keep(result, call.modern, kHour, "public");
    return result;
}

Server::Handled Server::get_prompt(const Call& call) {
    auto prompt = prompt_content(text_member(call.message.params, "name"),
                                 member(call.message.params, "arguments"), session_.enter);
    return handled(call, std::move(prompt));
}

Server::Handled Server::complete_argument(const Call& call) {
    return handled(call, completion(call.message.params, session_.enter));
}

}  // namespace unwrite::mcp
