#include "mcp/arguments.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <string_view>

#include "edit/settings.h"
#include "edit/text_safety.h"

namespace unwrite::mcp {

namespace {

Error bad(const std::string& text) {
    return {ErrorKind::kUsage, EINVAL, "Bad args: " + text};
}

}  // namespace

Result<Arguments> Arguments::check(const Json& json, std::initializer_list<const char*> known) {
    if (!json.is_object()) return bad("arguments must be an object");
    if (dump(json).size() > edit::Settings{}.max_arguments)
        return Error(ErrorKind::kUsage, E2BIG, "Tool arguments too large");
    for (const auto& item : json.items()) {
        const auto same = [&](const char* name) { return item.key() == name; };
        if (std::any_of(known.begin(), known.end(), same)) continue;
        std::string fields;
        for (const char* name : known)
            fields += (fields.empty() ? "" : ", ") + std::string(name);
        return bad("unknown field \"" + edit::displayed(item.key().substr(0, 60)) + "\"")
            .with_advice("The fields are: " + fields + ".");
    }
    return Arguments(json);
}

Result<std::string> Arguments::text(const char* name, const std::string& otherwise) const {
    const Json& value = member(json_, name);
    if (value.is_null()) return otherwise;
    if (!value.is_string()) return bad(std::string(name) + " must be a string");
    return value.get<std::string>();
}

Result<std::string> Arguments::name(const char* field) const {
    TRY_ASSIGN(std::string text, this->text(field));
    if (edit::has_unsafe_character(text))
        return bad(std::string(field) + " contains invalid control characters");
    return text;
}

Result<std::string> Arguments::prose(const char* field) const {
    TRY_ASSIGN(std::string text, this->text(field));
    const auto is_control = [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7f;
    };
    if (std::any_of(text.begin(), text.end(), is_control))
        return bad(std::string(field) + " contains invalid control characters");
    return text;
}

Result<std::string> Arguments::required_text(const char* name) const {
    if (member(json_, name).is_null()) return bad(std::string(name) + " is required");
    return text(name);
}

Result<bool> Arguments::flag(const char* name, bool otherwise) const {
    const Json& value = member(json_, name);
    if (value.is_null()) return otherwise;
    if (!value.is_boolean()) return bad(std::string(name) + " must be true or false");
    return value.get<bool>();
}

Result<std::optional<std::uint64_t>> Arguments::number(const char* name, std::uint64_t least,
                                                       std::uint64_t most) const {
    const Json& value = member(json_, name);
    if (value.is_null()) return std::optional<std::uint64_t>{};
    // To JSON, 1.0 is an integer as 1 is.
    const double number = value.is_number() ? value.get<double>() : 0.5;
    if (std::floor(number) != number) return bad(std::string(name) + " must be an integer");
    if (number < static_cast<double>(least) || number > static_cast<double>(most)) {
        return bad(std::string(name) + " must be from " + std::to_string(least) + " to " +
                   std::to_string(most));
    }
    return std::optional<std::uint64_t>{static_cast<std::uint64_t>(number)};
}

Result<std::vector<std::string>> Arguments::texts(const char* name) const {
    const Json& value = member(json_, name);
    std::vector<std::string> list;
    if (value.is_null()) return list;
    if (!value.is_array()) return bad(std::string(name) + " must be a list of strings");
    for (const Json& item : value) {
        if (!item.is_string()) return bad(std::string(name) + " must be a list of strings");
        list.push_back(item.get<std::string>());
        if (edit::has_unsafe_character(list.back()))
            return bad(std::string(name) + " contains invalid control characters");
    }
    return list;
}

}  // namespace unwrite::mcp
