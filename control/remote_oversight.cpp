#include "control/remote.h"

namespace unwrite::control {

Result<overlay::AuditTrail> Remote::audit(std::uint64_t most) {
    TRY_ASSIGN(const Json json, ask("audit", Json{{"most", most}}));
    overlay::AuditTrail trail;
    TRY(decode(json, trail));
    return trail;
}

// The daemon notes what it refuses by itself.
void Remote::note_refusal(const overlay::Asker& /*asker*/, const std::string& /*command*/) {}

Result<std::vector<overlay::RuleShown>> Remote::rules() {
    TRY_ASSIGN(const Json json, ask("policy", Json::object()));
    std::vector<overlay::RuleShown> rules;
    TRY(Fields(json).get_list("rules", rules).done());
    return rules;
}

Result<overlay::Explained> Remote::explain(const std::string& path) {
    TRY_ASSIGN(const Json json, ask("explain", Json{{"path", encode_bytes(path)}}));
    overlay::Explained explained;
    TRY(decode(json, explained));
    return explained;
}

Result<overlay::MayEdit> Remote::may_edit(const overlay::Asker& /*asker*/,
                                          const overlay::EditAttempt& attempt) {
    Json request{{"path", encode_bytes(attempt.path)},
                 {"write", attempt.write},
                 {"ask", attempt.ask},
                 {"as_session", encode_bytes(attempt.session)},
                 {"goes", attempt.goes},
                 {"directory", attempt.directory}};
    if (attempt.bytes) request["bytes"] = encode_bytes(*attempt.bytes);
    TRY_ASSIGN(const Json json, ask("may_edit", request));
    overlay::MayEdit may;
    TRY(decode(json, may));
    return may;
}

// The daemon sees by itself who asks.
Result<> Remote::allow(const overlay::Asker& /*asker*/, const std::string& path, bool agents,
                       std::uint64_t seconds) {
    TRY(ask("allow", Json{{"path", encode_bytes(path)}, {"agents", agents}, {"seconds", seconds}}));
    return {};
}

Result<overlay::Questioned> Remote::questions(const overlay::Watcher& watcher) {
    TRY_ASSIGN(const Json json, ask("questions", Json{{"seen", watcher.seen},
                                                      {"wait_ms", watcher.wait_ms},
                                                      {"of_session", encode_bytes(watcher.session)},
                                                      {"watcher", watcher.id},
                                                      {"present", watcher.present}}));
    overlay::Questioned questioned;
    TRY(decode(json, questioned));
    return questioned;
}

Result<overlay::Question> Remote::answer(const overlay::Asker& /*asker*/,
                                         overlay::QuestionNumber number, bool approve,
                                         bool whole_rule) {
    TRY_ASSIGN(
        const Json json,
        ask("answer", Json{{"number", number}, {"approve", approve}, {"whole_rule", whole_rule}}));
    overlay::Question question;
    TRY(decode(json, question));
    return question;
}

Result<> Remote::pass_over(overlay::QuestionNumber number, std::uint64_t watcher) {
    TRY(ask("pass_over", Json{{"number", number}, {"watcher", watcher}}));
    return {};
}

Result<std::vector<overlay::RuleShown>> Remote::reload_policy(bool only_check) {
    TRY_ASSIGN(const Json json, ask("reload", Json{{"check", only_check}}));
    std::vector<overlay::RuleShown> unmatched;
    TRY(Fields(json).get_list("unmatched", unmatched).done());
    return unmatched;
}

Result<std::string> Remote::config_text() {
    TRY_ASSIGN(const Json json, ask("config", Json::object()));
    std::string text;
    TRY(Fields(json).get("text", text).done());
    return text;
}

Result<std::vector<overlay::RuleShown>> Remote::set_config(const std::string& before,
                                                           const std::string& text) {
    TRY_ASSIGN(const Json json, ask("set_config", Json{{"before", encode_bytes(before)},
                                                       {"text", encode_bytes(text)}}));
    std::vector<overlay::RuleShown> unmatched;
    TRY(Fields(json).get_list("unmatched", unmatched).done());
    return unmatched;
}

}  // namespace unwrite::control
