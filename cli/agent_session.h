// A session of an agent that unwrite was integrated with: what the agent's hooks do at its start,
// before each prompt, after each answer and at its end. None of them may keep the agent from its
// work: what does not succeed is left out, or said.
#pragma once

#include <string>

#include "cli/context.h"

namespace unwrite::cli {

enum class HookEvent { kStart, kPrompt, kStop, kEnd };

struct Hooked {
    std::string agent;  ///< the name in the table of known agents: "claude"
    HookEvent event = HookEvent::kPrompt;
    std::string id;      ///< the agent's own name for its session; may be empty
    std::string prompt;  ///< kPrompt: what the user said
    bool again = false;  ///< kStart: the session goes on (cleared, resumed, made shorter)
};

/// What is said, each may be empty.
struct HookAnswer {
    std::string for_user{};
    std::string for_model{};
};

HookAnswer answer_hook(Context& context, const Hooked& hooked);

}  // namespace unwrite::cli
