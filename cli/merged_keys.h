// A file of settings that a run changed in its copy, and somebody else perhaps in the file itself:
// key by key, what the run changed is put into the file. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/known_agents.h"

namespace unwrite::cli {

/// "" stands for a file that is not there.
struct KeyedTexts {
    std::string base;    ///< the file when the run began
    std::string mine;    ///< what the run left
    std::string theirs;  ///< the file now
};

struct MergedKeys {
    std::string text;               ///< what the file is to be; `theirs` when nothing is taken over
    std::vector<std::string> held;  ///< changed keys that the rules do not give to the run
};

/// `here` is the workspace. With `all`, every key is taken over. Errors: kUsage when one of the
/// texts cannot be read, or a key has no place in the file.
Result<MergedKeys> merge_keys(const KeyedFile& file, std::string_view here, const KeyedTexts& texts,
                              bool all);

}  // namespace unwrite::cli
