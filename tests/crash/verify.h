// Looks at what a killed driver left.
#pragma once

#include <string>
#include <vector>

#include "tests/support/snapshot.h"

namespace unwrite::tests {

/// A scenario that ran to its end: what the states are called after each operation.
struct Reference {
    std::vector<Snapshot> states;  ///< before operation i; one more at the end
};

/// Lets the driver run a scenario undisturbed.
Reference make_reference(const std::string& scenario_name);

/// One place to be killed in: a workspace and the notes beside it, furnished anew each time.
class Site {
 public:
    Site();
    ~Site();
    Site(const Site&) = delete;
    Site& operator=(const Site&) = delete;
    std::string directory() const { return path_ + "/workspace"; }
    std::string progress() const { return path_ + "/progress"; }
    /// Opens the session (recovery) and compares with what the notes allow: the state before or
    /// after the operation that was interrupted, every checkpoint, and the root. What is wrong, or
    /// "".
    std::string verify(const std::string& scenario_name, const Reference& reference) const;

 private:
    std::string path_;
    Snapshot furnished_;
};

}  // namespace unwrite::tests
