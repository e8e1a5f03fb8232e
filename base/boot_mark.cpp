#include "base/boot_mark.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/syscalls.h"

namespace unwrite::sys {

namespace {

// linux/stat.h has it since 6.8: unlike the older number it is never given out again.
constexpr unsigned kUniqueMount = 0x4000U;

}  // namespace

std::string boot_mark(int fd) {
    std::string mark = read_file_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id").value_or("");
    if (!mark.empty() && mark.back() == '\n') mark.pop_back();
    if (mark.empty()) return mark;
    struct statx sx {};
    const bool known =
        ::statx(fd, "", AT_EMPTY_PATH, kUniqueMount, &sx) == 0 && (sx.stx_mask & kUniqueMount) != 0;
    return known ? mark + " " + std::to_string(sx.stx_mnt_id) : mark;
}

}  // namespace unwrite::sys
