#include "cli/daemon.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/log.h"
#include "base/process_title.h"
#include "base/syscalls.h"
#include "cli/annex.h"
#include "cli/config_service.h"
#include "cli/editing_room.h"
#include "cli/known_agents.h"
#include "cli/text.h"
#include "control/rendezvous.h"
#include "control/server.h"
#include "fs/mount.h"
#include "journal/ballast.h"
#include "journal/state_dir.h"
#include "overlay/refused.h"
#include "overlay/unmatched_rules.h"
#include "overlay/walk.h"

namespace unwrite::cli {

namespace {

sigset_t ending_signals() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP})
        ::sigaddset(&set, signal);
    return set;
}

/// Waits for a signal in a thread of its own and stops the mount. The signals must be blocked
/// everywhere before.
class SignalWatch {
 public:
    static Result<std::unique_ptr<SignalWatch>> start(fs::Mount& mount) {
        auto watch = std::unique_ptr<SignalWatch>(new SignalWatch);
        const sigset_t set = ending_signals();
        watch->signals_ = UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC));
        watch->end_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
        if (!watch->signals_ || !watch->end_) return sys::last_error();
        watch->thread_ = std::thread([raw = watch.get(), &mount] { raw->wait(mount); });
        return watch;
    }
    ~SignalWatch() {
        if (!thread_.joinable()) return;
        const std::uint64_t one = 1;
        if (::write(end_.get(), &one, sizeof one) != sizeof one)
            log::error("end the watch for signals");
        thread_.join();
    }
    SignalWatch(const SignalWatch&) = delete;
    SignalWatch& operator=(const SignalWatch&) = delete;

 private:
    SignalWatch() = default;
    void wait(fs::Mount& mount) const {
        std::array<struct pollfd, 2> pollers = {
            {{end_.get(), POLLIN, 0}, {signals_.get(), POLLIN, 0}}};
        while (::poll(pollers.data(), pollers.size(), -1) < 0) {
        }
        if (pollers[0].revents != 0) return;
        log::info("a signal asks for the end");
        mount.stop();
    }

    UniqueFd signals_;
    UniqueFd end_;
    std::thread thread_;
};

control::DaemonInfo describe(const DaemonOptions& options, const overlay::Found& found,
                             const struct stat& st, const std::string& id) {
    control::DaemonInfo info;
    info.version = UNWRITE_VERSION;
    info.id = id;
    info.workspace = options.directory;
    info.mount_point = options.mount_point;
    info.pid = ::getpid();
    info.device = st.st_dev;
    info.inode = st.st_ino;
    info.fresh = found.fresh;
    info.interrupted = found.interrupted;
    info.finished_restore = found.finished_restore;
    info.task_open = found.task_open;
    info.set_aside = found.set_aside;
    info.in_use = found.in_use;
    info.retention = options.config.retention;
    return info;
}

// A daemon that cannot do this serves all the same; the next edit tries again.
std::vector<std::string> taken_back(overlay::Operations& operations, int workspace) {
    const auto paths = [&]() -> Result<std::vector<std::string>> {
        TRY_ASSIGN(UniqueFd root, sys::duplicate(workspace));
        return finish_edits(operations, std::move(root));
    }();
    if (!paths) log::warning("finish an edit that was killed: " + paths.error().message());
    return paths ? *paths : std::vector<std::string>();
}

/// A mount does not wait for a walk over a large tree.
constexpr std::size_t kMostNamesAtMount = 10'000;

void warn_of_unmatched(const Config& config, int workspace) {
    const auto unmatched = overlay::unmatched_rules(config.rules, workspace, kMostNamesAtMount);
    if (!unmatched) return log::warning("try the rules: " + unmatched.error().message());
    for (const overlay::Rule& rule : *unmatched)
        log::warning("a rule is about nothing that is here: " + overlay::describe(rule));
}

/// What the agent left is ending, or has its working directory there, for a moment.
constexpr int kTriesToUnmount = 10;
constexpr auto kBetweenTries = std::chrono::milliseconds(200);

/// Never lazily: whoever uses the mount keeps it. It is tried again when the next session has gone.
void unmount_if_unused(const std::string& mount_point) {
    for (int i = 0; i < kTriesToUnmount; ++i) {
        const Result<> done = fs::unmount_unused(mount_point);
        if (done) return log::info("the last session has gone");
        if (done.error().number() != EBUSY)
            return log::warning("unmount: " + done.error().message());
        std::this_thread::sleep_for(kBetweenTries);
    }
    log::info("the last session has gone; the mount is in use and stays");
}

