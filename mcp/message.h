// One line of the protocol (JSON-RPC 2.0), read and written. Any bytes may arrive; what cannot be
// understood is a ProtocolError with the number that the protocol has for it.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace unwrite::mcp {

using Json = nlohmann::ordered_json;

inline constexpr std::size_t kMaxLine = std::size_t{4} << 20;
inline constexpr unsigned kMaxDepth = 64;
inline constexpr std::size_t kMaxBatch = 64;

enum class ErrorCode : int {
    kParse = -32700,
    kInvalidRequest = -32600,
    kNoMethod = -32601,
    kInvalidParams = -32602,
    kInternal = -32603,
    kNoResource = -32002,
    kVersion = -32022,
};

struct ProtocolError {
    ErrorCode code = ErrorCode::kInternal;
    std::string message{};
    Json data{};  ///< null: none
    Json id{};    ///< of the request, as far as it could be read
};

enum class MessageKind { kRequest, kNotification, kResponse };

struct Message {
    MessageKind kind = MessageKind::kRequest;
    Json id{};  ///< a string or a number; null in a notification
    std::string method{};
    Json params = Json::object();
    Json result{};  ///< of a response; null when it carries an error
};

using Parsed = std::variant<Message, ProtocolError>;

/// One line without its newline: one message, or several when it is a batch. Never empty.
struct Line {
    std::vector<Parsed> messages{};
    bool batch = false;
};
Line parse_line(std::string_view line);

/// The id of a message that is not parsed (it is too large, or not JSON), found while it passes by:
/// a short member of the outermost object, wherever it stands. Clients often write it last.
class IdSearch {
 public:
    void pass(char c);
    const Json& id() const { return id_; }  ///< null: none so far

 private:
    void end_member();

    Json id_{};
    std::string member_{};  // of the outermost object, what of it is not in a deeper one
    unsigned depth_ = 0;
    bool in_string_ = false;
    bool is_escaped_ = false;
};
/// What is wrong with such a message.
ProtocolError too_large(Json id);

Json result_of(const Json& id, Json result);
Json error_of(const ProtocolError& error);

/// On one line; bytes that are not UTF-8 become U+FFFD.
std::string dump(const Json& json);

/// A member of an object, or null; never throws.
const Json& member(const Json& json, const char* name);
/// Its text; empty when it is none.
std::string text_member(const Json& json, const char* name);

}  // namespace unwrite::mcp
