#include "cli/network/proxy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <list>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/pseudo_terminal.h"
#include "base/syscalls.h"
#include "base/tcp.h"
#include "cli/network/copying.h"
#include "cli/network/request.h"
#include "cli/network/traffic.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

constexpr std::chrono::seconds kHeadTime(30);
constexpr std::chrono::milliseconds kConnectTime(15'000);
constexpr std::size_t kMostConnections = 256;
constexpr int kLookMs = 100;  ///< how often there may be room for another connection again
constexpr std::uint64_t kLongestLog = 8U << 20;

/// One connection from inside.
struct Connection {
    UniqueFd client{};
    const Endpoint* forward = nullptr;  ///< where it goes; null: it says so itself
    std::int64_t began_ns = wall_clock_ns();
    Bytes bytes{};
    std::atomic<bool> has_ended{false};
    std::thread thread{};
    // Under the proxy's mutex:
    std::string name{};  ///< "": not known yet
    Passed passed = Passed::kFailed;
    std::string why{};
};

const char* word_of(Passed passed) {
    if (passed == Passed::kAllowed) return "allowed";
    return passed == Passed::kRefused ? "refused" : "not reached";
}

std::string line_of(const Connection& connection) {
    std::string line = fmt::format("{}  {}  {}", time_words(connection.began_ns),
                                   word_of(connection.passed), harmless(connection.name));
    if (connection.passed == Passed::kAllowed) {
        line += fmt::format("  sent {}  received {}", connection.bytes.sent.load(),
                            connection.bytes.received.load());
    }
    if (!connection.why.empty()) line += "  (" + harmless(connection.why) + ")";
    return line + "\n";
}

class Proxy {
 public:
    Proxy(ProxyOptions options, UniqueFd channel, UniqueFd lifeline)
        : options_(std::move(options)),
          forwards_(forwarded(options_.endpoints)),
          channel_(std::move(channel)),
          lifeline_(std::move(lifeline)) {}

    void run();
    [[noreturn]] void end();

 private:
    struct Listener {
        UniqueFd socket;
        const Endpoint* forward = nullptr;
    };

    void take_listener();
    void accept(const Listener& listener);
    void collect();
    void serve(Connection& connection);
    void serve_request(Connection& connection);
    void join(Connection& connection, const Endpoint& to, std::string first, bool is_tunnel);
    std::string read_head(Connection& connection, std::string& rest) const;
    Result<UniqueFd> dial(const Endpoint& to) const;
    void decide(Connection& connection, std::string name, Passed passed,
                const std::string& why = {});
    void refuse(Connection& connection, int status, const std::string& words);
    void record(const Connection& connection);
    void write_line(const std::string& line);

    const ProxyOptions options_;
    const std::vector<Endpoint> forwards_;
    UniqueFd channel_;
    UniqueFd lifeline_;
    std::list<Listener> listeners_;
    std::list<Connection> connections_;  ///< the list is this thread's; see Connection
    std::mutex mutex_;                   ///< for what follows
    Traffic traffic_;
    UniqueFd log_;
    std::uint64_t written_ = 0;
};

void Proxy::take_listener() {
    Result<sys::Received> received = sys::receive_descriptor(channel_.get());
    if (!received) return channel_.reset();
    if (!received->fd) return;
    const auto number = static_cast<std::size_t>(static_cast<unsigned char>(received->kind));
    if (received->kind != kProxyListener && number >= forwards_.size()) return;
    listeners_.push_back(
        {std::move(received->fd), received->kind == kProxyListener ? nullptr : &forwards_[number]});
}

/// Joins the threads of what has ended.
void Proxy::collect() {
    for (auto one = connections_.begin(); one != connections_.end();) {
        if (!one->has_ended) {
            ++one;
            continue;
        }
        one->thread.join();
        one = connections_.erase(one);
    }
}

void Proxy::accept(const Listener& listener) {
    Result<UniqueFd> client = sys::accept_from(listener.socket.get());
    if (!client) return;
    Connection& connection = connections_.emplace_back();
    connection.client = *std::move(client);
    connection.forward = listener.forward;
    connection.thread = std::thread([this, &connection] { serve(connection); });
}

void Proxy::run() {
    for (;;) {
        collect();
        const bool has_room = connections_.size() < kMostConnections;
        std::vector<struct pollfd> watched = {{lifeline_.get(), POLLIN, 0},
                                              {channel_.get(), POLLIN, 0}};
        for (const Listener& listener : listeners_)
            watched.push_back({has_room ? listener.socket.get() : -1, POLLIN, 0});
        if (::poll(watched.data(), watched.size(), has_room ? -1 : kLookMs) < 0) continue;
        if (watched[0].revents != 0) return;
        std::size_t at = 2;
        for (const Listener& listener : listeners_)
            if (watched[at++].revents != 0) accept(listener);
        if (watched[1].revents != 0) take_listener();
    }
}

/// What still goes on is counted and written down as far as it has come.
void Proxy::end() {
    collect();
    const std::lock_guard lock(mutex_);
    for (const Connection& connection : connections_)
        if (!connection.name.empty() && !connection.has_ended) record(connection);
    const std::string text = encode_traffic(traffic_);
    // Nobody may be there to read it. The threads end with the process: what they wait for, a
    // resolver for example, cannot be cut short.
    ::_exit(::write(lifeline_.get(), text.data(), text.size()) < 0 ? 1 : 0);
}

void Proxy::serve(Connection& connection) {
    if (connection.forward != nullptr) {
        join(connection, *connection.forward, {}, false);
    } else {
        serve_request(connection);
    }
    connection.client.reset();
    const std::lock_guard lock(mutex_);
    if (!connection.name.empty()) record(connection);
    connection.has_ended = true;
}

/// "" where no whole head comes. `rest`: what came behind it.
std::string Proxy::read_head(Connection& connection, std::string& rest) const {
    const auto end = std::chrono::steady_clock::now() + kHeadTime;
    std::string text;
    char piece[4096];
    while (text.size() <= kLongestHead) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            end - std::chrono::steady_clock::now());
        struct pollfd watched = {connection.client.get(), POLLIN, 0};
        if (left.count() <= 0 || ::poll(&watched, 1, static_cast<int>(left.count())) == 0) break;
        const Result<std::size_t> got = sys::receive(connection.client.get(), piece, sizeof piece);
        if (!got && got.error().number() == EAGAIN) continue;
        if (!got || *got == 0) break;
        text.append(piece, *got);
        const std::size_t length = length_of_head(text);
        if (length == 0) continue;
        rest = text.substr(length);
        return text.substr(0, length);
    }
    rest = text;
    return {};
}

