#include "control/protocol.h"

#include <array>
#include <cerrno>
#include <utility>

namespace unwrite::control {

namespace {

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::pair<ErrorKind, const char*>, 9> kKinds = {{
    {ErrorKind::kSystem, "system"},
    {ErrorKind::kUsage, "usage"},
    {ErrorKind::kNothing, "nothing"},
    {ErrorKind::kRefused, "refused"},
    {ErrorKind::kConflict, "conflict"},
    {ErrorKind::kNoWorkspace, "no-workspace"},
    {ErrorKind::kRecovery, "recovery"},
    {ErrorKind::kCorrupt, "corrupt"},
    {ErrorKind::kNotFound, "not-found"},
}};

Error malformed(const char* why) {
    return Error(ErrorKind::kUsage, EINVAL, std::string("cannot read the request: ") + why);
}

std::uint8_t byte(char c) {
    return static_cast<std::uint8_t>(c);
}

std::string to_base64(std::string_view bytes) {
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
        for (std::size_t k = 0; k < 3; ++k)
            group = group << 8 | (k < have ? byte(bytes[i + k]) : 0u);
        for (std::size_t k = 0; k < 4; ++k) {
            out += k <= have ? kBase64[group >> (18 - 6 * k) & 63] : '=';
        }
    }
    return out;
}

Result<std::string> from_base64(std::string_view text) {
    std::string out;
    if (text.size() % 4 != 0) return malformed("bad base64");
    for (std::size_t i = 0; i < text.size(); i += 4) {
        std::uint32_t group = 0;
        std::size_t have = 0;
        for (std::size_t k = 0; k < 4; ++k) {
            const std::size_t value = kBase64.find(text[i + k]);
            const bool padding = text[i + k] == '=' && i + 4 == text.size() && k >= 2;
            if (value == std::string_view::npos && !padding) return malformed("bad base64");
            if (!padding && have != k) return malformed("bad base64");
            if (!padding) have = k + 1;
            group = group << 6 | (padding ? 0u : static_cast<std::uint32_t>(value));
        }
        for (std::size_t k = 0; k + 1 < have; ++k)
            out += static_cast<char>(group >> (16 - 8 * k) & 255);
    }
    return out;
}

/// How many bytes the sequence at the front of `bytes` has; 0 when it is not UTF-8.
std::size_t utf8_length(std::string_view bytes) {
    const std::uint8_t first = byte(bytes[0]);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || bytes.size() < length) return 0;
    std::uint32_t code = first & (0xFFu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(bytes[i]) & 0xC0) != 0x80) return 0;
        code = code << 6 | (byte(bytes[i]) & 0x3Fu);
    }
    constexpr std::array<std::uint32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
    if (code < least[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return 0;
    return length;
}

/// Nesting is counted before parsing, so that no parser has to be trusted with its own stack.
bool too_deep(std::string_view text) {
    unsigned depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted) {
            if (c == '\\') ++i;
            if (c == '"') quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '[' || c == '{') {
            if (++depth > kMaxDepth) return true;
        } else if ((c == ']' || c == '}') && depth > 0) {
            --depth;
        }
    }
    return false;
}

std::string text_at(const Json& json, const char* key) {
    const auto found = json.find(key);
    if (found == json.end()) return {};
    Result<std::string> text = decode_bytes(*found);
    return text ? *std::move(text) : std::string();
}

}  // namespace

bool is_utf8(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::size_t length = utf8_length(bytes);
        if (length == 0) return false;
        bytes.remove_prefix(length);
    }
    return true;
}

Json encode_bytes(std::string_view bytes) {
    if (is_utf8(bytes)) return Json(bytes);
    return Json{{"bytes", to_base64(bytes)}};
}

Result<std::string> decode_bytes(const Json& json) {
    if (json.is_string()) return json.get<std::string>();
    if (!json.is_object() || json.size() != 1) return malformed("a text was expected");
    const auto bytes = json.find("bytes");
    if (bytes == json.end() || !bytes->is_string()) return malformed("a text was expected");
    return from_base64(bytes->get_ref<const std::string&>());
}

Result<Json> parse_json(std::string_view text, std::size_t max_size) {
    if (text.size() > max_size) return malformed("too long");
    if (too_deep(text)) return malformed("nested too deeply");
    Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) return malformed("not JSON");
    return json;
}

Result<Request> parse_request(std::string_view line) {
    TRY_ASSIGN(Json json, parse_json(line, kMaxRequest));
    if (!json.is_object()) return malformed("not an object");
    Request request;
    for (auto& [key, value] : json.items()) {
        if (key == "id" && value.is_number_unsigned()) {
            request.id = value.get<std::uint64_t>();
        } else if (key == "command" && value.is_string()) {
            request.command = value.get<std::string>();
        } else if (key == "arguments" && value.is_object()) {
            request.arguments = std::move(value);
        } else {
            return malformed("unknown or wrong member");
        }
    }
    if (request.command.empty()) return malformed("no command");
    return request;
}

Result<Json> parse_answer(std::string_view line, std::uint64_t id) {
    const auto wrong = [](const char* why) {
        return Error(ErrorKind::kCorrupt, EPROTO, std::string("cannot read the answer: ") + why);
    };
    Result<Json> json = parse_json(line, kMaxAnswer);
    if (!json) return wrong("not JSON");
    if (!json->is_object()) return wrong("not an object");
    const auto ok = json->find("ok");
    const auto number = json->find("id");
    if (ok == json->end() || !ok->is_boolean()) return wrong("no outcome");
    if (!ok->get<bool>()) {
        const auto error = json->find("error");
        return error == json->end() ? wrong("no error") : decode_error(*error);
    }
    if (number == json->end() || *number != id) return wrong("of another request");
    const auto result = json->find("result");
    if (result == json->end()) return wrong("no result");
    return std::move(*result);
}

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string format_request(const Request& request) {
    return dump(
        Json{{"id", request.id}, {"command", request.command}, {"arguments", request.arguments}});
}

std::string format_answer(std::uint64_t id, const Result<Json>& outcome) {
    if (!outcome)
        return dump(Json{{"id", id}, {"ok", false}, {"error", encode_error(outcome.error())}});
    std::string text = dump(Json{{"id", id}, {"ok", true}, {"result", *outcome}});
    if (text.size() <= kMaxAnswer) return text;
    const Error error(ErrorKind::kSystem, EMSGSIZE, "send answer: it has more than 64 MiB",
                      "ask for less, for example by naming a path");
    return dump(Json{{"id", id}, {"ok", false}, {"error", encode_error(error)}});
}

Json encode_error(const Error& error) {
    const char* kind = "system";
    for (const auto& [value, name] : kKinds) {
        if (value == error.kind()) kind = name;
    }
    return Json{{"kind", kind},
                {"number", error.number()},
                {"text", encode_bytes(error.message())},
                {"hint", encode_bytes(error.advice())}};
}

Error decode_error(const Json& json) {
    if (!json.is_object())
        return Error(ErrorKind::kCorrupt, EPROTO, "cannot read the answer: no error");
    ErrorKind kind = ErrorKind::kSystem;
    const std::string name = text_at(json, "kind");
    for (const auto& [value, text] : kKinds) {
        if (text == name) kind = value;
    }
    const auto number = json.find("number");
    const bool known = number != json.end() && number->is_number_integer();
    return Error(kind, known ? number->get<int>() : EIO, text_at(json, "text"),
                 text_at(json, "hint"));
}

}  // namespace unwrite::control
