// Server: answers requests on the session's socket, one thread per connection, until it is
// destroyed. Clients are the daemon's own user and root; which of them are agents the kernel's list
// of processes tells.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "control/dispatch.h"

namespace unwrite::control {

struct ServerOptions {
    std::string id;           ///< of the session; the socket is <id>.sock
    std::string mount_point;  ///< the socket is never put at or below it
    /// Connections at one time: the user's, those of one run, and those of all runs. Who has more
    /// is told so and sent away; the others do not notice.
    unsigned most_clients = 64;
    unsigned most_of_run = 16;
    unsigned most_of_runs = 64;
    std::chrono::milliseconds idle{30'000};      ///< for the next request to begin
    std::chrono::milliseconds transfer{10'000};  ///< for a request to arrive or an answer to leave
};

class Server {
 public:
    /// Listens and answers from now on. `operations` outlives the server.
    static Result<std::unique_ptr<Server>> start(overlay::Operations& operations, Service service,
                                                 const ServerOptions& options);
    /// Takes the socket away, lets calls that have begun finish, joins every thread.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    const std::string& path() const;

 private:
    class Impl;
    explicit Server(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace unwrite::control
