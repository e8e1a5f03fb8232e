// The registries that a project's `.npmrc` names, for a run whose agent may not read that file
// because of the tokens in it: npm would ask the public registry for private names, and say
// nothing.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/file_of_run.h"

namespace unwrite::cli {

/// Keys and values: `registry`, `@scope:registry`. No value has a user name or password.
using NpmRegistries = std::vector<std::pair<std::string, std::string>>;

/// What the text of a `.npmrc` says of registries.
NpmRegistries npm_registries_of(const std::string& text);

/// The same of the files from `directory` up to `root`, which is at or above it; the nearest
/// counts. What cannot be read, is a link, or larger than 1 MiB, says nothing.
NpmRegistries npm_registries(std::string directory, const std::string& root);

/// A file in the state directory of the user that says the same, as long as this lives.
class NpmrcOfRun {
 public:
    NpmrcOfRun() = default;
    explicit NpmrcOfRun(const NpmRegistries& registries);
    /// At once.
    void remove() const {
        if (file_) file_->remove();
    }

    /// Variables of the environment that make npm obey it. A scope cannot be said in a variable:
    /// its name is none that a shell passes on.
    const std::vector<std::pair<std::string, std::string>>& environment() const {
        return environment_;
    }

 private:
    std::optional<FileOfRun> file_;
    std::vector<std::pair<std::string, std::string>> environment_;
};

}  // namespace unwrite::cli