/// What the history takes. Not counted: a displaced object that has another name, for it is the
/// workspace's; and the ballast, which is there from the beginning and holds nothing.
Result<std::uint64_t> bytes_of_state(int workspace) {
    TRY_ASSIGN(UniqueFd state,
               sys::open_at(workspace, journal::StateDir::kName, O_RDONLY | O_DIRECTORY));
    std::uint64_t bytes = 0;
    TRY(overlay::walk_below(std::move(state), [&](const std::string& path, const sys::StatX& x) {
        const bool shared = path.starts_with("attic/") && x.st.st_nlink > 1;
        constexpr std::uint64_t kBlock = 512;  // the unit of st_blocks
        if (S_ISREG(x.st.st_mode) && !shared && path != journal::Ballast::kFile)
            bytes += static_cast<std::uint64_t>(x.st.st_blocks) * kBlock;
        return true;
    }));
    return bytes;
}

/// The daemon was forked by `unwrite run -- claude`: `pkill -f claude` is not meant for it, nor is
/// `pkill claude` where the directory is named so.
std::string title_of(const std::string& directory) {
    const std::string name = directory.substr(directory.rfind('/') + 1);
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const KnownAgent& agent : known_agents()) {
        if (lower.find(agent.name) != std::string::npos) return "unwrite: mount";
    }
    return "unwrite: " + harmless(name);
}

struct Served {
    std::shared_ptr<UniqueFd> workspace;  ///< the raw directory, to read the configuration anew
    std::unique_ptr<overlay::Session> session;
    std::unique_ptr<fs::Mount> mount;
    std::unique_ptr<control::Server> server;
    std::unique_ptr<SignalWatch> signals;  ///< goes first
    control::DaemonInfo info;
};

/// From here on the program's messages go to the state directory's daemon.log.
Result<> open_log(int workspace) {
    if (std::getenv("UNWRITE_LOG") == nullptr) log::set_level(log::Level::kInfo);
    TRY_ASSIGN(const UniqueFd state, sys::open_at(workspace, ".unwrite", O_RDONLY | O_DIRECTORY));
    TRY_ASSIGN(UniqueFd file,
               sys::open_at(state.get(), "daemon.log", O_WRONLY | O_CREAT | O_APPEND, 0600));
    log::set_output(std::move(file));
    return {};
}

Result<Served> open_all(DaemonOptions& options, bool keep_stderr) {
    TRY_ASSIGN(const struct stat st, sys::stat_fd(options.workspace.get()));
    TRY_ASSIGN(UniqueFd workspace, sys::duplicate(options.workspace.get()));
    TRY_ASSIGN(const auto policy, options.config.policy());
    Served served;
    overlay::SessionOptions opening = options.config.session_options(true, policy);
    add_annex(opening, options.directory);
    TRY_ASSIGN(served.session, overlay::Session::open(std::move(options.workspace), opening));
    TRY_ASSIGN(const std::string id, control::session_id_of(workspace.get(), options.mount_point));
    if (!keep_stderr) TRY(open_log(workspace.get()));
    warn_of_unmatched(options.config, workspace.get());
    served.workspace = std::make_shared<UniqueFd>(std::move(workspace));
    fs::MountOptions mounting;
    mounting.mountpoint = options.mount_point;
    mounting.source_name = "unwrite:" + id;
    mounting.allow_other = options.allow_other;
    mounting.data_path = options.data_path;
    mounting.keep_long = options.keep_long;
    mounting.idle = options.config.idle;
    mounting.spin = options.spin;
    mounting.waiting = &served.session->waiting();
    TRY_ASSIGN(served.mount, fs::Mount::create(served.session->tree(), mounting));
    TRY_ASSIGN(served.signals, SignalWatch::start(*served.mount));
    served.info = describe(options, served.session->found(), st, id);
    if (!served.session->found().fresh)
        served.info.taken_back = taken_back(served.session->operations(), served.workspace->get());
    control::Service service;
    service.info = served.info;
    service.stop = [mount = served.mount.get()]() -> Result<> {
        mount->stop();
        return {};
    };
    service.journal_bytes = [raw = served.workspace] { return bytes_of_state(raw->get()); };
    service.ending = [mount = served.mount.get()] { return mount->is_ending(); };
    serve_config(service, served.workspace, *served.session);
    if (options.with_sessions)
        service.last_gone = [at = options.mount_point] { unmount_if_unused(at); };
    service.answered = [session = served.session.get()] { return session->answered(); };
    service.oversight = &served.session->oversight();
    service.refused = [session = served.session.get()](std::int64_t since_ns,
                                                       const std::string& of) {
        return overlay::refused_in(session->oversight(), session->operations(), since_ns, of);
    };
    control::ServerOptions listening;
    listening.id = id;
    listening.mount_point = options.mount_point;
    TRY_ASSIGN(served.server,
               control::Server::start(served.session->operations(), std::move(service), listening));
    return served;
}

