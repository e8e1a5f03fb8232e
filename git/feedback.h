// Soft feedback: a thumbs-down on the agent's last comment becomes a note for its next prompt. It
// undoes nothing.
#pragma once

#include <cstdint>
#include <string>

#include "git/programs.h"

namespace unwrite::git {

struct FeedbackOptions {
    std::uint64_t issue = 0;                    ///< 1 or more
    std::string agent = "github-actions[bot]";  ///< the login that the agent comments with
};

/// What to put before the next prompt, with an empty line at its end; "" when the last comment of
/// the agent has no thumbs-down, or there is none. Errors: kUsage, kNotFound (no repository, gh not
/// installed), kSystem (gh could not answer).
Result<std::string> feedback(Programs& programs, const std::string& directory,
                             const FeedbackOptions& options);

}  // namespace unwrite::git
