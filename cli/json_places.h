// Where the values of a JSON text stand in it. For json_text.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unwrite::cli {

/// A value; for one in an object also its key.
struct JsonPlace {
    std::size_t begin = 0;  ///< of the key where there is one, else of the value
    std::size_t open = 0;   ///< of the value
    std::size_t end = 0;    ///< behind the value
    std::string key{};
    std::vector<JsonPlace> items{};  ///< of an object or an array

    const JsonPlace* find(std::string_view name) const;
};

/// `text` has been parsed before and found right, comments aside. Errors: kUsage when it is nested
/// too deeply, or an object has a key twice.
Result<JsonPlace> places_of(std::string_view text);

/// Behind the blanks (and with `comments` the comments) from `at` on.
std::size_t skip_blanks(std::string_view text, std::size_t at, bool comments = true);
/// Behind blanks and comments that stand on the same line.
std::size_t skip_rest_of_line(std::string_view text, std::size_t at);

}  // namespace unwrite::cli
