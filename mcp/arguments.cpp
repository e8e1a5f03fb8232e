#include "mcp/arguments.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <string_view>

#include "edit/settings.h"
#include "edit/text_safety.h"

namespace unwrite::mcp {

namespace {

Error bad(const std::string& text, const std::string& advice) {
    return {ErrorKind::kUsage, EINVAL, "Bad args: " + text, advice};
}

Error hidden(const std::string& field, const std::string& text) {
    return bad(field + " contains invalid control characters", edit::without_hidden(field, text));
}

// What to give instead, or nothing: no argument but those that are required has to be there.
std::string give(const std::string& field, const std::string& as) {
    return "Give " + field + " as " + as + ", or leave it out.";
}

}  // namespace

Error too_large_arguments() {
    return {ErrorKind::kUsage, E2BIG, "Tool arguments too large",
            "A call may have " + std::to_string(edit::Settings{}.max_arguments) +
                " bytes of arguments. Make them shorter."};
}

Result<Arguments> Arguments::check(const Json& json, std::initializer_list<const char*> known) {
    if (!json.is_object())
        return bad("arguments must be an object", "Give the arguments as a JSON object.");
    if (dump(json).size() > edit::Settings{}.max_arguments) return too_large_arguments();
    for (const auto& item : json.items()) {
        const auto same = [&](const char* name) { return item.key() == name; };
        if (std::any_of(known.begin(), known.end(), same)) continue;
        std::string fields;
        for (const char* name : known)
            fields += (fields.empty() ? "" : ", ") + std::string(name);
        return bad("unknown field \"" + edit::displayed(item.key().substr(0, 60)) + "\"",
                   "The fields are: " + fields + ".");
    }
    return Arguments(json);
}

Result<std::string> Arguments::text(const char* name, const std::string& otherwise) const {
    const Json& value = member(json_, name);
    if (value.is_null()) return otherwise;
    if (!value.is_string())
        return bad(std::string(name) + " must be a string", give(name, "a string"));
    return value.get<std::string>();
}

Result<std::string> Arguments::name(const char* field) const {
    TRY_ASSIGN(std::string text, this->text(field));
    if (edit::has_unsafe_character(text)) return hidden(field, text);
    return text;
}

Result<std::string> Arguments::prose(const char* field) const {
    TRY_ASSIGN(std::string text, this->text(field));
    const auto is_control = [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7f;
    };
    if (std::any_of(text.begin(), text.end(), is_control)) return hidden(field, text);
    return text;
}

Result<std::string> Arguments::required_text(const char* name) const {
    if (member(json_, name).is_null())
        return bad(std::string(name) + " is required",
                   "Call the tool again with " + std::string(name) + ".");
    return text(name);
}

Result<bool> Arguments::flag(const char* name, bool otherwise) const {
    const Json& value = member(json_, name);
    if (value.is_null()) return otherwise;
    if (!value.is_boolean())
        return bad(std::string(name) + " must be true or false",
                   give(name, "true or false, without quotes"));
    return value.get<bool>();
}

Result<std::optional<std::uint64_t>> Arguments::number(const char* name, std::uint64_t least,
                                                       std::uint64_t most) const {
    const Json& value = member(json_, name);
    if (value.is_null()) return std::optional<std::uint64_t>{};
    // To JSON, 1.0 is an integer as 1 is.
    const double number = value.is_number() ? value.get<double>() : 0.5;
    const std::string range = "from " + std::to_string(least) + " to " + std::to_string(most);
    const std::string advice = give(name, "a whole number " + range);
    if (std::floor(number) != number) return bad(std::string(name) + " must be an integer", advice);
    if (number < static_cast<double>(least) || number > static_cast<double>(most))
        return bad(std::string(name) + " must be " + range, advice);
    return std::optional<std::uint64_t>{static_cast<std::uint64_t>(number)};
}

Result<std::vector<std::string>> Arguments::texts(const char* name) const {
    const Json& value = member(json_, name);
    std::vector<std::string> list;
    if (value.is_null()) return list;
    const Error no_list = bad(std::string(name) + " must be a list of strings",
                              give(name, "a list of strings, such as [\"src\"]"));
    if (!value.is_array()) return no_list;
    for (const Json& item : value) {
        if (!item.is_string()) return no_list;
        list.push_back(item.get<std::string>());
        if (edit::has_unsafe_character(list.back())) return hidden(name, list.back());
    }
    return list;
}

}  // namespace unwrite::mcp
