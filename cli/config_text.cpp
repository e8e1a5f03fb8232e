#include "cli/config_text.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cerrno>
#include <optional>
#include <sstream>

#include "cli/config_keys.h"

namespace unwrite::cli {

namespace {

Result<toml::table> parsed(std::string_view text) {
    try {
        return toml::parse(text);
    } catch (const toml::parse_error& error) {
        return Error(ErrorKind::kUsage, EINVAL,
                     fmt::format("the configuration is not TOML: line {}: {}",
                                 error.source().begin.line, error.description()));
    }
}

std::string inline_text(const toml::node& node) {
    std::string out;
    if (const toml::table* table = node.as_table()) {
        for (const auto& [name, member] : *table)
            out +=
                (out.empty() ? "" : ", ") + std::string(name.str()) + " = " + inline_text(member);
        return "{ " + out + " }";
    }
    if (const toml::array* array = node.as_array()) {
        for (const toml::node& member : *array)
            out += (out.empty() ? "" : ", ") + inline_text(member);
        return '[' + out + ']';
    }
    if (node.is_string()) return toml_text(node.value_or(std::string()));
    std::ostringstream words;
    node.visit([&](const auto& value) { words << value; });
    return words.str();
}

void collect(const toml::table& table, const std::string& prefix, std::vector<ConfigEntry>& out) {
    for (const auto& [name, node] : table) {
        const std::string key = prefix + std::string(name.str());
        const toml::array* array = node.as_array();
        if (node.is_table()) {
            collect(*node.as_table(), key + '.', out);
        } else if (array != nullptr && key == "policy.rule") {
            for (const toml::node& rule : *array)
                out.push_back({key, inline_text(rule), rule.source().begin.line});
        } else {
            out.push_back({key, inline_text(node), node.source().begin.line});
        }
    }
}

/// Where a line (from 1) begins; the end of the text for one behind it.
std::size_t line_start(const std::string& text, std::size_t line) {
    std::size_t at = 0;
    for (std::size_t i = 1; i < line && at < text.size(); ++i)
        at = std::min(text.find('\n', at), text.size() - 1) + 1;
    return at;
}

/// Where a column (from 1, in characters) is in the bytes of the text.
std::size_t offset_of(const std::string& text, const toml::source_position& position) {
    std::size_t at = line_start(text, position.line);
    for (std::size_t column = 1; column < position.column && at < text.size(); ++column) {
        ++at;
        while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80)
            ++at;
    }
    return at;
}

struct SplitKey {
    std::string table;  ///< empty for a key of the root
    std::string leaf;
};

SplitKey split(const std::string& key) {
    const std::size_t dot = key.rfind('.');
    if (dot == std::string::npos) return {"", key};
    return {key.substr(0, dot), key.substr(dot + 1)};
}

bool is_header(std::string_view line, const std::string& name) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) return false;
    return line.substr(first).starts_with(name.empty() ? "[" : '[' + name + ']');
}

/// The text with a line for a key that it does not have.
std::string with_line(const std::string& text, const SplitKey& key, const std::string& value) {
    const std::string line = key.leaf + " = " + value + '\n';
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        if (is_header(std::string_view(text).substr(at, end - at), key.table)) {
            if (key.table.empty()) return text.substr(0, at) + line + text.substr(at);
            if (end == text.size()) return text + '\n' + line;
            return text.substr(0, end + 1) + line + text.substr(end + 1);
        }
        at = end + 1;
    }
    std::string out = text;
    if (!out.empty() && !out.ends_with('\n')) out += '\n';
    if (!key.table.empty()) out += (out.empty() ? "[" : "\n[") + key.table + "]\n";
    return out + line;
}

/// The table of `key`, made where it is not there; null where something else has its place.
toml::table* table_of(toml::table& root, const std::string& path) {
    toml::table* table = &root;
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t end = std::min(path.find('.', at), path.size());
        const std::string name = path.substr(at, end - at);
        if (table->get(name) == nullptr) table->insert(name, toml::table());
        table = table->get_as<toml::table>(name);
        if (table == nullptr) return nullptr;
        at = end + 1;
    }
    return table;
}

Error only_by_hand(const std::string& key) {
    return Error(ErrorKind::kConflict, EEXIST,
                 "config: cannot change " + key + " in this file without rewriting it",
                 "`unwrite config edit` opens it in your editor");
}

}  // namespace

Result<std::vector<ConfigEntry>> entries_of(std::string_view text) {
    TRY_ASSIGN(const toml::table table, parsed(text));
    std::vector<ConfigEntry> entries;
    collect(table, "", entries);
    return entries;
}

Result<std::string> with_value(const std::string& text, const std::string& key,
                               const std::string& value) {
    const SplitKey name = split(key);
    TRY_ASSIGN(toml::table wanted, parsed(text));
    TRY_ASSIGN(const toml::table added, parsed("value = " + value));
    std::string fresh;
    const toml::node* there = wanted.at_path(key).node();
    if (there == nullptr) {
        fresh = with_line(text, name, value);
    } else {
        const toml::source_region region = there->source();
        fresh = text.substr(0, offset_of(text, region.begin)) + value +
                text.substr(offset_of(text, region.end));
    }
    toml::table* table = table_of(wanted, name.table);
    if (table == nullptr) return only_by_hand(key);
    table->insert_or_assign(name.leaf, *added.get("value"));
    const auto read = parsed(fresh);
    if (!read || *read != wanted) return only_by_hand(key);
    return fresh;
}

Result<std::string> without_value(const std::string& text, const std::string& key) {
    const SplitKey name = split(key);
    TRY_ASSIGN(toml::table wanted, parsed(text));
    const toml::node* there = wanted.at_path(key).node();
    if (there == nullptr) return text;
    const toml::source_region region = there->source();
    const std::string fresh = text.substr(0, line_start(text, region.begin.line)) +
                              text.substr(line_start(text, region.end.line + 1));
    table_of(wanted, name.table)->erase(name.leaf);
    const auto read = parsed(fresh);
    if (!read || *read != wanted) return only_by_hand(key);
    return fresh;
}

}  // namespace unwrite::cli
