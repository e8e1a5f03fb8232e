// Source: what a review on a full screen is about, and what carries it out. The screen itself knows
// no workspace.
#pragma once

#include <string>
#include <vector>

#include "cli/decision.h"

namespace unwrite::cli::screen {

/// One changed file as it was read.
struct Looked {
    std::string text{};     ///< its diff, or what else there is to be said
    std::string seen{};     ///< tells this content from another; of parts: to_text() of its digest
    std::size_t parts = 0;  ///< hunks that can be decided one by one; 0: none can
};

class Source {
 public:
    virtual ~Source() = default;

    virtual Result<Looked> look(const overlay::Change& change) = 0;
    /// The files in a directory that is one change.
    virtual Result<std::vector<overlay::Change>> inside(const overlay::Change& directory) = 0;
    /// What would be done, in lines. kConflict names what changed since it was read, or what cannot
    /// be had together.
    virtual Result<std::string> foresee(const std::vector<Judged>& judged) = 0;
    virtual Result<> carry_out(const std::vector<Judged>& judged) = 0;
    /// Paths of which foresee() or carry_out() said that they changed since they were read; they
    /// are read anew from now on.
    virtual std::vector<std::string> take_changed() = 0;
    /// The file was changed by the person: it is read anew.
    virtual void forget(const std::string& path) = 0;
};

}  // namespace unwrite::cli::screen
