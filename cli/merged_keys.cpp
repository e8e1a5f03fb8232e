#include "cli/merged_keys.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <toml++/toml.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "cli/config_keys.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

using Tree = nlohmann::ordered_json;
using Key = std::vector<std::string>;

struct Change {
    Key key;
    std::optional<Tree> value;  ///< nothing: the key is removed
};

Tree tree_of(const toml::node& node) {
    if (const toml::table* table = node.as_table()) {
        Tree tree = Tree::object();
        for (const auto& [name, member] : *table)
            tree[std::string(name.str())] = tree_of(member);
        return tree;
    }
    if (const toml::array* array = node.as_array()) {
        Tree tree = Tree::array();
        for (const toml::node& member : *array)
            tree.push_back(tree_of(member));
        return tree;
    }
    if (node.is_string()) return node.value_or(std::string());
    if (node.is_boolean()) return node.value_or(false);
    if (node.is_integer()) return node.value_or<std::int64_t>(0);
    if (node.is_floating_point()) return node.value_or(0.0);
    std::ostringstream words;
    node.visit([&](const auto& value) { words << value; });
    return words.str();
}

Result<Tree> parsed(const std::string& text, bool is_toml) {
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) return Tree::object();
    const Error wrong(ErrorKind::kUsage, EINVAL, is_toml ? "it is not TOML" : "it is not JSON");
    if (is_toml) {
        try {
            return tree_of(toml::parse(text));
        } catch (const toml::parse_error&) {
            return wrong;
        }
    }
    Tree tree = Tree::parse(text, nullptr, false, true);
    if (!tree.is_object()) return wrong;
    return tree;
}

void compare(const Tree& before, const Tree& after, Key& key, std::vector<Change>& changes) {
    for (const auto& [name, value] : after.items()) {
        const auto old = before.find(name);
        key.push_back(name);
        const bool both = old != before.end() && old->is_object() && value.is_object();
        if (both) {
            compare(*old, value, key, changes);
        } else if (old == before.end() && value.is_object() && !value.empty()) {
            compare(Tree::object(), value, key, changes);
        } else if (old == before.end() || *old != value) {
            changes.push_back({key, value});
        }
        key.pop_back();
    }
    for (const auto& [name, value] : before.items()) {
        if (after.contains(name)) continue;
        key.push_back(name);
        changes.push_back({key, std::nullopt});
        key.pop_back();
    }
}

bool matches(const std::string& pattern, const Key& key, std::string_view here) {
    std::size_t at = 0;
    for (const std::string& part : key) {
        if (at > pattern.size()) return false;
        const std::size_t end = std::min(pattern.find('/', at), pattern.size());
        const std::string wanted = pattern.substr(at, end - at);
        if (wanted == "**") return true;
        const bool fits =
            wanted == "@here" ? part == here : ::fnmatch(wanted.c_str(), part.c_str(), 0) == 0;
        if (!fits) return false;
        at = end + 1;
    }
    return at > pattern.size() || pattern.substr(at) == "**";
}

bool is_free(const KeyedFile& file, const Key& key, std::string_view here) {
    bool free = false;
    for (const KeyRule& rule : file.rules)
        if (matches(rule.pattern, key, here)) free = rule.is_free;
    return free;
}

std::string words_of(const Key& key) {
    std::string text;
    for (const std::string& part : key)
        text += (text.empty() ? "" : " > ") + harmless(part);
    return text;
}

void apply(Tree& tree, const Change& change) {
    Tree* at = &tree;
    for (std::size_t i = 0; i + 1 < change.key.size(); ++i) {
        Tree& next = (*at)[change.key[i]];
        if (!next.is_object()) {
            if (!change.value) return;
            next = Tree::object();
        }
        at = &next;
    }
    if (change.value) {
        (*at)[change.key.back()] = *change.value;
    } else {
        at->erase(change.key.back());
    }
}

