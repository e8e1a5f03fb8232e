// One call of a tool on its way, and what its client calls it.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "mcp/tools.h"

namespace unwrite::mcp {

struct ToolCall {
    const Tool* tool = nullptr;
    Json arguments{};
    std::string cause{};    ///< ToolSession::cause
    Json progress_token{};  ///< a string or a number; null: the client wants no progress
    std::string shown{};    ///< what the user was shown of it before they are to agree
};

/// What a client says of a call beside its arguments: its name, its progress token, the numbers of
/// its turn, as a JSON object of at most 2000 bytes. `meta` is params._meta, `client` its
/// Implementation, as far as it gave one. What does not fit is left out.
std::string cause_of(const Json& meta, const Json& client);

/// Tells the client, each time that `every` has passed, that its call goes on, from a thread of its
/// own that uses `send` until this is destroyed. Does nothing for a token that is null.
class Progress {
 public:
    Progress(const ToolCall& call, const std::function<void(const std::string& line)>& send,
             std::chrono::milliseconds every);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

 private:
    std::jthread thread_;
};

}  // namespace unwrite::mcp
