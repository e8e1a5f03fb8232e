// The protocol: which requests there are, in both of its eras (the handshake up to 2025-11-25, and
// 2026-07-28 where each request says its version). One Server is one connection, which is one
// session of the tools. Knows no descriptor; not thread-safe.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/call.h"
#include "mcp/message.h"
#include "mcp/room.h"
#include "mcp/tools.h"

namespace unwrite::mcp {

/// Who is asked before a tool changes anything.
enum class Approval {
    kClient,  ///< the host, which knows the tools' annotations
    kElicit,  ///< the user, through the client; else the call is held back until it is confirmed
    kDeny,    ///< nobody: such tools are refused
};

struct ServerOptions {
    Enter enter;
    edit::Settings settings{};
    Approval approval = Approval::kClient;
    bool revert_to_state = false;  ///< the tool is offered
    /// How often a client that wants to know hears that its call goes on.
    std::chrono::milliseconds progress_every = std::chrono::seconds(1);
};

class Server {
 public:
    /// Gets each answer, one line without its newline; of calls that take long also progress, from
    /// another thread.
    using Send = std::function<void(const std::string& line)>;

    Server(ServerOptions options, Send send);

    /// One line from the client. Nothing is done yet but what cannot wait: a cancellation takes its
    /// request out of those that wait.
    void take(std::string_view line);
    /// A line of more than kMaxLine bytes; null: its id was not found.
    void take_too_large(const Json& id) { queue_.push_back({too_large(id), nullptr}); }
    /// Does the oldest request that waits; false when there is none.
    bool step();
    std::size_t waiting() const { return queue_.size(); }
    /// Called while a call waits for a person: hands over what has arrived, without waiting. False
    /// when nobody is there any more. Pings are answered then, and the call can be cancelled.
    void listen_with(std::function<bool()> listen) { listen_ = std::move(listen); }
    /// For when nothing waits: carries out what revert_to_state noted. True when it could not yet,
    /// and wants to be called again.
    bool settle();

 private:
    struct Batch {
        std::size_t left = 0;
        Json answers = Json::array();
    };
    struct Item {
        Parsed parsed;
        std::shared_ptr<Batch> batch;  ///< null: alone
    };
    /// A request with what its era says of it.
    struct Call {
        const Message& message;
        bool modern = false;
        Json capabilities{};  ///< the client's
        Json client{};        ///< its name
    };
    using Handled = std::variant<Json, ProtocolError>;
    struct Method {
        const char* name;
        Handled (Server::*handle)(const Call&);
        bool before_handshake;
    };
    static const Method kMethods[];

    /// While the running call waits; false: it is not wanted any more.
    bool go_on();
    void answer(const Item& item, Json json);
    void close(const Item& item);
    std::optional<Json> handle(const Message& message);
    std::optional<Json> respond(const Message& request);
    void notified(const Message& message);
    Json complete(const Call& call, Json result) const;
    static Handled handled(const Call& call, Result<Json> result);

    Handled initialize(const Call& call);
    Handled discover(const Call& call);
    Handled ping(const Call& call);
    Handled list_tools(const Call& call);
    Handled call_tool(const Call& call);
    Handled list_resources(const Call& call);
    Handled list_templates(const Call& call);
    Handled read_resource(const Call& call);
    Handled list_prompts(const Call& call);
    Handled get_prompt(const Call& call);
    Handled complete_argument(const Call& call);

    bool is_offered(const Tool& tool) const;
    /// session_.enter; the first time, what the workspace is at before this connection did
    /// anything.
    Result<std::unique_ptr<Room>> enter(const Enter& enter);
    Json run_tool(const ToolCall& work);
    /// Nothing when the tool may go on.
    std::optional<Handled> approve(const Call& call, const ToolCall& work);
    /// The client cannot ask the user, who is to be asked.
    bool confirms(const Call& call) const;
    Json hold_back(ToolCall work);
    Json confirm(const Call& call);
    std::optional<Handled> ask_modern(const Call& call, ToolCall work);
    /// A null result: the user was asked, and the answer comes later.
    Handled ask_legacy(const Json& request, ToolCall work);
    void answered(const Message& response);

    struct Asked {
        Json request;  ///< the id of the call
        ToolCall work;
    };
    std::string keep_waiting(ToolCall work);
    std::optional<ToolCall> take_waiting(const std::string& token);
    /// What it would do is still what the user was shown.
    bool does_as_shown(const ToolCall& work);

    const Approval approval_;
    const std::chrono::milliseconds progress_every_;
    ToolSession session_;
    const Send send_;
    std::deque<Item> queue_;
    std::function<bool()> listen_{};
    Json running_{};          ///< the id of the request that is carried out
    bool cancelled_ = false;  ///< it is not wanted any more
    bool initialized_ = false;
    Json capabilities_{};                      ///< the client's, of the handshake
    Json client_{};                            ///< its name
    std::map<std::string, Asked> asked_;       ///< by the id of our question
    std::map<std::string, ToolCall> waiting_;  ///< by the token or state that lets it go on
    std::uint64_t next_question_ = 1;
};

/// An entry of tools/list: the tool of those clients that cannot ask the user.
Json confirm_description();

}  // namespace unwrite::mcp
