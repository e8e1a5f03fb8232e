#include "edit/unified_names.h"

#include <algorithm>

#include "edit/patch_names.h"

namespace unwrite::edit {

namespace {

std::optional<TwoNames> both_stripped(std::string_view older, std::string_view newer,
                                      unsigned strip) {
    auto first = stripped(older, strip);
    auto second = stripped(newer, strip);
    if (!first || !second) return std::nullopt;
    return TwoNames{*std::move(first), *std::move(second)};
}

// The second of two names, quoted or not.
std::optional<std::string> whole_name(std::string_view text) {
    if (!text.starts_with('"')) return std::string(text);
    auto quoted = unquoted_name(text);
    if (!quoted || quoted->length != text.size()) return std::nullopt;
    return std::move(quoted->name);
}

}  // namespace

std::optional<std::string> stripped(std::string_view name, unsigned strip) {
    for (; strip > 0; --strip) {
        const std::size_t slash = name.find('/');
        if (slash == std::string_view::npos) return std::nullopt;
        name.remove_prefix(slash + 1);
    }
    if (name.empty()) return std::nullopt;
    return std::string(name);
}

std::optional<std::string> label_name(std::string_view label) {
    if (label.starts_with('"')) {
        auto quoted = unquoted_name(label);
        if (!quoted) return std::nullopt;
        const std::string_view rest = label.substr(quoted->length);
        if (!rest.empty() && rest.front() != '\t' && rest.front() != ' ') return std::nullopt;
        return std::move(quoted->name);
    }
    return std::string(label.substr(0, label.find('\t')));
}

bool is_dated_absent(std::string_view label) {
    const std::size_t tab = label.rfind('\t');
    if (tab == std::string_view::npos) return false;
    const std::string_view date = label.substr(tab + 1);
    // In the local time of whoever made it, which is less than a day away.
    const bool at_midnight = date.starts_with("1970-01-01 ") || date.starts_with("1969-12-31 ");
    const std::string_view minutes = date.substr(std::min<std::size_t>(13, date.size()), 6);
    const bool whole =
        minutes == ":00:00" || minutes == ":30:00" || minutes == ":45:00" || minutes == ":15:00";
    return at_midnight && whole;
}

std::optional<TwoNames> git_names(std::string_view text, unsigned strip) {
    if (text.starts_with('"')) {
        const auto first = unquoted_name(text);
        if (!first || first->length >= text.size() || text[first->length] != ' ')
            return std::nullopt;
        const auto second = whole_name(text.substr(first->length + 1));
        return second ? both_stripped(first->name, *second, strip) : std::nullopt;
    }
    if (const auto quote = text.find(" \""); quote != std::string_view::npos) {
        const auto second = whole_name(text.substr(quote + 1));
        return second ? both_stripped(text.substr(0, quote), *second, strip) : std::nullopt;
    }
    for (auto blank = text.find(' '); blank != std::string_view::npos;
         blank = text.find(' ', blank + 1)) {
        auto names = both_stripped(text.substr(0, blank), text.substr(blank + 1), strip);
        if (names && names->older == names->newer) return names;
    }
    return std::nullopt;
}

}  // namespace unwrite::edit
