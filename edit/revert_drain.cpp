#include "edit/revert_drain.h"

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

namespace unwrite::edit {

namespace {

using Log = std::vector<TreeNode>;

Error refused(const std::string& reason) {
    return {ErrorKind::kRefused, EACCES, "revert refused: " + reason};
}

Log::const_iterator find_node(const Log& log, NodeId id) {
    return std::find_if(log.begin(), log.end(),
                        [id](const TreeNode& node) { return node.id == id; });
}

// What stands after the target is abandoned, so none of it may be a user's.
Result<> check_span(Log::const_iterator first, Log::const_iterator end, bool restores_files) {
    for (auto node = first; node != end; ++node) {
        if (node->maker == NodeMaker::kUserMessage)
            return refused(
                "abandoned span contains a user message; auto-rebase is not implemented in 0.8.0");
        if (node->maker == NodeMaker::kUserChange)
            return refused("abandoned span contains a change by the user (" + node_text(node->id) +
                           ")");
    }
    if (!restores_files) return {};
    for (auto node = first; node != end; ++node) {
        if (node->obstacle) return refused(node_text(node->id) + ": " + *node->obstacle);
    }
    return {};
}

RevertEvent finish(const RevertRequest& request, RevertTree& tree, std::int64_t now_ms) {
    RevertEvent event;
    event.category = request.category;
    event.summary = request.summary;
    event.time_ms = now_ms;
    const auto revert = judge(request, tree);
    if (!revert) {
        event.reason = revert.error().message();
        return event;
    }
    if (const auto applied = tree.apply(*revert); !applied) {
        event.reason = applied.error().message();
        return event;
    }
    event.applied = true;
    event.target = revert->target;
    event.abandoned = revert->abandoned;
    return event;
}

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json();
}

Json record_of(const RevertEvent& event) {
    Json json;
    json["category"] = name_of(event.category);
    json["target"] = or_null(event.target);
    json["abandoned_node_ids"] = event.abandoned;
    json["summary"] = or_null(event.summary);
    return json;
}

std::string text_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Result<Revert> judge(const RevertRequest& request, RevertTree& tree) {
    const Log log = tree.log();
    const auto target = find_node(log, request.target);
    if (target == log.end()) {
        return Error(
            ErrorKind::kNotFound, ENOENT,
            "revert target " + node_text(request.target) + " not found in message history");
    }
    Revert revert{request.category, request.target, {}, restores_files(request.category), {}};
    TRY(check_span(std::next(target), log.end(), revert.restores_files));
    if (const auto committed = tree.committed()) {
        const auto commit = find_node(log, *committed);
        if (commit != log.end() && target < commit)
            return refused(node_text(request.target) + " is older than the last commit");
    }
    for (auto node = std::next(target); node != log.end(); ++node)
        revert.abandoned.push_back(node->id);
    revert.tag = {tag_kind_of(request.category), request.summary.value_or(""), tree.turn(),
                  revert.abandoned};
    return revert;
}

std::vector<RevertEvent> drain(const std::vector<RevertRequest>& requests, RevertTree& tree,
                               std::int64_t now_ms) {
    std::vector<RevertEvent> events;
    for (const RevertRequest& request : requests)
        events.push_back(finish(request, tree, now_ms));
    return events;
}

std::string encode_event(const RevertEvent& event) {
    Json json = record_of(event);
    json["applied"] = event.applied;
    json["reason"] = or_null(event.reason);
    json["timestamp"] = event.time_ms;
    return text_of(json);
}

std::string encode_record(const RevertEvent& event) {
    return text_of(record_of(event));
}

}  // namespace unwrite::edit
