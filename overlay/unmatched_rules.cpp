#include "overlay/unmatched_rules.h"

#include <fcntl.h>

#include <algorithm>

#include "base/lend_mode.h"
#include "overlay/walk.h"

namespace unwrite::overlay {

Result<std::vector<Rule>> unmatched_rules(const std::vector<Rule>& rules, int directory,
                                          std::size_t most) {
    std::vector<Rule> unmatched;
    if (rules.empty()) return unmatched;
    TRY_ASSIGN(const auto policy, Policy::compile(rules));
    TRY_ASSIGN(UniqueFd top, sys::open_unseen(directory, O_RDONLY | O_DIRECTORY));
    std::vector<bool> matched(rules.size());
    std::size_t seen = 0;
    bool too_many = false;
    TRY(walk_below(std::move(top), [&](const std::string& path, const sys::StatX& x) {
        too_many = most != 0 && ++seen > most;
        if (too_many) return false;
        policy->note_matches(path, x.st.st_mode, matched);
        return std::find(matched.begin(), matched.end(), false) != matched.end();
    }));
    for (std::size_t i = 0; i < rules.size(); ++i) {
        if (!too_many && !matched[i]) unmatched.push_back(rules[i]);
    }
    return unmatched;
}

}  // namespace unwrite::overlay
