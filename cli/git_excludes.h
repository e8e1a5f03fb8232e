// What git in a run is told. Untracked files that agents may not read count as ignored: `git add
// -A` would fail at them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/file_of_run.h"
#include "overlay/oversight.h"

namespace unwrite::cli {

/// The text of an excludes file: a line for each rule by which agents may not read, and for each
/// exception, in their order; then `own`, the text of the user's file, which so wins. Empty when
/// agents may read everything.
std::string git_excludes(const std::vector<overlay::RuleShown>& rules, const std::string& own);

class GitExcludesOfRun {
 public:
    /// Asks git in `directory` which file is the user's. Excludes nothing outside of a repository.
    /// `settings`: further ones for git, as "key=value".
    GitExcludesOfRun(const std::vector<overlay::RuleShown>& rules, const std::string& directory,
                     std::vector<std::string> settings = {});

    /// Variables by which git obeys it; they take the place of those that are set.
    const std::vector<std::pair<std::string, std::string>>& environment() const {
        return environment_;
    }
    void remove() const {
        if (file_) file_->remove();
    }

 private:
    /// "key=value" for the excludes; "" where there are none.
    std::string exclude(const std::vector<overlay::RuleShown>& rules, const std::string& directory);

    std::optional<FileOfRun> file_;
    std::vector<std::pair<std::string, std::string>> environment_;
};

}  // namespace unwrite::cli
