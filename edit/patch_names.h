// How git writes file names in a diff: in double quotes with C escapes when they hold bytes that
// it does not print.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace unwrite::edit {

/// The name, quoted if it must be.
std::string quoted_name(std::string_view name);

/// What one quoted name at the beginning of a text stands for.
struct QuotedName {
    std::string name{};
    std::size_t length = 0;  ///< bytes of the text, both quotes included
};

/// `text` begins with a double quote. Nothing if the quotes are not closed or an escape is none.
std::optional<QuotedName> unquoted_name(std::string_view text);

}  // namespace unwrite::edit
