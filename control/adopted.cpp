#include "control/adopted.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/log.h"
#include "base/syscalls.h"

namespace unwrite::control {

Adopted::~Adopted() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    wake();
    thread_.join();
}

void Adopted::wake() const {
    const std::uint64_t one = 1;
    if (::write(wake_.get(), &one, sizeof one) != sizeof one)
        log::error("watch adopted processes: no event");
}

Result<> Adopted::watch(Held held) {
    {
        const std::lock_guard lock(mutex_);
        if (!wake_) {
            wake_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
            if (!wake_) return sys::last_error();
            thread_ = std::thread([this] { wait(); });
        }
        watched_.push_back(std::move(held));
    }
    wake();
    return {};
}

void Adopted::wait() {
    // Signals are for the threads of the daemon that wait for them.
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    for (;;) {
        std::vector<struct pollfd> pollers;
        {
            const std::lock_guard lock(mutex_);
            if (ends_) return;
            pollers.push_back({wake_.get(), POLLIN, 0});
            for (const Held& held : watched_)
                pollers.push_back({held.pidfd.get(), POLLIN, 0});
        }
        if (::poll(pollers.data(), pollers.size(), -1) < 0) continue;
        std::uint64_t events = 0;
        if (pollers[0].revents != 0 && ::read(wake_.get(), &events, sizeof events) < 0)
            log::error("watch adopted processes: no event to read");
        for (std::size_t i = 1; i < pollers.size(); ++i) {
            if (pollers[i].revents == 0) continue;
            Held ended;
            bool last = false;
            {
                const std::lock_guard lock(mutex_);
                // Others only add at the end.
                const auto found = std::find_if(
                    watched_.begin(), watched_.end(),
                    [&](const Held& held) { return held.pidfd.get() == pollers[i].fd; });
                if (found == watched_.end()) continue;
                ended = std::move(*found);
                watched_.erase(found);
                last = watched_.empty();
            }
            gone_(ended.process, last);
        }
    }
}

}  // namespace unwrite::control
