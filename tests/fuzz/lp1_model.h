// LP1 once more, written from its grammar and in the plainest way: what the parser and the
// operations of edit/ are compared with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "edit/lp1.h"
#include "tests/edit/random.h"

namespace unwrite::fuzz {

struct ModelOutcome {
    std::string bytes{};
    std::string error{};  ///< empty: it was carried out
};

/// What the operations make of a file of UTF-8 with LF and CRLF endings.
ModelOutcome model_of(const std::vector<edit::Lp1Operation>& operations, const std::string& bytes);

/// Operations that often find something in the file.
std::vector<edit::Lp1Operation> random_operations(edit::Random& random, const std::string& bytes);

/// A patch in the grammar, with all the blanks, comments and line endings that it leaves free.
std::string rendered(edit::Random& random, const std::string& path,
                     const std::vector<edit::Lp1Operation>& operations);

/// A patch that is wrong in one place, and the error for it.
struct BrokenPatch {
    std::string patch{};
    std::string error{};
};
BrokenPatch broken(edit::Random& random);

}  // namespace unwrite::fuzz
