#include "cli/config_service.h"

#include <mutex>

#include "base/log.h"
#include "cli/config_store.h"

namespace unwrite::cli {

namespace {

using Unmatched = Result<std::vector<overlay::RuleShown>>;

Unmatched reload(int raw, overlay::Session& session, const overlay::Asker& asker, bool only_check) {
    TRY_ASSIGN(const Config config, load_config(raw));
    TRY_ASSIGN(auto rules, config.policy());
    if (!only_check) TRY(session.replace_policy(asker, std::move(rules)));
    return config.unmatched_rules(raw);
}

/// The rules first, because they are written down in the audit log before they hold; where the
/// file cannot be written, those of the file hold again.
Unmatched set_config(int raw, overlay::Session& session, const overlay::Asker& asker,
                     const std::string& before, const std::string& text) {
    bool replaced = false;
    const Result<> written =
        replace_workspace_config(raw, before, text, [&](const Config& config) -> Result<> {
            TRY_ASSIGN(auto rules, config.policy());
            TRY(session.replace_policy(asker, std::move(rules)));
            replaced = true;
            return {};
        });
    if (!written && replaced) {
        const Unmatched back = reload(raw, session, asker, false);
        if (!back) log::error("put the old rules in force: " + back.error().message());
    }
    TRY(written);
    TRY_ASSIGN(const Config config, load_config(raw));
    return config.unmatched_rules(raw);
}

}  // namespace

void serve_config(control::Service& service, const std::shared_ptr<UniqueFd>& raw,
                  overlay::Session& session) {
    const auto one_at_a_time = std::make_shared<std::mutex>();
    service.reload = [raw, &session, one_at_a_time](const overlay::Asker& asker, bool only_check) {
        const std::lock_guard lock(*one_at_a_time);
        return reload(raw->get(), session, asker, only_check);
    };
    service.config_text = [raw] { return read_workspace_config(raw->get()); };
    service.set_config = [raw, &session, one_at_a_time](const overlay::Asker& asker,
                                                        const std::string& before,
                                                        const std::string& text) {
        const std::lock_guard lock(*one_at_a_time);
        return set_config(raw->get(), session, asker, before, text);
    };
}

}  // namespace unwrite::cli
