#include "base/reflink.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

#include <string>

#include "base/syscalls.h"

namespace unwrite::sys {

bool can_share_blocks(int directory) {
    const Result<UniqueFd> from = open_at(directory, ".", O_RDWR | O_TMPFILE, 0600);
    const Result<UniqueFd> to = open_at(directory, ".", O_RDWR | O_TMPFILE, 0600);
    const std::string block(65536, 'x');
    if (!from || !to || !write_all_at(from->get(), std::as_bytes(std::span(block)), 0))
        return false;
    return ::ioctl(to->get(), FICLONE, from->get()) == 0;
}

}  // namespace unwrite::sys