std::string toml_of(const Tree& value) {
    if (value.is_string()) return toml_text(value.get<std::string>());
    std::string text;
    if (value.is_array()) {
        for (const Tree& one : value)
            text += (text.empty() ? "" : ", ") + toml_of(one);
        return '[' + text + ']';
    }
    if (value.is_object()) {
        for (const auto& [name, one] : value.items())
            text += (text.empty() ? "" : ", ") + toml_text(name) + " = " + toml_of(one);
        return "{ " + text + " }";
    }
    return value.dump();
}

std::string toml_name(const std::string& part) {
    const bool is_bare = !part.empty() && part.find_first_not_of(
                                              "abcdefghijklmnopqrstuvwxyz"
                                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                              "0123456789_-") == std::string::npos;
    return is_bare ? part : toml_text(part);
}

/// `text` with its lines from `first` to `last` (from 1) replaced; `last` < `first`: put before.
std::string with_lines(const std::string& text, std::size_t first, std::size_t last,
                       const std::string& wanted) {
    std::size_t begin = 0;
    for (std::size_t i = 1; i < first && begin < text.size(); ++i)
        begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
    std::size_t end = begin;
    for (std::size_t i = first; i <= last && end < text.size(); ++i)
        end = std::min(text.find('\n', end), text.size() - 1) + 1;
    std::string before = text.substr(0, begin);
    if (!before.empty() && before.back() != '\n') before += '\n';
    return before + wanted + text.substr(end);
}

/// One change in the text of a TOML file, whose other lines stay as they are.
std::string edited(const std::string& text, const Change& change) {
    toml::table table = toml::parse(text);
    const toml::table* parent = &table;
    std::string header;
    for (std::size_t i = 0; i + 1 < change.key.size(); ++i) {
        header += (header.empty() ? "" : ".") + toml_name(change.key[i]);
        if (parent != nullptr) parent = parent->get_as<toml::table>(change.key[i]);
    }
    const std::string& name = change.key.back();
    const std::string line =
        change.value ? toml_name(name) + " = " + toml_of(*change.value) + '\n' : std::string();
    const toml::node* const old = parent != nullptr ? parent->get(name) : nullptr;
    if (old != nullptr)
        return with_lines(text, old->source().begin.line, old->source().end.line, line);
    if (!change.value) return text;
    if (header.empty()) return line + text;
    const bool has_header =
        parent != nullptr && parent->source().begin.line > 0 && !parent->is_inline();
    if (has_header) return with_lines(text, parent->source().begin.line + 1, 0, line);
    const char* gap = text.empty() ? "" : text.back() == '\n' ? "\n" : "\n\n";
    return text + gap + '[' + header + "]\n" + line;
}

}  // namespace

Result<MergedKeys> merge_keys(const KeyedFile& file, std::string_view here, const KeyedTexts& texts,
                              bool all) {
    TRY_ASSIGN(const Tree base, parsed(texts.base, file.is_toml));
    TRY_ASSIGN(const Tree mine, parsed(texts.mine, file.is_toml));
    TRY_ASSIGN(Tree wanted, parsed(texts.theirs, file.is_toml));
    std::vector<Change> changes;
    Key key;
    compare(base, mine, key, changes);
    MergedKeys merged{texts.theirs, {}};
    std::vector<Change> taken;
    for (const Change& change : changes) {
        if (all || is_free(file, change.key, here)) {
            taken.push_back(change);
        } else {
            merged.held.push_back(words_of(change.key));
        }
    }
    if (taken.empty()) return merged;
    for (const Change& change : taken)
        apply(wanted, change);
    if (merged.held.empty() && texts.theirs == texts.base) {
        merged.text = texts.mine;
        return merged;
    }
    if (!file.is_toml) {
        merged.text = wanted.dump(2, ' ', false, Tree::error_handler_t::replace) + '\n';
        return merged;
    }
    for (const Change& change : taken)
        merged.text = edited(merged.text, change);
    TRY_ASSIGN(const Tree result, parsed(merged.text, true));
    std::vector<Change> different;
    compare(wanted, result, key, different);
    if (!different.empty()) {
        return Error(ErrorKind::kUsage, EINVAL, "a setting has no place of its own in it");
    }
    return merged;
}

}  // namespace unwrite::cli
