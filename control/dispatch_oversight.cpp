// The commands that oversight.h has. Agents may only see the rules.
#include <algorithm>
#include <cerrno>

#include "control/dispatch.h"

namespace unwrite::control {

namespace {

Error nobody_oversees() {
    return Error(ErrorKind::kUsage, ENOSYS, "read request: nothing is overseen here");
}

}  // namespace

Result<Json> Dispatch::audit(Call& call) {
    if (service_.oversight == nullptr) return nobody_oversees();
    std::uint64_t most = kMostAuditEntries;
    TRY(Fields(call.arguments).get("most", most).done());
    TRY_ASSIGN(const overlay::AuditTrail trail,
               service_.oversight->audit(std::min(most, kMostAuditEntries)));
    return encode(trail);
}

Result<Json> Dispatch::policy(Call& /*call*/) {
    if (service_.oversight == nullptr) return nobody_oversees();
    TRY_ASSIGN(const std::vector<overlay::RuleShown> rules, service_.oversight->rules());
    return Json{{"rules", encode_list(rules)}};
}

Result<Json> Dispatch::explain(Call& call) {
    if (service_.oversight == nullptr) return nobody_oversees();
    std::string path;
    TRY(Fields(call.arguments).get("path", path).done());
    TRY_ASSIGN(const overlay::Explained explained, service_.oversight->explain(path));
    return encode(explained);
}

Result<Json> Dispatch::allow(Call& call) {
    if (service_.oversight == nullptr) return nobody_oversees();
    std::string path;
    bool agents = false;
    std::uint64_t seconds = 0;
    TRY(Fields(call.arguments)
            .get("path", path)
            .get("agents", agents)
            .get("seconds", seconds)
            .done());
    TRY(service_.oversight->allow(call.asker, path, agents, seconds));
    return Json::object();
}

Result<Json> Dispatch::reload(Call& call) {
    if (!service_.reload) return nobody_oversees();
    bool check = false;
    TRY(Fields(call.arguments).get("check", check).done());
    TRY(service_.reload(call.asker, check));
    return Json::object();
}

}  // namespace unwrite::control
