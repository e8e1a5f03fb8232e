#include "base/write_back.h"

#include <fcntl.h>

#include <cerrno>

namespace unwrite::sys {

Result<> begin_write_back(int fd) {
    if (::sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE) != 0) return Error(errno);
    return {};
}

}  // namespace unwrite::sys
