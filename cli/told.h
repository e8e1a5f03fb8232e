// What an agent is told at its next prompt: what the user took back of its work since its last one,
// what others changed, and what was refused to it. Pure functions.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "overlay/operations.h"
#include "overlay/refused.h"

namespace unwrite::cli {

/// What is remembered of a prompt, as the cause of the checkpoint that was made for it.
struct Turn {
    overlay::NodeNumber node = 0;  ///< 0: there was no prompt yet
    std::int64_t time_ns = 0;
    std::set<overlay::NodeNumber> undone{};  ///< steps of the session that were taken back by then
};

/// The session's newest prompt. What was written down is not trusted: at worst something is told
/// twice, or not.
Turn last_turn(const overlay::Log& log, const std::string& session);
/// At most overlay::kMostOfCause bytes.
std::string cause_of(const std::string& session, const std::set<overlay::NodeNumber>& undone);

/// The session's steps that are taken back now, also one that was still going on when the user went
/// back: what it had changed by then is a node without a session. `log`: with abandoned states.
std::set<overlay::NodeNumber> undone_of(const overlay::Log& log, const std::string& session);

/// The title of the session's step that was going on at a node without a session; nothing where
/// there was none.
std::optional<std::string> title_of_interrupted(const overlay::Log& log, const overlay::Node& node,
                                                const std::string& session);

/// A step and the files that it changed.
struct StepTold {
    overlay::NodeNumber node = 0;
    std::string title{};
    std::vector<overlay::Change> changes{};
};
/// In this order; "" where nothing is to be told.
std::string told_words(const std::vector<StepTold>& taken_back,
                       const std::vector<StepTold>& brought_back,
                       const std::vector<overlay::Change>& by_others,
                       const overlay::Refused& refused);

/// Those of them that somebody else than the session changed.
std::vector<overlay::Change> by_others(const std::vector<overlay::Change>& changes,
                                       const std::vector<overlay::Origin>& origins,
                                       const std::string& session);
/// Those of them that the session changed.
std::vector<overlay::Change> by_session(std::vector<overlay::Change> changes,
                                        const std::vector<overlay::Origin>& origins,
                                        const std::string& session);

/// The first words of a prompt, for a title: one line, at most 60 characters.
std::string first_words(const std::string& prompt);

}  // namespace unwrite::cli
