// The protocol of the socket: one JSON object on one line asks, one answers. docs/cli.md describes
// it for others.
//   {"id": 1, "command": "status", "arguments": {"since": "n3"}}
//   {"id": 1, "ok": true, "result": {...}}
//   {"id": 1, "ok": false, "error": {"kind": "nothing", "number": 0, "text": "...", "hint":
//   "..."}}
// Names are bytes: a JSON string where they are UTF-8, else {"bytes": "<base64>"}.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace unwrite::control {

using Json = nlohmann::json;

inline constexpr std::size_t kMaxRequest = std::size_t{1} << 20;
inline constexpr std::size_t kMaxAnswer = std::size_t{64} << 20;
inline constexpr unsigned kMaxDepth = 32;

struct Request {
    std::uint64_t id = 0;
    std::string command;
    Json arguments = Json::object();
};

/// Any bytes at all: a JSON document within the limits of size and depth, or kUsage.
Result<Json> parse_json(std::string_view text, std::size_t max_size);
Result<Request> parse_request(std::string_view line);
/// The result of an answer, or the error it carries; kCorrupt when it is no answer to request `id`.
Result<Json> parse_answer(std::string_view line, std::uint64_t id);

/// Lines without their newline.
std::string format_request(const Request& request);
std::string format_answer(std::uint64_t id, const Result<Json>& outcome);

Json encode_bytes(std::string_view bytes);
Result<std::string> decode_bytes(const Json& json);
bool is_utf8(std::string_view bytes);

Json encode_error(const Error& error);
Error decode_error(const Json& json);

/// One document on one line; bytes that are not UTF-8 and reached a text by mistake are replaced.
std::string dump(const Json& json);

}  // namespace unwrite::control
