// Reading, writing and sizing files.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "base/retry.h"
#include "base/syscalls.h"

namespace unwrite::sys {

namespace {

// The kernel transfers at most this much in one call; asking for less keeps it interruptible.
constexpr std::size_t kMaxTransfer = std::size_t{1} << 30;

off_t to_offset(std::uint64_t value) {
    return static_cast<off_t>(value);
}

}  // namespace

Result<std::size_t> read_at(int fd, Bytes out, std::uint64_t offset) {
    std::size_t done = 0;
    while (done < out.size()) {
        const std::size_t want = std::min(out.size() - done, kMaxTransfer);
        const ssize_t got =
            retry([&] { return ::pread(fd, out.data() + done, want, to_offset(offset + done)); });
        if (got < 0) return Error(errno);
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

Result<> read_exactly_at(int fd, Bytes out, std::uint64_t offset) {
    TRY_ASSIGN(const std::size_t got, read_at(fd, out, offset));
    if (got != out.size()) return Error(EIO);
    return {};
}

Result<std::size_t> write_some_at(int fd, ConstBytes data, std::uint64_t offset) {
    const std::size_t want = std::min(data.size(), kMaxTransfer);
    const ssize_t put = retry([&] { return ::pwrite(fd, data.data(), want, to_offset(offset)); });
    if (put < 0) return Error(errno);
    return static_cast<std::size_t>(put);
}

Result<> write_all_at(int fd, ConstBytes data, std::uint64_t offset) {
    while (!data.empty()) {
        TRY_ASSIGN(const std::size_t put, write_some_at(fd, data, offset));
        if (put == 0) return Error(EIO);
        data = data.subspan(put);
        offset += put;
    }
    return {};
}

Result<std::string> read_file_at(int dir, const std::string& name) {
    TRY_ASSIGN(const UniqueFd fd, open_at(dir, name, O_RDONLY));
    std::string text;
    std::size_t used = 0;
    for (;;) {
        text.resize(std::max<std::size_t>(4096, used * 2));
        const Bytes room = std::as_writable_bytes(std::span(text)).subspan(used);
        TRY_ASSIGN(const std::size_t got, read_at(fd.get(), room, used));
        used += got;
        if (got < room.size()) break;
    }
    text.resize(used);
    return text;
}

Result<> replace_file_at(int dir, const std::string& name, std::string_view text, mode_t mode,
                         Durable durable) {
    static std::atomic<unsigned> counter{0};
    const std::string temporary = "." + name.substr(0, 200) + ".tmp-" + std::to_string(::getpid()) +
                                  "-" + std::to_string(counter++);
    ignore(unlink(dir, temporary), "a left-over of a process with the same number");
    TRY_ASSIGN(UniqueFd fd, open_at(dir, temporary, O_WRONLY | O_CREAT | O_EXCL, mode));
    Result<> done = write_all_at(fd.get(), std::as_bytes(std::span(text)), 0);
    if (done && durable == Durable::kYes) done = sync_data(fd.get());
    if (done) done = close(std::move(fd));
    if (done) done = rename(dir, temporary, dir, name);
    if (!done) ignore(unlink(dir, temporary), "the first failure is the one to report");
    if (done && durable == Durable::kYes) done = sync(dir);
    return done;
}

Result<> truncate(int fd, std::uint64_t size) {
    return retry_done([&] { return ::ftruncate(fd, to_offset(size)); });
}

Result<> fallocate(int fd, int mode, std::uint64_t offset, std::uint64_t length) {
    return retry_done([&] { return ::fallocate(fd, mode, to_offset(offset), to_offset(length)); });
}

Result<std::uint64_t> seek(int fd, std::uint64_t offset, int whence) {
    const off_t at = ::lseek(fd, to_offset(offset), whence);
    if (at < 0) return Error(errno);
    return static_cast<std::uint64_t>(at);
}

Result<> sync(int fd) {
    return retry_done([&] { return ::fsync(fd); });
}

Result<> sync_data(int fd) {
    return retry_done([&] { return ::fdatasync(fd); });
}

Result<> sync_filesystem(int fd) {
    return retry_done([&] { return ::syncfs(fd); });
}

}  // namespace unwrite::sys
