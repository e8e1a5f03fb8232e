#include "cli/toml_text.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cerrno>
#include <optional>

namespace unwrite::cli {

namespace {

Result<toml::table> parsed(std::string_view text) {
    try {
        return toml::parse(text);
    } catch (const toml::parse_error& error) {
        return Error(ErrorKind::kUsage, EINVAL,
                     fmt::format("it is not TOML: line {}: {}", error.source().begin.line,
                                 error.description()));
    }
}

enum class Found { kNothing, kSame, kOther };

// Whether `all` has what `wanted` has, and more perhaps.
Found look_for(const toml::table& all, const toml::table& wanted) {
    for (const auto& [key, value] : wanted) {
        const toml::node* there = all.get(key);
        if (there == nullptr) return Found::kNothing;
        const toml::table* inner = value.as_table();
        if (inner == nullptr) {
            const toml::table one{{key, value}};
            const toml::table other{{key, *there}};
            if (one != other) return Found::kOther;
            continue;
        }
        if (!there->is_table()) return Found::kOther;
        const Found below = look_for(*there->as_table(), *inner);
        // An entry that is there in part is somebody else's.
        if (below == Found::kNothing && inner->begin() != inner->end() &&
            !inner->begin()->second.is_table())
            return Found::kOther;
        if (below != Found::kSame) return below;
    }
    return Found::kSame;
}

void merge(toml::table& all, const toml::table& more) {
    for (const auto& [key, value] : more) {
        toml::table* there = all.get_as<toml::table>(key);
        if (there != nullptr && value.is_table()) {
            merge(*there, *value.as_table());
        } else {
            all.insert_or_assign(key, value);
        }
    }
}

// With the line endings that the file has.
std::string as_in(std::string_view text, std::string_view table) {
    const bool crlf = text.find("\r\n") != std::string_view::npos;
    std::string out;
    for (const char c : table) {
        if (c == '\n' && crlf) out += '\r';
        out += c;
    }
    return out;
}

}  // namespace

Result<std::string> with_table(std::string_view text, std::string_view table) {
    TRY_ASSIGN(toml::table all, parsed(text));
    TRY_ASSIGN(const toml::table wanted, parsed(table));
    switch (look_for(all, wanted)) {
        case Found::kSame:
            return std::string(text);
        case Found::kOther:
            return Error(ErrorKind::kConflict, EEXIST, "it has something else of this name");
        case Found::kNothing:
            break;
    }
    std::string fresh(text);
    const std::string newline = as_in(text, "\n");
    if (!fresh.empty() && !fresh.ends_with('\n')) fresh += newline;
    if (!fresh.empty()) fresh += newline;
    fresh += as_in(text, table);
    // A table written as `name = {...}` cannot be added to.
    const auto read = parsed(fresh);
    merge(all, wanted);
    if (!read || *read != all)
        return Error(ErrorKind::kConflict, EEXIST, "the table cannot be put behind it");
    return fresh;
}

Result<std::string> without_table(std::string_view text, std::string_view table) {
    TRY(parsed(text));
    const std::string block = as_in(text, table);
    const std::size_t at = text.find(block);
    if (at == std::string_view::npos || text.find(block, at + 1) != std::string_view::npos)
        return std::string(text);
    const std::string newline = as_in(text, "\n");
    std::size_t begin = at;
    if (text.substr(0, at).ends_with(newline + newline)) begin -= newline.size();
    std::string rest(text.substr(0, begin));
    rest += text.substr(at + block.size());
    // What follows would belong to another table, unless it begins one.
    TRY_ASSIGN(const toml::table now, parsed(text));
    TRY_ASSIGN(toml::table without, parsed(rest));
    TRY_ASSIGN(const toml::table wanted, parsed(table));
    merge(without, wanted);
    return without == now ? rest : std::string(text);
}

}  // namespace unwrite::cli
