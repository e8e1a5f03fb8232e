// Locks between processes: who keeps whom out, and what lets go.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/parity/groups.h"
#include "tests/parity/scene.h"

namespace unwrite::tests::parity {

namespace {

enum class Family { kFlock, kPosix, kOpenFile };

struct Lock {
    const char* name;
    Family family;
    bool exclusive;
};

const std::vector<Lock> kLocks = {
    {"flock shared", Family::kFlock, false},      {"flock exclusive", Family::kFlock, true},
    {"posix read", Family::kPosix, false},        {"posix write", Family::kPosix, true},
    {"open-file read", Family::kOpenFile, false}, {"open-file write", Family::kOpenFile, true},
};

struct Range {
    off_t start;
    off_t length;
};

/// A child that does not outlive its parent.
pid_t fork_along() {
    const pid_t child = ::fork();
    if (child == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    return child;
}

struct flock described(const Lock& lock, const Range& range) {
    struct flock wanted = {};
    wanted.l_type = lock.exclusive ? F_WRLCK : F_RDLCK;
    wanted.l_whence = SEEK_SET;
    wanted.l_start = range.start;
    wanted.l_len = range.length;
    return wanted;
}

long take(int fd, const Lock& lock, const Range& range) {
    if (lock.family == Family::kFlock)
        return ::flock(fd, (lock.exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB);
    struct flock wanted = described(lock, range);
    return ::fcntl(fd, lock.family == Family::kPosix ? F_SETLK : F_OFD_SETLK, &wanted);
}

void ask(Scene& scene, int fd, const Lock& lock, const Range& range) {
    if (lock.family == Family::kFlock) return;
    struct flock found = described(lock, range);
    const int command = lock.family == Family::kPosix ? F_GETLK : F_OFD_GETLK;
    if (scene.told("ask", ::fcntl(fd, command, &found)) != 0) return;
    std::string text = std::to_string(found.l_type);
    if (found.l_type != F_UNLCK) {
        text += " " + std::to_string(found.l_start) + "+" + std::to_string(found.l_len);
        text += found.l_pid == -1 ? " of an open file" : " of a process";
    }
    scene.say("found", text);
}

/// Another process that does something with a file, says so, and stays until it is let go.
class Neighbour {
 public:
    explicit Neighbour(const std::function<void()>& act) {
        int said[2] = {-1, -1};
        int stay[2] = {-1, -1};
        if (::pipe(said) != 0 || ::pipe(stay) != 0) return;
        child_ = fork_along();
        if (child_ == 0) {
            ::close(stay[1]);
            act();
            char byte = 'r';
            if (::write(said[1], &byte, 1) == 1 && ::read(stay[0], &byte, 1) >= 0) ::_exit(0);
            ::_exit(1);
        }
        ::close(said[1]);
        ::close(stay[0]);
        char byte = 0;
        if (::read(said[0], &byte, 1) != 1) failed_ = true;
        ::close(said[0]);
        stay_ = stay[1];
    }
    ~Neighbour() { let_go(); }
    Neighbour(const Neighbour&) = delete;
    Neighbour& operator=(const Neighbour&) = delete;

    void let_go() {
        if (child_ <= 0) return;
        ::close(stay_);
        ::waitpid(child_, nullptr, 0);
        child_ = -1;
    }
    bool failed() const { return failed_; }

 private:
    pid_t child_ = -1;
    int stay_ = -1;
    bool failed_ = false;
};

void add_conflicts(Group& group) {
    const std::vector<std::pair<const char*, Range>> ranges = {{"same", {10, 10}},
                                                               {"overlapping", {15, 100}},
                                                               {"beside", {20, 5}},
                                                               {"to the end", {0, 0}}};
    for (const Lock& held : kLocks) {
        for (const Lock& wanted : kLocks) {
            for (const auto& [name, range] : ranges) {
                group.add(
                    std::string(held.name) + " against " + wanted.name + " " + name, {{{"x"}}},
                    owner(), [held, wanted, range = range](Scene& scene) {
                        Neighbour neighbour([&] { take(::open("x", O_RDWR), held, {10, 10}); });
                        scene.told("neighbour", neighbour.failed() ? 1 : 0);
                        const int fd = scene.opened("open", ::open("x", O_RDWR));
                        ask(scene, fd, wanted, range);
                        scene.told("take", take(fd, wanted, range));
                        neighbour.let_go();
                        scene.told("after its end", take(fd, wanted, range));
                    });
            }
        }
    }
}

void add_releases(Group& group) {
    for (const Lock& lock : kLocks) {
        for (const char* how :
             {"close", "close of a duplicate", "close of another descriptor", "unlock", "unlink"}) {
            group.add(std::string(lock.name) + " and " + how, {{{"x"}}}, owner(),
                      [lock, how = std::string(how)](Scene& scene) {
                          const int kept = scene.opened("open", ::open("x", O_RDWR));
                          Neighbour neighbour([&] {
                              const int fd = ::open("x", O_RDWR);
                              const int second = ::open("x", O_RDWR);
                              take(fd, lock, {0, 100});
                              if (how == "close") ::close(fd);
                              if (how == "close of a duplicate") ::close(::dup(fd));
                              if (how == "close of another descriptor") ::close(second);
                              if (how == "unlink") ::unlink("x");
                              struct flock open = described(lock, {0, 50});
                              open.l_type = F_UNLCK;
                              if (how != "unlock") return;
                              if (lock.family == Family::kFlock)
                                  ::flock(fd, LOCK_UN);
                              else
                                  ::fcntl(fd, lock.family == Family::kPosix ? F_SETLK : F_OFD_SETLK,
                                          &open);
                          });
                          const Lock strict = {"", lock.family, true};
                          scene.told("low", take(kept, strict, {0, 10}));
                          scene.told("high", take(kept, strict, {60, 10}));
                      });
        }
        for (const int access : {O_RDONLY, O_WRONLY}) {
            group.add(std::string(lock.name) + " by a descriptor " + std::to_string(access),
                      {{{"x"}}}, owner(), [lock, access](Scene& scene) {
                          const int fd = scene.opened("open", ::open("x", access));
                          scene.told("take", take(fd, lock, {0, 10}));
                      });
        }
    }
}

void add_waits(Group& group) {
    for (const Lock& lock : kLocks) {
        group.add(std::string("wait for ") + lock.name, {{{"x"}}}, owner(), [lock](Scene& scene) {
            const int fd = scene.opened("open", ::open("x", O_RDWR));
            const Lock strict = {"", lock.family, true};
            scene.told("take", take(fd, strict, {0, 10}));
            // It waits for us, and says so when it has the lock.
            int said[2] = {-1, -1};
            scene.told("pipe", ::pipe(said));
            const pid_t child = fork_along();
            if (child == 0) {
                ::close(fd);  // else it has the lock itself
                const int own = ::open("x", O_RDWR);
                struct flock wanted = described(lock, {0, 10});
                const int done =
                    lock.family == Family::kFlock
                        ? ::flock(own, lock.exclusive ? LOCK_EX : LOCK_SH)
                        : ::fcntl(own, lock.family == Family::kPosix ? F_SETLKW : F_OFD_SETLKW,
                                  &wanted);
                const char byte = done == 0 ? 'l' : 'f';
                ::_exit(::write(said[1], &byte, 1) == 1 ? 0 : 1);
            }
            scene.told("close", ::close(fd));
            char byte = 0;
            scene.told("read", ::read(said[0], &byte, 1));
            scene.say("it", std::string(1, byte));
            ::waitpid(child, nullptr, 0);
        });
    }
}

}  // namespace

Group locks() {
    Group group("lock");
    add_conflicts(group);
    add_releases(group);
    add_waits(group);
    return group;
}

}  // namespace unwrite::tests::parity