void lift_limit(decltype(RLIMIT_FSIZE) kind) {
    rlimit limit{};
    if (::getrlimit(kind, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(kind, &limit);  // without it the smaller one serves
}

Result<> serve_with(DaemonOptions options, const Report& report, bool keep_stderr) {
    const sigset_t set = ending_signals();
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    // Modes are given as they shall be; the umask of each caller is applied to its requests.
    ::umask(0);
    // The kernel holds every writer to its own limit; the caller's would stop the others' writes,
    // and a restore half-way.
    lift_limit(RLIMIT_FSIZE);
    lift_limit(RLIMIT_NOFILE);
    // Whoever may trace the daemon reaches the raw directory through its descriptors.
    ::prctl(PR_SET_DUMPABLE, 0);
    Result<Served> served = open_all(options, keep_stderr);
    if (!served) {
        report(served.error());
        return served.error();
    }
    log::info("mounted " + served->info.mount_point);
    report(served->info);
    const Result<> outcome = served->mount->serve();
    log::info(outcome ? "unmounted" : "serving failed: " + outcome.error().message());
    return outcome;
}

/// What the caller had open beside the standard streams (a lock, the other end of a pipe) is none
/// of the daemon's.
void close_others(std::vector<int> kept) {
    std::sort(kept.begin(), kept.end());
    unsigned from = STDERR_FILENO + 1;
    for (const int fd : kept) {
        const unsigned number = static_cast<unsigned>(fd);
        if (number > from) ::close_range(from, number - 1, 0);
        from = std::max(from, number + 1);
    }
    ::close_range(from, ~0u, 0);
}

/// A second pair of parent and child, so that the daemon is nobody's child and has no terminal.
void become_daemon(DaemonOptions options, const UniqueFd& report_to) {
    const auto report = [&](const Result<control::DaemonInfo>& outcome) {
        control::Json json;
        if (outcome) json = control::encode(*outcome);
        const std::string line = control::format_answer(
            1, outcome ? Result<control::Json>(json) : Result<control::Json>(outcome.error()));
        std::string_view rest = line;
        while (!rest.empty()) {
            const ssize_t put = ::write(report_to.get(), rest.data(), rest.size());
            if (put <= 0) break;
            rest.remove_prefix(static_cast<std::size_t>(put));
        }
        // The parent reads to the end of the pipe, so nobody may keep it open; the terminal's
        // streams go as well.
        const Result<UniqueFd> nothing = sys::open_at(AT_FDCWD, "/dev/null", O_RDWR);
        for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, report_to.get()}) {
            if (nothing) ::dup2(nothing->get(), fd);
        }
    };
    close_others({options.workspace.get(), report_to.get()});
    sys::set_process_title(title_of(options.mount_point));
    const bool moved = ::chdir("/") == 0;
    if (!moved) report(sys::last_error());
    ::_exit(moved && serve_with(std::move(options), report, false) ? 0 : 1);
}

std::string read_all(int fd) {
    std::string text;
    std::array<char, 4096> room;
    for (;;) {
        const ssize_t got = ::read(fd, room.data(), room.size());
        if (got < 0 && sys::last_error().number() == EINTR) continue;
        if (got <= 0) return text;
        text.append(room.data(), static_cast<std::size_t>(got));
    }
}

}  // namespace

Result<> serve(DaemonOptions options, const Report& report) {
    return serve_with(std::move(options), report, true);
}

Result<control::DaemonInfo> start_daemon(DaemonOptions options) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return sys::last_error();
    const UniqueFd reading(ends[0]);
    UniqueFd writing(ends[1]);
    const pid_t child = ::fork();
    if (child < 0) return sys::last_error().with_context("cannot start the daemon");
    if (child == 0) {
        ::setsid();
        if (::fork() == 0) become_daemon(std::move(options), writing);
        ::_exit(0);
    }
    writing.reset();
    const std::string answer = read_all(reading.get());
    ::waitpid(child, nullptr, 0);
    if (answer.empty()) {
        return Error(ErrorKind::kSystem, EIO, "the daemon ended as soon as it was started",
                     "`cat .unwrite/daemon.log` shows why");
    }
    TRY_ASSIGN(const control::Json json, control::parse_answer(answer, 1));
    control::DaemonInfo info;
    TRY(control::decode(json, info));
    return info;
}

}  // namespace unwrite::cli
