#include "tests/fs/served.h"

#include <sys/socket.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <sstream>
#include <thread>

#include "tests/fs/slow_tree.h"

namespace unwrite::tests {

namespace {

using Clock = std::chrono::steady_clock;
fs::Mount* g_mount = nullptr;

bool send_line(int fd, const std::string& line) {
    const std::string text = line + "\n";
    return ::send(fd, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

/// Empty at the end.
std::string receive_line(int fd) {
    std::string line;
    for (char c = 0; ::recv(fd, &c, 1, 0) == 1;) {
        if (c == '\n') return line;
        line += c;
    }
    return {};
}

template <class T>
std::string verdict(const Result<T>& result) {
    return result ? "ok" : result.error().message();
}

/// The daemon's side of order().
class Orders {
 public:
    Orders(overlay::Session& session, SlowTree& tree, fs::Mount& mount, std::string directory)
        : session_(session), tree_(tree), mount_(mount), directory_(std::move(directory)) {}

    std::string obey(const std::string& order) {
        std::istringstream words(order);
        std::string verb;
        std::string object;
        words >> verb >> object;
        const overlay::Asker asker{0, ::getpid(), ""};
        constexpr overlay::Consent kAll = overlay::Consent::kAll;
        if (verb == "checkpoint") {
            return verdict(session_.operations().checkpoint(asker, overlay::NodeKind::kCheckpoint,
                                                            "point", ""));
        }
        if (verb == "rollback") {
            const auto back = session_.operations().rollback(asker, "", false, kAll);
            if (back || back.error().kind() != ErrorKind::kNotFound) return verdict(back);
            return verdict(session_.operations().rollback(asker, "root", false, kAll));
        }
        if (verb == "task") return verdict(session_.operations().commit(asker, "", true));
        if (verb == "discard") {
            return verdict(session_.operations().discard(asker, false, overlay::Consent::kAll));
        }
        if (verb == "run") {
            const overlay::Asker agent{0, std::stoi(object), "agent"};
            return verdict(session_.operations().begin_run(agent, "test"));
        }
        if (verb == "records") {
            const auto checked = session_.operations().check(false);
            return checked ? std::to_string(checked->records) : checked.error().message();
        }
        if (verb == "asked") return std::to_string(tree_.asked);
        if (verb == "write_back") mount_.write_back();
        if (verb == "settle" && !mount_.settle(30'000)) return "not settled";
        if (verb == "hold") held(object) = true;
        if (verb == "release")
            tree_.holds = tree_.holds_writes = tree_.holds_reads = tree_.holds_sizes = false;
        if (verb == "held") return std::to_string(tree_.held);
        if (verb == "open") {
            return verdict(sys::open_at(AT_FDCWD, directory_ + "/" + object, O_RDONLY));
        }
        return "ok";
    }

 private:
    std::atomic<bool>& held(const std::string& object) {
        if (object == "writes") return tree_.holds_writes;
        if (object == "reads") return tree_.holds_reads;
        return object == "sizes" ? tree_.holds_sizes : tree_.holds;
    }

    overlay::Session& session_;
    SlowTree& tree_;
    fs::Mount& mount_;
    std::string directory_;
};

void answer_orders(int fd, Orders& orders) {
    for (std::string order = receive_line(fd); !order.empty(); order = receive_line(fd)) {
        if (!send_line(fd, orders.obey(order))) return;
    }
}

}  // namespace

/// The life of the daemon: never returns.
void Served::serve(int orders) const {
    auto finish = [&](const std::string& failure) {
        send_line(orders, failure);
        ::_exit(1);
    };
    // The signal is for this thread: those that the session and the mount start inherit the mask.
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &end, nullptr);
    auto workspace = sys::open_at(AT_FDCWD, scratch_.path(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!workspace) return finish(workspace.error().message());
    // All tests of this folder hold in every mode (tests/README.md).
    overlay::SessionOptions options = options_;
    options.checksum_after = std::chrono::milliseconds(0);
    const char* cold = std::getenv("UNWRITE_COMPRESS_AFTER");
    if (cold != nullptr && std::string(cold) == "0")
        options.compress_after = std::chrono::milliseconds(0);
    auto session = overlay::Session::open(std::move(*workspace), options);
    if (!session) return finish("session: " + session.error().message());
    SlowTree tree((*session)->tree());
    fs::MountOptions mounting = mounting_;
    mounting.mountpoint = scratch_.path();
    mounting.source_name = "unwrite:test,with\\signs";
    mounting.allow_other = ::geteuid() == 0;
    const char* path = std::getenv("UNWRITE_DATA_PATH");
    if (path != nullptr && std::string(path) == "passthrough" && fs::can_pass_through(raw()))
        mounting.data_path = fs::DataPathKind::kPassthrough;
    const char* caches = std::getenv("UNWRITE_CACHES");
    mounting.keep_long = caches == nullptr || std::string(caches) != "short";
    const char* spin = std::getenv("UNWRITE_SPIN");
    mounting.spin = spin == nullptr || std::string(spin) != "no";
    const char* idle = std::getenv("UNWRITE_IDLE");
    if (idle != nullptr && std::string(idle) == "awake") mounting.idle = fs::Idle::kAwake;
    if (idle != nullptr && std::string(idle) == "asleep") mounting.idle = fs::Idle::kAsleep;
    auto mount = fs::Mount::create(tree, mounting);
    if (!mount) return finish(mount.error().message());
    g_mount = mount->get();
    std::signal(SIGTERM, [](int) { g_mount->stop(); });
    Orders obedience(**session, tree, **mount, scratch_.path());
    std::thread listener([&] { answer_orders(orders, obedience); });
    pthread_sigmask(SIG_UNBLOCK, &end, nullptr);
    send_line(orders, "mounted");
    const auto served = (*mount)->serve();
    ::shutdown(orders, SHUT_RDWR);
    listener.join();
    mount->reset();
    session->reset();
    ::_exit(served ? 0 : 1);
}

Served::Served(uid_t uid, overlay::SessionOptions options, fs::MountOptions mounting)
    : options_(std::move(options)), mounting_(std::move(mounting)) {
    auto raw = sys::open_at(AT_FDCWD, scratch_.path(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int pair[2] = {-1, -1};
    if (!raw || ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        failure_ = "no scratch directory or socket";
        return;
    }
    raw_ = std::move(*raw);
    if (uid != 0) std::filesystem::permissions(scratch_.path(), std::filesystem::perms(0777));
    if (uid != 0 && ::fchown(raw_.get(), uid, uid) != 0) failure_ = "chown";
    daemon_ = ::fork();
    if (daemon_ == 0) {
        const UniqueFd other(pair[0]);
        if (uid != 0 && (::setgid(uid) != 0 || ::setuid(uid) != 0)) ::_exit(1);
        serve(pair[1]);
        ::_exit(1);
    }
    orders_.reset(pair[0]);
    const UniqueFd other(pair[1]);
    const std::string first = receive_line(orders_.get());
    if (first != "mounted") failure_ = first.empty() ? "the daemon died" : first;
}

Served::~Served() {
    if (daemon_ > 0) stop();
    ignore(fs::unmount_stale(scratch_.path()), "usually there is none any more");
}

std::filesystem::path Served::path(const std::string& name) const {
    return scratch_.path() / name;
}

std::string Served::read(const std::string& name) const {
    return scratch_.read(name);
}

void Served::write(const std::string& name, std::string_view text) const {
    scratch_.write(name, text);
}

std::string Served::read_raw(const std::string& name) const {
    auto text = sys::read_file_at(raw_.get(), name);
    return text ? *std::move(text) : "? " + text.error().message();
}

std::string Served::order(const std::string& words) {
    if (!send_line(orders_.get(), words)) return {};
    return receive_line(orders_.get());
}

void Served::wait_until_held(int requests) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    std::string held = order("held");
    while (held != std::to_string(requests)) {
        if (held.empty() || std::chrono::steady_clock::now() > end) {
            ADD_FAILURE() << held << " of " << requests << " requests are held";
            order("release");
            return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        held = order("held");
    }
}

void Served::kill_daemon() const {
    ::kill(daemon_, SIGKILL);
}

int Served::stop() {
    if (daemon_ <= 0) return 0;
    ::kill(daemon_, SIGTERM);
    return wait_for_exit();
}

int Served::wait_for_exit(int seconds) {
    const auto end = Clock::now() + std::chrono::seconds(seconds);
    int status = 0;
    while (::waitpid(daemon_, &status, WNOHANG) == 0) {
        if (Clock::now() > end) {
            kill_daemon();
            ::waitpid(daemon_, &status, 0);
            daemon_ = -1;
            return -1;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    daemon_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool may_mount(uid_t uid) {
    const pid_t probe = ::fork();
    if (probe == 0) ::_exit(::setuid(uid) == 0 && fs::is_fuse_available() ? 0 : 1);
    int status = 1;
    ::waitpid(probe, &status, 0);
    return status == 0;
}

}  // namespace unwrite::tests
