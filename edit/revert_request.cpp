#include "edit/revert_request.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <nlohmann/json.hpp>

#include "edit/text_safety.h"

namespace unwrite::edit {

namespace {

struct CategoryFacts {
    RevertCategory category;
    std::string_view name;
    std::string_view label;  // in the acknowledgement
    TagKind tag;
    bool restores_files;
};

constexpr std::array<CategoryFacts, 4> kCategories = {
    {{RevertCategory::kFailure, "failure", "Failure", TagKind::kLesson, true},
     {RevertCategory::kTangent, "tangent", "Tangent", TagKind::kFinding, true},
     {RevertCategory::kCompletion, "completion", "Completion", TagKind::kOutcome, false},
     {RevertCategory::kStepSummary, "step-summary", "StepSummary", TagKind::kCheckpoint, false}}};

const CategoryFacts& facts(RevertCategory category) {
    return kCategories[static_cast<std::size_t>(category)];
}

Error invalid(const std::string& reason) {
    return {ErrorKind::kUsage, EINVAL, "Invalid arguments: " + reason};
}

using Json = nlohmann::json;

const std::string* text_field(const Json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || !found->is_string()) return nullptr;
    return &found->get_ref<const std::string&>();
}

}  // namespace

std::string_view name_of(RevertCategory category) {
    return facts(category).name;
}

std::optional<RevertCategory> category_from(std::string_view name) {
    for (const CategoryFacts& one : kCategories) {
        if (one.name == name) return one.category;
    }
    return std::nullopt;
}

std::string_view name_of(TagKind kind) {
    static constexpr std::array<std::string_view, 4> kNames = {"lesson", "finding", "outcome",
                                                               "checkpoint"};
    return kNames[static_cast<std::size_t>(kind)];
}

TagKind tag_kind_of(RevertCategory category) {
    return facts(category).tag;
}

bool is_pinned(TagKind kind) {
    return kind == TagKind::kOutcome || kind == TagKind::kCheckpoint;
}

bool restores_files(RevertCategory category) {
    return facts(category).restores_files;
}

std::optional<NodeId> node_from(std::string_view text) {
    if (text.starts_with('n')) text.remove_prefix(1);
    NodeId id = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (text.empty() || code != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return id;
}

std::string node_text(NodeId id) {
    return "n" + std::to_string(id);
}

Result<RevertRequest> decode_revert(std::string_view arguments) {
    const Json object = Json::parse(arguments, nullptr, /*allow_exceptions=*/false);
    if (!object.is_object()) return invalid("the arguments are not a JSON object");
    const std::string* category = text_field(object, "category");
    if (category == nullptr) return invalid("category is required");
    const auto known = category_from(*category);
    if (!known) {
        return invalid(
            "category must be one of failure | tangent | completion | step-summary; got " +
            quoted_text(*category));
    }
    const std::string* step = text_field(object, "step");
    if (step == nullptr) return invalid("step is required");
    const auto target = node_from(*step);
    if (!target) {
        return invalid("step must be a node identifier like \"n12\" or \"12\"; got " +
                       quoted_text(*step));
    }
    RevertRequest request{*known, *target, {}};
    if (const std::string* summary = text_field(object, "summary")) request.summary = *summary;
    return request;
}

std::string revert_acknowledgement(const RevertRequest& request) {
    std::string text = "Revert request recorded: category=";
    text += facts(request.category).label;
    text += ", target=" + node_text(request.target);
    if (request.summary) text += ", summary=" + quoted_text(*request.summary);
    return text + ". The trunk will be rebuilt from this node before the next turn.";
}

std::string revert_schema() {
    using Ordered = nlohmann::ordered_json;
    Ordered categories = Ordered::array();
    for (const CategoryFacts& one : kCategories)
        categories.push_back(one.name);
    const Ordered schema = {
        {"type", "object"},
        {"properties",
         {{"category",
           {{"type", "string"},
            {"enum", categories},
            {"description",
             "failure: a dead end to learn from; tangent: an exploration that is finished; "
             "completion: a sub-task that is done; step-summary: a mark on a long way. The first "
             "two restore the files of the node, the others keep them."}}},
          {"step",
           {{"type", "string"}, {"description", "The node to go back to: \"n10\" or \"10\"."}}},
          {"summary",
           {{"type", "string"}, {"description", "One line to remember, attached to the node."}}}}},
        {"required", Ordered::array({"category", "step"})}};
    return schema.dump();
}

}  // namespace unwrite::edit