void Proxy::serve_request(Connection& connection) {
    std::string rest;
    const std::string head = read_head(connection, rest);
    // Whoever connects and asks for nothing has not been refused anything.
    if (head.empty() && rest.empty()) return;
    const std::optional<ProxyRequest> request = parse_request(head);
    if (!request) {
        decide(connection, std::string(kNoRequest), Passed::kRefused);
        return refuse(connection, 400, "this is not a request that a proxy understands");
    }
    const std::optional<Endpoint> to =
        allowed(options_.endpoints, request->to.host, request->to.port);
    if (!to) {
        decide(connection, words_of(request->to), Passed::kRefused);
        return refuse(connection, 403,
                      words_of(request->to) +
                          " is not one of the endpoints of this run "
                          "(--network model)");
    }
    join(connection, *to, request->is_tunnel ? rest : request->head + rest, request->is_tunnel);
}

void Proxy::join(Connection& connection, const Endpoint& to, std::string first, bool is_tunnel) {
    const Result<UniqueFd> server = dial(to);
    if (!server) {
        const bool is_refused = server.error().kind() == ErrorKind::kRefused;
        decide(connection, words_of(to), is_refused ? Passed::kRefused : Passed::kFailed,
               server.error().message());
        if (connection.forward != nullptr) return;
        return refuse(connection, is_refused ? 403 : 502,
                      words_of(to) + ": " + server.error().message());
    }
    decide(connection, words_of(to), Passed::kAllowed);
    if (is_tunnel)
        send_answer(connection.client.get(), "HTTP/1.1 200 Connection established\r\n\r\n");
    copy_both_ways(connection.client.get(), server->get(), std::move(first), connection.bytes);
}

/// Connects to the addresses that were looked at: a name that is resolved twice may lead elsewhere.
Result<UniqueFd> Proxy::dial(const Endpoint& to) const {
    TRY_ASSIGN(const std::vector<sys::TcpAddress> addresses, sys::addresses_of(to.host, to.port));
    Error why(ErrorKind::kRefused, EACCES,
              "its name leads to an address of this machine or of a private network");
    for (const sys::TcpAddress& address : addresses) {
        if (!to.is_own && !sys::is_public(address)) continue;
        Result<UniqueFd> server = sys::connect_to(address, kConnectTime);
        if (server) return server;
        why = server.error();
    }
    return why;
}

void Proxy::decide(Connection& connection, std::string name, Passed passed,
                   const std::string& why) {
    const std::lock_guard lock(mutex_);
    connection.name = std::move(name);
    connection.passed = passed;
    connection.why = why;
}

void Proxy::refuse(Connection& connection, int status, const std::string& words) {
    const std::string text = "unwrite: " + words + "\n";
    const char* const reason = status == 403   ? "Refused by unwrite"
                               : status == 400 ? "Bad Request"
                                               : "Bad Gateway";
    finish_with(connection.client.get(),
                fmt::format("HTTP/1.1 {} {}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n"
                            "Connection: close\r\n\r\n{}",
                            status, reason, text.size(), text));
}

/// Under the mutex.
void Proxy::record(const Connection& connection) {
    traffic_.add(connection.passed, connection.name,
                 {1, connection.bytes.sent, connection.bytes.received});
    write_line(line_of(connection));
}

void Proxy::write_line(const std::string& line) {
    if (options_.log.empty() || written_ > kLongestLog) return;
    if (!log_) {
        Result<UniqueFd> log =
            sys::open_at(AT_FDCWD, options_.log, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0600);
        written_ = log ? 0 : kLongestLog + 1;
        if (!log) return;
        log_ = *std::move(log);
        traffic_.log = options_.log;
    }
    written_ += line.size();
    const std::string last =
        written_ > kLongestLog ? "What came after this is only counted.\n" : "";
    const std::string text = line + last;
    // A full disk costs the list its lines; the counts are kept.
    if (::write(log_.get(), text.data(), text.size()) < 0) written_ = kLongestLog + 1;
}

}  // namespace

std::vector<Endpoint> forwarded(const std::vector<Endpoint>& endpoints) {
    std::vector<Endpoint> all;
    std::copy_if(endpoints.begin(), endpoints.end(), std::back_inserter(all), is_on_this_machine);
    return all;
}

void be_proxy(ProxyOptions options, UniqueFd channel, UniqueFd lifeline) {
    Proxy proxy(std::move(options), std::move(channel), std::move(lifeline));
    proxy.run();
    proxy.end();
}

}  // namespace unwrite::cli
