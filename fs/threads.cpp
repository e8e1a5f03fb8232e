#include "fs/threads.h"

#include <pthread.h>

#include <csignal>
#include <system_error>
#include <utility>

namespace unwrite::fs {

Result<std::thread> start_thread(const char* name, std::function<void()> body) {
    sigset_t all = {};
    sigset_t before = {};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    Result<std::thread> started = Error(EAGAIN);
    try {
        started = std::thread(std::move(body));
        pthread_setname_np((*started).native_handle(), name);
    } catch (const std::system_error& error) {
        started = Error(error.code().value()).with_context("cannot start a thread");
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
}

}  // namespace unwrite::fs
