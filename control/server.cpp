#include "control/server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <exception>
#include <list>
#include <mutex>
#include <thread>

#include "base/log.h"
#include "base/syscalls.h"
#include "control/channel.h"
#include "control/rendezvous.h"

namespace unwrite::control {

namespace {

/// Signals are for the threads of the daemon that wait for them.
void block_signals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

class Server::Impl {
 public:
    Impl(overlay::Operations& operations, Service service, const ServerOptions& options)
        : options_(options),
          service_(std::move(service)),
          dispatch_(operations, service_, agents_) {}
    ~Impl();
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    Result<> start();
    const std::string& path() const { return listening_.path; }

 private:
    struct Connection {
        Connection(UniqueFd socket, const Client& who, std::uint64_t number)
            : channel(std::move(socket)), client(who), run(number) {}
        Channel channel;
        const Client client;
        const std::uint64_t run;  ///< of an agent; 0: it cannot be told
        std::atomic<bool> done = false;
        std::thread thread;
    };

    void accept_all();
    void admit(UniqueFd socket);
    void reap();
    void talk(Connection& connection);
    bool is_full(const Client& client, std::uint64_t run) const;
    static void send_away(UniqueFd socket, const Error& why);
    Result<Json> answer(const Client& from_the_start, const Request& request);

    const ServerOptions options_;
    Service service_;
    Agents agents_;
    Dispatch dispatch_;
    Listening listening_;
    UniqueFd stop_;
    std::thread acceptor_;
    std::mutex mutex_;
    std::list<Connection> connections_;  ///< guarded by mutex_
};

Result<> Server::Impl::start() {
    stop_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!stop_) return sys::last_error();
    TRY_ASSIGN(listening_, listen_at(options_.id, options_.mount_point));
    acceptor_ = std::thread([this] { accept_all(); });
    return {};
}

Server::Impl::~Impl() {
    if (!acceptor_.joinable()) return;
    const std::uint64_t one = 1;
    if (::write(stop_.get(), &one, sizeof one) != sizeof one)
        log::error("stop the control socket: no event");
    acceptor_.join();
    ignore(sys::unlink(listening_.directory.get(), listening_.name),
           "a dead socket is swept by the next daemon");
    const std::lock_guard lock(mutex_);
    // Reading ends; an answer that is under way is still written.
    for (Connection& connection : connections_)
        ::shutdown(connection.channel.fd(), SHUT_RD);
    for (Connection& connection : connections_)
        connection.thread.join();
}

void Server::Impl::accept_all() {
    block_signals();
    for (;;) {
        struct pollfd pollers[2] = {{stop_.get(), POLLIN, 0}, {listening_.socket.get(), POLLIN, 0}};
        if (::poll(pollers, 2, -1) < 0) continue;
        if (pollers[0].revents != 0) return;
        UniqueFd socket(::accept4(listening_.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
        reap();
        if (socket) {
            admit(std::move(socket));
        } else {
            // Out of descriptors, most likely: without a pause this would spin.
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    }
}

void Server::Impl::reap() {
    const std::lock_guard lock(mutex_);
    for (auto at = connections_.begin(); at != connections_.end();) {
        if (at->done) {
            at->thread.join();
            at = connections_.erase(at);
        } else {
            ++at;
        }
    }
}

/// Whether another connection of `client` would be too many. With the lock.
bool Server::Impl::is_full(const Client& client, std::uint64_t run) const {
    unsigned same = 0;
    unsigned own = 0;
    for (const Connection& other : connections_) {
        if (other.client.agent != client.agent) continue;
        ++same;
        if (other.run == run) ++own;
    }
    if (!client.agent) return same >= options_.most_clients;
    return own >= options_.most_of_run || same >= options_.most_of_runs;
}

void Server::Impl::send_away(UniqueFd socket, const Error& why) {
    ignore(
        Channel(std::move(socket)).write_line(format_answer(0, why), std::chrono::milliseconds(0)),
        "the client that is sent away need not listen");
}

void Server::Impl::admit(UniqueFd socket) {
    const Result<Peer> peer = peer_of(socket.get());
    if (!peer) return;
    if (peer->uid != ::geteuid() && peer->uid != 0) {
        return send_away(
            std::move(socket),
            Error(ErrorKind::kRefused, EPERM, "connect: the workspace is mounted by another user"));
    }
    // First the process, then whether it was still there: its number may be another's by now.
    const bool descends = agents_.is_agent(peer->pid);
    const Client client{*peer, descends || (agents_.any() && has_peer_ended(socket.get()))};
    const std::uint64_t run = client.agent ? agents_.run_of(peer->pid).value_or(0) : 0;
    const std::lock_guard lock(mutex_);
    if (is_full(client, run)) {
        return send_away(
            std::move(socket),
            Error(ErrorKind::kSystem, EAGAIN, "connect: too many clients at once", "try again"));
    }
    Connection& connection = connections_.emplace_back(std::move(socket), client, run);
    connection.thread = std::thread([this, &connection] {
        block_signals();
        talk(connection);
        ::shutdown(connection.channel.fd(), SHUT_RDWR);
        connection.done = true;
    });
}

void Server::Impl::talk(Connection& connection) {
    Channel& channel = connection.channel;
    for (;;) {
        const Result<std::string> line =
            channel.read_line(kMaxRequest, options_.idle, options_.transfer);
        if (!line && line.error().number() != EMSGSIZE) return;
        const Result<Request> request =
            line ? parse_request(*line)
                 : Error(ErrorKind::kUsage, EMSGSIZE,
                         "cannot read the request: it has more than 1 MiB");
        const Result<Json> outcome =
            request ? answer(connection.client, *request) : request.error();
        const std::string text = format_answer(request ? request->id : 0, outcome);
        if (!channel.write_line(text, options_.transfer) || !line) return;
    }
}

Result<Json> Server::Impl::answer(const Client& from_the_start, const Request& request) {
    // Libraries below may throw (no memory, for one); a daemon that dies takes the mount with it.
    try {
        Client client = from_the_start;
        client.agent = client.agent || agents_.is_agent(client.peer.pid);
        return dispatch_.call(client, request);
    } catch (const std::exception& exception) {
        log::error(std::string("answer a request: ") + exception.what());
        return Error(ErrorKind::kSystem, EIO,
                     std::string("cannot answer the request: ") + exception.what());
    }
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;
const std::string& Server::path() const {
    return impl_->path();
}

Result<std::unique_ptr<Server>> Server::start(overlay::Operations& operations, Service service,
                                              const ServerOptions& options) {
    auto impl = std::make_unique<Impl>(operations, std::move(service), options);
    TRY(impl->start());
    return std::unique_ptr<Server>(new Server(std::move(impl)));
}

}  // namespace unwrite::control
