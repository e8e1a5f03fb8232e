#include "base/lend_mode.h"

#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <shared_mutex>

#include "base/syscalls.h"

namespace unwrite::sys {

namespace {

std::shared_mutex& modes() {
    static std::shared_mutex mutex;
    return mutex;
}

thread_local unsigned lending = 0;  // how many modes this thread has lent

class Lending {
 public:
    Lending() {
        if (lending++ == 0) modes().lock();
    }
    Lending(const Lending&) = delete;
    Lending& operator=(const Lending&) = delete;
    ~Lending() {
        if (--lending == 0) modes().unlock();
    }
};

}  // namespace

ModesAtRest::ModesAtRest() : held_(lending == 0) {
    if (held_) modes().lock_shared();
}

ModesAtRest::~ModesAtRest() {
    if (held_) modes().unlock_shared();
}

Result<> lend_mode(int fd, const std::function<Result<>()>& action) {
    const Lending lock;
    TRY_ASSIGN(const struct stat st, stat_fd(fd));
    if (st.st_uid != ::geteuid() || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
        return Error(EACCES);
    const mode_t mode = st.st_mode & 07777U;
    const mode_t lent = mode | (S_ISDIR(st.st_mode) ? 0700U : 0600U);
    if (lent == mode) return action();
    TRY(change_mode(fd, lent));
    Result<> done = action();
    TRY(change_mode(fd, mode));
    return done;
}

Result<UniqueFd> open_listing(int directory) {
    return lend_access(directory, [&] { return reopen(directory, O_RDONLY | O_DIRECTORY); });
}

Result<UniqueFd> open_unseen(int fd, int flags) {
    auto opened = lend_access(fd, [&] { return reopen(fd, flags | O_NOATIME); });
    if (opened || opened.error().number() != EPERM) return opened;
    return lend_access(fd, [&] { return reopen(fd, flags); });
}

Result<UniqueFd> open_listing_unseen(int directory, const std::string& name) {
    constexpr int kListing = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    auto fd = open_at(directory, name, kListing | O_NOATIME);
    if (fd || (fd.error().number() != EACCES && fd.error().number() != EPERM)) return fd;
    TRY_ASSIGN(const UniqueFd path, open_at(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW));
    return open_unseen(path.get(), kListing);
}

}  // namespace unwrite::sys
