// The header lines of a unified diff: which files it is about. For unified_parser.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace unwrite::edit {

/// `name` without its first `strip` components; nothing if it has no more than these.
std::optional<std::string> stripped(std::string_view name, unsigned strip);

/// The name behind "--- " or "+++ ": unquoted, without the date behind a tab. Nothing if it is
/// quoted wrongly. "/dev/null" is returned as it is.
std::optional<std::string> label_name(std::string_view label);

/// Whether the label ("--- name", a tab and a date) has the date that diff(1) gives to a file that
/// is not there: the beginning of 1970.
bool is_dated_absent(std::string_view label);

struct TwoNames {
    std::string older{};
    std::string newer{};
};

/// What stands behind "diff --git ", stripped. Names that are not quoted can be told apart only
/// when they are equal but for what is stripped, as they are unless other lines name them.
std::optional<TwoNames> git_names(std::string_view text, unsigned strip);

}  // namespace unwrite::edit
