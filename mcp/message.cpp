#include "mcp/message.h"

#include <utility>

#include "edit/text_safety.h"

namespace unwrite::mcp {

namespace {

constexpr std::size_t kMostOfIdMember = 200;

// Before a parser builds anything: documents that are too deep end here.
bool is_too_deep(std::string_view text) {
    unsigned depth = 0;
    bool inside = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (inside) {
            if (c == '\\') ++at;
            if (c == '"') inside = false;
        } else if (c == '"') {
            inside = true;
        } else if (c == '{' || c == '[') {
            if (++depth > kMaxDepth) return true;
        } else if ((c == '}' || c == ']') && depth > 0) {
            --depth;
        }
    }
    return false;
}

ProtocolError invalid(std::string message, Json id = nullptr) {
    return {ErrorCode::kInvalidRequest, std::move(message), nullptr, std::move(id)};
}

bool is_id(const Json& id) {
    return id.is_string() || id.is_number();
}

Parsed parse_response(const Json& json, Message message) {
    message.kind = MessageKind::kResponse;
    message.result = member(json, "result");
    return message;
}

Parsed parse_message(const Json& json) {
    if (!json.is_object()) return invalid("Invalid Request: a message is an object");
    const bool has_id = json.contains("id");
    Message message;
    if (has_id && is_id(json["id"])) message.id = json["id"];
    if (text_member(json, "jsonrpc") != "2.0")
        return invalid("Invalid Request: jsonrpc must be \"2.0\"", message.id);
    if (has_id && message.id.is_null())
        return invalid("Invalid Request: id must be a string or a number");
    if (!json.contains("method")) {
        if (has_id && (json.contains("result") || json.contains("error")))
            return parse_response(json, std::move(message));
        return invalid("Invalid Request: there is no method", message.id);
    }
    if (!json["method"].is_string())
        return invalid("Invalid Request: method must be a string", message.id);
    message.method = json["method"].get<std::string>();
    message.kind = has_id ? MessageKind::kRequest : MessageKind::kNotification;
    if (json.contains("params")) {
        if (!json["params"].is_object()) {
            return ProtocolError{ErrorCode::kInvalidParams,
                                 "Invalid params: params must be an object", nullptr, message.id};
        }
        message.params = json["params"];
    }
    return message;
}

Json id_in(std::string_view text) {
    IdSearch search;
    for (const char c : text)
        search.pass(c);
    return search.id();
}

// "\ud83d" for the first half of a surrogate pair that has no other half; empty: there is none.
std::string half_of_pair(std::string_view text) {
    constexpr std::size_t length = 6;
    const auto is_half = [&](std::size_t at, std::string_view kinds) {
        if (at + length > text.size() || text[at] != '\\' || text[at + 1] != 'u') return false;
        const bool is_surrogate = text[at + 2] == 'd' || text[at + 2] == 'D';
        return is_surrogate && kinds.find(text[at + 3]) != std::string_view::npos;
    };
    for (std::size_t at = text.find('\\'); at < text.size(); at = text.find('\\', at)) {
        const bool is_first = is_half(at, "89abAB");
        const bool is_pair = is_first && is_half(at + length, "cdefCDEF");
        if (!is_pair && (is_first || is_half(at, "cdefCDEF")))
            return std::string(text.substr(at, length));
        at += is_pair ? 2 * length : 2;
    }
    return "";
}

// The protocol wants no id here, but a client without it waits for the answer for ever.
ProtocolError unreadable(std::string_view line) {
    std::string why = "the line is not JSON. Send each message as JSON.";
    if (const std::string half = half_of_pair(line); !half.empty())
        why = "a text has half of a surrogate pair (" + half + "). Send the request without it.";
    if (!edit::is_utf8(line)) why = "the line is not UTF-8. Send the request in UTF-8.";
    return {ErrorCode::kParse, "Parse error: " + why, nullptr, id_in(line)};
}

Line only(ProtocolError error) {
    return {{std::move(error)}, false};
}

}  // namespace

const Json& member(const Json& json, const char* name) {
    static const Json null;
    if (!json.is_object()) return null;
    const auto found = json.find(name);
    return found == json.end() ? null : *found;
}

std::string text_member(const Json& json, const char* name) {
    const Json& value = member(json, name);
    return value.is_string() ? value.get<std::string>() : std::string();
}

Line parse_line(std::string_view line) {
    if (line.size() > kMaxLine) return only(too_large(id_in(line)));
    if (is_too_deep(line))
        return only(invalid("Invalid Request: the message is too deep", id_in(line)));
    const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (json.is_discarded()) return only(unreadable(line));
    if (!json.is_array()) return {{parse_message(json)}, false};
    if (json.empty()) return only(invalid("Invalid Request: the batch is empty"));
    if (json.size() > kMaxBatch) return only(invalid("Invalid Request: the batch is too large"));
    Line parsed;
    parsed.batch = true;
    for (const Json& item : json)
        parsed.messages.push_back(parse_message(item));
    return parsed;
}

void IdSearch::pass(char c) {
    const bool is_quoted = in_string_;
    if (is_escaped_) {
        is_escaped_ = false;
    } else if (in_string_ && c == '\\') {
        is_escaped_ = true;
    } else if (c == '"') {
        in_string_ = !in_string_;
    }
    const bool opens = !is_quoted && (c == '{' || c == '[');
    const bool closes = !is_quoted && (c == '}' || c == ']');
    const bool is_outermost = depth_ == 1;
    if (opens) ++depth_;
    if (closes && depth_ > 0) --depth_;
    if (is_outermost && !is_quoted && (closes || c == ',')) return end_member();
    // One more than is parsed: then it is too long.
    if (is_outermost && member_.size() <= kMostOfIdMember) member_ += c;
}

void IdSearch::end_member() {
    const std::string text = std::exchange(member_, {});
    if (!id_.is_null() || text.size() > kMostOfIdMember) return;
    const Json json = Json::parse("{" + text + "}", nullptr, /*allow_exceptions=*/false);
    if (is_id(member(json, "id"))) id_ = member(json, "id");
}

ProtocolError too_large(Json id) {
    return invalid("Invalid Request: the message is too large", std::move(id));
}

Json result_of(const Json& id, Json result) {
    return Json{{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

Json error_of(const ProtocolError& error) {
    Json body{{"code", static_cast<int>(error.code)}, {"message", error.message}};
    if (!error.data.is_null()) body["data"] = error.data;
    return Json{{"jsonrpc", "2.0"}, {"id", error.id}, {"error", body}};
}

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace unwrite::mcp
