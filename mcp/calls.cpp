// Calls of tools, and the question to the user before them.
#include <cerrno>
#include <random>

#include "edit/text_safety.h"
#include "mcp/arguments.h"
#include "mcp/revert_tool.h"
#include "mcp/schema.h"
#include "mcp/server.h"

namespace unwrite::mcp {

namespace {

constexpr const char* kQuestion = "approve";
constexpr const char* kConfirm = "confirm";
constexpr const char* kToken = "token";
constexpr std::size_t kMostQuestions = 64;

Json text_block(const std::string& text) {
    return Json{{"type", "text"}, {"text", text}};
}

Json tool_result(const ToolAnswer& answer) {
    Json result{{"content", Json::array({text_block(answer.text)})}};
    if (!answer.facts.empty()) result["content"].push_back(text_block(answer.facts));
    result["structuredContent"] = answer.structured;
    result["isError"] = answer.failed;
    return result;
}

// A call that was not carried out, in the shape that its tool answers with.
Json not_run(const ToolCall& work, const std::string& why, const std::string& next,
             const Json& members = Json::object()) {
    ToolAnswer answer =
        refuse(*work.tool, work.arguments, Error(ErrorKind::kRefused, EPERM, why, next));
    answer.structured.update(members);
    return tool_result(answer);
}

Json refused(const ToolCall& work, const std::string& why) {
    return not_run(work, "Tool '" + std::string(work.tool->name) + "' was not run: " + why,
                   "Ask the user what to do instead.");
}

Json question(const std::string& shown) {
    return Json{{"mode", "form"},
                {"message", shown},
                {"requestedSchema", Json{{"type", "object"}, {"properties", Json::object()}}}};
}

std::string new_token() {
    std::random_device random;
    std::string token;
    for (int i = 0; i < 4; ++i)
        token += (i == 0 ? "" : "-") + std::to_string(random());
    return token;
}

Json progress_token_of(const Json& meta) {
    const Json& token = member(meta, "progressToken");
    return token.is_string() || token.is_number() ? token : Json();
}

bool can_be_asked(const Json& capabilities) {
    return member(capabilities, "elicitation").is_object();
}

}  // namespace

Server::Handled Server::call_tool(const Call& call) {
    const Json& params = call.message.params;
    const std::string name = text_member(params, "name");
    if (name == kConfirm && confirms(call)) return confirm(call);
    const Tool* tool = find_tool(name);
    if (tool == nullptr || !is_offered(*tool)) {
        return ProtocolError{ErrorCode::kInvalidParams,
                             "Unknown tool: " + edit::displayed(name.substr(0, 100)), nullptr,
                             call.message.id};
    }
    static const Json none = Json::object();
    const Json& given = member(params, "arguments");
    const Json& arguments = given.is_null() ? none : given;
    if (!arguments.is_object()) {
        return ProtocolError{ErrorCode::kInvalidParams, "arguments must be an object", nullptr,
                             call.message.id};
    }
    const Json& meta = member(params, "_meta");
    const ToolCall work{tool, arguments, cause_of(meta, call.client), progress_token_of(meta), {}};
    if (changes_files(*tool, arguments)) {
        if (auto instead = approve(call, work)) return *std::move(instead);
    }
    return run_tool(work);
}

// Requests that came together wait together: they are carried out before any other call.
Json Server::run_tool(const ToolCall& work) {
    const Progress progress(work, send_, progress_every_);
    if (!work.tool->opt_in) settle_reverts(session_);
    session_.cause = work.cause;
    Json result = tool_result(work.tool->call(session_, work.arguments));
    tell_reverts(session_, result);
    return result;
}

std::optional<Server::Handled> Server::approve(const Call& call, const ToolCall& work) {
    if (approval_ == Approval::kClient) return std::nullopt;
    // The sentence for an empty Undo is the same, whoever would have to agree.
    const bool is_undo = std::string_view(work.tool->name) == "Undo";
    if (is_undo && !session_.editing.has_edit()) return std::nullopt;
    if (approval_ == Approval::kDeny)
        return not_run(work,
                       "Tool '" + std::string(work.tool->name) +
                           "' is denylisted\nThis server was started with --approval deny.",
                       "Tell the user that this server may not change files.");
    if (confirms(call)) return hold_back(work);
    return call.modern ? ask_modern(call, work) : ask_legacy(call.message.id, work);
}

// A client that cannot ask the user gets the call in two parts, of which its own prompt, which
// knows the tools' annotations, sees the second.
bool Server::confirms(const Call& call) const {
    return approval_ == Approval::kElicit && !can_be_asked(call.capabilities);
}

std::string Server::keep_waiting(ToolCall work) {
    if (waiting_.size() >= kMostQuestions) waiting_.clear();
    return waiting_.emplace(new_token(), std::move(work)).first->first;
}

std::optional<ToolCall> Server::take_waiting(const std::string& token) {
    auto found = waiting_.extract(token);
    if (found.empty()) return std::nullopt;
    return std::move(found.mapped());
}

bool Server::does_as_shown(const ToolCall& work) {
    const Foreseen now = foresee(*work.tool, session_, work.arguments);
    return !now.refusal && now.all == work.shown;
}

Json Server::hold_back(ToolCall work) {
    const Foreseen foreseen = foresee(*work.tool, session_, work.arguments);
    if (foreseen.refusal) return tool_result(*foreseen.refusal);
    if (!foreseen.changes) return run_tool(work);
    work.shown = foreseen.all;
    const std::string token = keep_waiting(work);
    return not_run(work,
                   foreseen.text +
                       "\nNothing was done yet. Show this to the user; once they agree, call the "
                       "tool confirm with this token, which is for this call alone: " +
                       token,
                   "Show this to the user. When they agree, call confirm with the token.",
                   Json{{"status", "needs_confirmation"}, {"token", token}});
}

Json Server::confirm(const Call& call) {
    const Json& given = member(call.message.params, "arguments");
    const Json arguments = given.is_null() ? Json::object() : given;
    const auto checked = Arguments::check(arguments, {kToken});
    if (!checked) return tool_result(failed(checked.error()));
    const auto token = checked->required_text(kToken);
    if (!token) return tool_result(failed(token.error()));
    auto work = take_waiting(*token);
    if (!work) {
        return tool_result(failed(
            Error(ErrorKind::kNotFound, ENOENT,
                  "Nothing was done: the token is not that of a call that waits. Each is for one "
                  "call, once; make the call again.",
                  "Make the call again; its answer has a new token.")));
    }
    // What would come of it by now is not what the user has seen.
    if (!does_as_shown(*work)) return hold_back(*std::move(work));
    work->progress_token = progress_token_of(member(call.message.params, "_meta"));
    return run_tool(*work);
}

Json confirm_description() {
    Json tool = described(
        "Carries out a call that waits for the user's approval, once. Call it only after the user "
        "saw what the call does, and agreed.",
        object_schema({{kToken, typed("string", "The token of that call's answer.")}}, {kToken}),
        answer_schema(Json::object()));
    // Its answer is that of the call that waited.
    tool.erase("outputSchema");
    Json json{{"name", kConfirm}, {"title", "Confirm a call"}};
    json.update(tool);
    json["annotations"] = Json{{"title", "Confirm a call"},
                               {"readOnlyHint", false},
                               {"destructiveHint", true},
                               {"idempotentHint", false},
                               {"openWorldHint", false}};
    return json;
}

std::optional<Server::Handled> Server::ask_modern(const Call& call, ToolCall work) {
    const Json& params = call.message.params;
    const std::string state = text_member(params, "requestState");
    if (!state.empty()) {
        const auto asked = take_waiting(state);
        if (!asked || asked->tool != work.tool || asked->arguments != work.arguments) {
            return ProtocolError{ErrorCode::kInvalidParams,
                                 "requestState is not that of a question about this call", nullptr,
                                 call.message.id};
        }
        const Json& response = member(member(params, "inputResponses"), kQuestion);
        if (text_member(response, "action") != "accept")
            return refused(work, "the user did not agree");
        if (does_as_shown(*asked)) return std::nullopt;
    }
    const Foreseen foreseen = foresee(*work.tool, session_, work.arguments);
    if (foreseen.refusal) return tool_result(*foreseen.refusal);
    if (!foreseen.changes) return std::nullopt;
    work.shown = foreseen.all;
    const std::string fresh = keep_waiting(std::move(work));
    return Json{{"resultType", "input_required"},
                {"inputRequests", Json{{kQuestion, Json{{"method", "elicitation/create"},
                                                        {"params", question(foreseen.text)}}}}},
                {"requestState", fresh}};
}

Server::Handled Server::ask_legacy(const Json& request, ToolCall work) {
    if (asked_.size() >= kMostQuestions) return refused(work, "too many questions are open");
    const Foreseen foreseen = foresee(*work.tool, session_, work.arguments);
    if (foreseen.refusal) return tool_result(*foreseen.refusal);
    if (!foreseen.changes) return run_tool(work);
    work.shown = foreseen.all;
    const std::string id = "unwrite-" + std::to_string(next_question_++);
    asked_[id] = {request, std::move(work)};
    send_(dump(Json{{"jsonrpc", "2.0"},
                    {"id", id},
                    {"method", "elicitation/create"},
                    {"params", question(foreseen.text)}}));
    return Json();
}

void Server::answered(const Message& response) {
    if (!response.id.is_string()) return;
    auto found = asked_.extract(response.id.get<std::string>());
    if (found.empty()) return;
    const auto& [request, work] = found.mapped();
    Handled result;
    if (text_member(response.result, "action") != "accept") {
        result = refused(work, "the user did not agree");
    } else if (does_as_shown(work)) {
        result = run_tool(work);
    } else {
        result = ask_legacy(request, work);
    }
    const Json& json = std::get<Json>(result);
    if (!json.is_null()) send_(dump(result_of(request, json)));
}

}  // namespace unwrite::mcp
