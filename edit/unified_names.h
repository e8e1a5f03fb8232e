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

struct TwoNames {
    std::string older{};
    std::string newer{};
};

/// What stands behind "diff --git ", stripped. Names that are not quoted can be told apart only
/// when they are equal but for what is stripped, as they are unless other lines name them.
std::optional<TwoNames> git_names(std::string_view text, unsigned strip);

}  // namespace unwrite::edit
