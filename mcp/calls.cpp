// Calls of tools, and the question to the user before them.
#include <random>

#include "edit/digest.h"
#include "mcp/revert_tool.h"
#include "mcp/server.h"

namespace unwrite::mcp {

namespace {

constexpr const char* kQuestion = "approve";
constexpr std::size_t kMostQuestions = 64;

Json tool_result(const ToolAnswer& answer) {
    Json result{{"content", Json::array({Json{{"type", "text"}, {"text", answer.text}}})}};
    if (!answer.structured.is_null()) result["structuredContent"] = answer.structured;
    result["isError"] = answer.failed;
    return result;
}

Json refused(const Tool& tool, const std::string& why) {
    return tool_result({true, "Tool '" + std::string(tool.name) + "' was not run: " + why, {}});
}

Json question(const Tool& tool, const Json& arguments) {
    return Json{{"mode", "form"},
                {"message", approval_question(tool, arguments)},
                {"requestedSchema", Json{{"type", "object"}, {"properties", Json::object()}}}};
}

bool can_be_asked(const Json& capabilities) {
    return member(capabilities, "elicitation").is_object();
}

}  // namespace

Server::Handled Server::call_tool(const Call& call) {
    const Json& params = call.message.params;
    const std::string name = text_member(params, "name");
    const Tool* tool = find_tool(name);
    if (tool == nullptr || (tool->opt_in && !session_.reverts.enabled)) {
        return ProtocolError{ErrorCode::kInvalidParams, "Unknown tool: " + name.substr(0, 100),
                             nullptr, call.message.id};
    }
    static const Json none = Json::object();
    const Json& given = member(params, "arguments");
    const Json& arguments = given.is_null() ? none : given;
    if (!arguments.is_object()) {
        return ProtocolError{ErrorCode::kInvalidParams, "arguments must be an object", nullptr,
                             call.message.id};
    }
    if (!tool->read_only) {
        if (auto instead = approve(call, *tool, arguments)) return *std::move(instead);
    }
    return run_tool(*tool, arguments);
}

// Requests that came together wait together: they are carried out before any other call.
Json Server::run_tool(const Tool& tool, const Json& arguments) {
    if (!tool.opt_in) settle_reverts(session_);
    Json result = tool_result(tool.call(session_, arguments));
    tell_reverts(session_, result);
    return result;
}

std::optional<Server::Handled> Server::approve(const Call& call, const Tool& tool,
                                               const Json& arguments) {
    if (approval_ == Approval::kClient) return std::nullopt;
    if (approval_ == Approval::kDeny)
        return refused(tool, "this server was started with --approval deny");
    if (can_be_asked(call.capabilities))
        return call.modern ? ask_modern(call, tool, arguments) : ask_legacy(call, tool, arguments);
    if (call.modern) {
        return ProtocolError{
            ErrorCode::kMissingCapability, "The user is to be asked, and this client cannot do so",
            Json{{"requiredCapabilities", Json{{"elicitation", Json::object()}}}}, call.message.id};
    }
    return refused(tool,
                   "the user is to be asked, and this client cannot do so; start the server with "
                   "--approval client to leave the question to the host");
}

// What the user approves is this call of this tool, once.
std::string Server::new_state(const Tool& tool, const Json& arguments) {
    std::random_device random;
    std::string text = std::string(tool.name) + '\0' + dump(arguments);
    const std::string digest = to_text(edit::digest_of(text));
    std::string nonce;
    for (int i = 0; i < 4; ++i)
        nonce += std::to_string(random()) + "-";
    return nonce + digest;
}

std::optional<Server::Handled> Server::ask_modern(const Call& call, const Tool& tool,
                                                  const Json& arguments) {
    const Json& params = call.message.params;
    const std::string state = text_member(params, "requestState");
    const std::string text = std::string(tool.name) + '\0' + dump(arguments);
    if (!state.empty()) {
        const bool ours =
            states_.erase(state) > 0 && state.ends_with("-" + to_text(edit::digest_of(text)));
        if (!ours) {
            return ProtocolError{ErrorCode::kInvalidParams,
                                 "requestState is not that of a question about this call", nullptr,
                                 call.message.id};
        }
        const Json& response = member(member(params, "inputResponses"), kQuestion);
        if (text_member(response, "action") == "accept") return std::nullopt;
        return refused(tool, "the user did not agree");
    }
    if (states_.size() >= kMostQuestions) states_.clear();
    const std::string fresh = *states_.insert(new_state(tool, arguments)).first;
    return Json{{"resultType", "input_required"},
                {"inputRequests", Json{{kQuestion, Json{{"method", "elicitation/create"},
                                                        {"params", question(tool, arguments)}}}}},
                {"requestState", fresh}};
}

Server::Handled Server::ask_legacy(const Call& call, const Tool& tool, const Json& arguments) {
    if (asked_.size() >= kMostQuestions) return refused(tool, "too many questions are open");
    const std::string id = "unwrite-" + std::to_string(next_question_++);
    asked_[id] = {call.message.id, &tool, arguments};
    send_(dump(Json{{"jsonrpc", "2.0"},
                    {"id", id},
                    {"method", "elicitation/create"},
                    {"params", question(tool, arguments)}}));
    return Json();
}

void Server::answered(const Message& response) {
    if (!response.id.is_string()) return;
    const auto found = asked_.find(response.id.get<std::string>());
    if (found == asked_.end()) return;
    const Asked asked = std::move(found->second);
    asked_.erase(found);
    const Json result = text_member(response.result, "action") == "accept"
                            ? run_tool(*asked.tool, asked.arguments)
                            : refused(*asked.tool, "the user did not agree");
    send_(dump(result_of(asked.id, result)));
}

}  // namespace unwrite::mcp
