#include "mcp/revert_tool.h"

#include "edit/revert_drain.h"
#include "edit/settings.h"
#include "edit/text_safety.h"
#include "mcp/arguments.h"
#include "mcp/schema.h"

namespace unwrite::mcp {

namespace {

constexpr const char* kMeta = "unwrite/RevertApplied";
constexpr const char* kArguments =
    "Give category (failure, tangent, completion or step-summary) and step, the node to go back "
    "to, such as \"n12\". log lists the nodes.";
/// Events that nobody asks for are forgotten.
constexpr std::size_t kMostEvents = 64;

Result<ToolAnswer> revert(ToolSession& session, const Json& json) {
    const std::string text = dump(json);
    if (text.size() > edit::Settings{}.max_arguments) return too_large_arguments();
    const auto request = edit::decode_revert(text);
    if (!request) return request.error().with_advice(kArguments);
    TRY_ASSIGN(const auto room, session.enter());
    TRY_ASSIGN(const std::string acknowledgement,
               room->reverts().request_revert(asker_of(session, *room), text, /*for_agent=*/true));
    session.reverts.waiting = true;
    session.reverts.asked = true;
    const char* next = "The answer of your next call says what came of it.";
    return ToolAnswer{
        false, acknowledgement,
        answer_json(false, acknowledgement, next,
                    Json{{"recorded", true},
                         {"category", edit::name_of(request->category)},
                         {"target", request->target},
                         {"summary", request->summary ? Json(*request->summary) : Json()}}),
        std::string("next: ") + next};
}

// The event for the structured part of an answer.
Json told_of(const Json& event) {
    const Json& target = member(event, "target");
    Json told{{"category", text_member(event, "category")},
              {"applied", member(event, "applied") == Json(true)}};
    told["target"] = target.is_number_unsigned()
                         ? Json("n" + std::to_string(target.get<std::uint64_t>()))
                         : Json();
    for (const char* name : {"summary", "reason"}) {
        const Json& value = member(event, name);
        told[name] = value.is_string() ? Json(edit::displayed(value.get<std::string>())) : Json();
    }
    return told;
}

std::string words_of(const Json& json) {
    const Json& applied = member(json, "applied");
    if (applied.is_boolean() && applied.get<bool>()) {
        const Json& target = member(json, "target");
        return "revert_to_state (" + text_member(json, "category") + "): done, to n" +
               (target.is_number_unsigned() ? std::to_string(target.get<std::uint64_t>()) : "?");
    }
    return "revert_to_state (" + text_member(json, "category") +
           "): not done: " + edit::displayed(text_member(json, "reason"));
}

Result<> apply(ToolSession& session) {
    TRY_ASSIGN(const auto room, session.enter());
    if (!room->writers().empty()) return {};
    TRY_ASSIGN(const std::vector<std::string> events, room->reverts().apply_reverts(room->asker()));
    for (const std::string& event : events) {
        if (session.reverts.events.size() < kMostEvents) session.reverts.events.push_back(event);
    }
    session.reverts.waiting = false;
    session.reverts.asked = false;
    return {};
}

}  // namespace

ToolAnswer call_revert(ToolSession& session, const Json& arguments) {
    auto answer = revert(session, arguments);
    return answer ? *std::move(answer) : failed(answer.error());
}

bool settle_reverts(ToolSession& session) {
    if (!session.reverts.enabled || !session.reverts.waiting) return false;
    // The call that comes next finds out itself what is wrong with the workspace.
    ignore(apply(session), "what waits is durable");
    return session.reverts.asked;
}

void tell_reverts(ToolSession& session, Json& result) {
    for (const std::string& event : session.reverts.events) {
        const Json json = Json::parse(event, nullptr, /*allow_exceptions=*/false);
        result["content"].push_back(Json{{"type", "text"}, {"text", words_of(json)}});
        result["structuredContent"]["reverts"].push_back(told_of(json));
        result["_meta"][kMeta].push_back(json);
    }
    session.reverts.events.clear();
}

Json revert_description(const edit::Settings& /*settings*/) {
    return described(
        "Goes back to a node with a note, or turns the steps since it into one. It happens after "
        "this call, and the next answer says what came of it. failure (a dead end) and tangent (a "
        "finished exploration) return the files to the node; completion (a sub-task is done) and "
        "step-summary (a mark on a long way) keep them. log shows the summary with the node. "
        "Refused if the user changed something since the node.",
        Json::parse(edit::revert_schema(), nullptr, /*allow_exceptions=*/false),
        answer_schema({{"recorded", typed("boolean", "true")},
                       {"category", typed("string", "As given.")},
                       {"target", typed("integer", "The node's number.")},
                       {"summary", or_null("string", "As given.")}}));
}

}  // namespace unwrite::mcp
