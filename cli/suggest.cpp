#include "cli/suggest.h"

#include <algorithm>
#include <array>

namespace unwrite::cli {

namespace {

struct Meaning {
    std::string_view word;
    std::array<const char*, 2> commands;  ///< the second may be null
};

/// What people type who know git, editors, package managers or service managers.
constexpr std::array kMeanings = {
    Meaning{"revert", {"undo", "rollback"}},
    Meaning{"back", {"undo", "rollback"}},
    Meaning{"reset", {"rollback", "discard"}},
    Meaning{"abort", {"discard", "undo"}},
    Meaning{"checkout", {"restore", "rollback"}},
    Meaning{"switch", {"rollback", nullptr}},
    Meaning{"goto", {"rollback", nullptr}},
    Meaning{"stash", {"checkpoint", "discard"}},
    Meaning{"save", {"checkpoint", "commit"}},
    Meaning{"snapshot", {"checkpoint", nullptr}},
    Meaning{"savepoint", {"checkpoint", nullptr}},
    Meaning{"tag", {"checkpoint", nullptr}},
    Meaning{"history", {"log", nullptr}},
    Meaning{"reflog", {"log", nullptr}},
    Meaning{"ls", {"status", "log"}},
    Meaning{"list", {"log", "status"}},
    Meaning{"st", {"status", nullptr}},
    Meaning{"show", {"diff", "log"}},
    Meaning{"changes", {"status", "diff"}},
    Meaning{"start", {"mount", "run"}},
    Meaning{"begin", {"mount", "run"}},
    Meaning{"init", {"mount", nullptr}},
    Meaning{"watch", {"mount", "approvals"}},
    Meaning{"exec", {"run", nullptr}},
    Meaning{"sandbox", {"run", nullptr}},
    Meaning{"stop", {"unmount", nullptr}},
    Meaning{"end", {"unmount", "commit"}},
    Meaning{"quit", {"unmount", nullptr}},
    Meaning{"eject", {"unmount", nullptr}},
    Meaning{"accept", {"commit", "approve"}},
    Meaning{"keep", {"commit", "checkpoint"}},
    Meaning{"add", {"commit", "review"}},
    Meaning{"reject", {"review", "deny"}},
    Meaning{"allow", {"approve", "policy"}},
    Meaning{"clean", {"gc", "discard"}},
    Meaning{"prune", {"gc", nullptr}},
    Meaning{"fsck", {"check", nullptr}},
    Meaning{"verify", {"check", nullptr}},
    Meaning{"repair", {"check", "recover"}},
    Meaning{"settings", {"config", nullptr}},
    Meaning{"rules", {"policy", nullptr}},
    Meaning{"patch", {"apply", nullptr}},
    Meaning{"cat", {"read", nullptr}},
    Meaning{"blame", {"log", nullptr}},
    Meaning{"setup", {"integrate", "doctor"}},
    Meaning{"install", {"integrate", nullptr}},
};

}  // namespace

std::vector<std::string> same_meaning(std::string_view word) {
    const auto* const found =
        std::find_if(kMeanings.begin(), kMeanings.end(),
                     [&](const Meaning& meaning) { return meaning.word == word; });
    std::vector<std::string> commands;
    if (found == kMeanings.end()) return commands;
    for (const char* command : found->commands) {
        if (command != nullptr) commands.emplace_back(command);
    }
    return commands;
}

}  // namespace unwrite::cli
