#include "base/reflink.h"

#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/syscalls.h"

namespace unwrite::sys {

namespace {

constexpr std::uint32_t kExtents = 128;  // asked for at a time

/// The extents from `offset` on; false where the filesystem does not tell.
bool read_extents(int fd, std::uint64_t offset, std::vector<struct fiemap_extent>& extents) {
    std::vector<std::byte> memory(sizeof(struct fiemap) + kExtents * sizeof(struct fiemap_extent));
    struct fiemap request {};
    request.fm_start = offset;
    request.fm_length = FIEMAP_MAX_OFFSET - offset;
    request.fm_flags = FIEMAP_FLAG_SYNC;
    request.fm_extent_count = kExtents;
    std::memcpy(memory.data(), &request, sizeof request);
    if (::ioctl(fd, FS_IOC_FIEMAP, memory.data()) != 0) return false;
    std::memcpy(&request, memory.data(), sizeof request);
    extents.resize(std::min(request.fm_mapped_extents, kExtents));
    std::memcpy(extents.data(), memory.data() + sizeof request,
                extents.size() * sizeof(struct fiemap_extent));
    return true;
}

}  // namespace

bool can_share_blocks(int directory) {
    const Result<UniqueFd> from = open_at(directory, ".", O_RDWR | O_TMPFILE, 0600);
    const Result<UniqueFd> to = open_at(directory, ".", O_RDWR | O_TMPFILE, 0600);
    const std::string block(65536, 'x');
    if (!from || !to || !write_all_at(from->get(), std::as_bytes(std::span(block)), 0))
        return false;
    return ::ioctl(to->get(), FICLONE, from->get()) == 0;
}

Result<std::uint64_t> own_bytes(int fd) {
    TRY_ASSIGN(const struct stat st, stat_fd(fd));
    const auto allocated = static_cast<std::uint64_t>(st.st_blocks) * 512;
    std::uint64_t own = 0;
    std::uint64_t offset = 0;
    for (;;) {
        std::vector<struct fiemap_extent> extents;
        if (!read_extents(fd, offset, extents)) return allocated;
        for (const auto& extent : extents) {
            if ((extent.fe_flags & FIEMAP_EXTENT_SHARED) == 0) own += extent.fe_length;
        }
        if (extents.empty() || (extents.back().fe_flags & FIEMAP_EXTENT_LAST) != 0) break;
        const std::uint64_t next = extents.back().fe_logical + extents.back().fe_length;
        if (next <= offset) break;
        offset = next;
    }
    return std::min(own, allocated);
}

}  // namespace unwrite::sys
