// Copying bytes between files: by sharing blocks where the filesystem can, inside the kernel where
// it cannot, through a buffer where neither works.
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "base/retry.h"
#include "base/syscalls.h"

namespace unwrite::sys {

namespace {

constexpr std::uint64_t kReflinkUnit = 4096;
constexpr std::size_t kBufferSize = std::size_t{128} << 10;

/// One range to copy; `advance` moves its beginning.
struct Range {
    int in;
    std::uint64_t in_offset;
    int out;
    std::uint64_t out_offset;
    std::uint64_t length;
    void advance(std::uint64_t by) {
        in_offset += by;
        out_offset += by;
        length -= by;
    }
    Range first(std::uint64_t count) const { return {in, in_offset, out, out_offset, count}; }
};

/// Shares the blocks of the aligned front part. Not being able to is no failure.
std::uint64_t reflink_front(const Range& range) {
    const std::uint64_t length = range.length - range.length % kReflinkUnit;
    if (length == 0 || (range.in_offset | range.out_offset) % kReflinkUnit != 0) return 0;
    struct file_clone_range clone {};
    clone.src_fd = range.in;
    clone.src_offset = range.in_offset;
    clone.src_length = length;
    clone.dest_offset = range.out_offset;
    return ::ioctl(range.out, FICLONERANGE, &clone) == 0 ? length : 0;
}

Result<> copy_through_buffer(Range range) {
    if (range.length == 0) return {};
    const std::size_t size =
        static_cast<std::size_t>(std::min<std::uint64_t>(range.length, kBufferSize));
    const auto memory = std::make_unique_for_overwrite<std::byte[]>(size);
    while (range.length > 0) {
        const Bytes part(memory.get(),
                         static_cast<std::size_t>(std::min<std::uint64_t>(range.length, size)));
        TRY(read_exactly_at(range.in, part, range.in_offset));
        TRY(write_all_at(range.out, part, range.out_offset));
        range.advance(part.size());
    }
    return {};
}

bool kernel_cannot(int number) {
    return number == EXDEV || number == EINVAL || number == EOPNOTSUPP || number == ENOSYS ||
           number == EBADF || number == EPERM || number == ETXTBSY;
}

Result<> copy_data(Range range) {
    while (range.length > 0) {
        const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(range.length, 1U << 30));
        const auto got = copy_range(range.in, range.in_offset, range.out, range.out_offset, want);
        if (!got && !kernel_cannot(got.error().number())) return got.error();
        // 0 is the end of the source, or a filesystem that only pretends: reading finds out which.
        if (!got || *got == 0) return copy_through_buffer(range);
        range.advance(*got);
    }
    return {};
}

Result<> write_zeros(int out, std::uint64_t offset, std::uint64_t length) {
    static constexpr std::array<std::byte, 65536> kZeros{};
    while (length > 0) {
        const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(length, kZeros.size()));
        TRY(write_all_at(out, ConstBytes(kZeros).first(part), offset));
        offset += part;
        length -= part;
    }
    return {};
}

/// Makes the range read as zero. Beyond `out_size` it does already, once something after it is
/// written.
Result<> make_hole(const Range& range, std::uint64_t out_size) {
    if (range.length == 0 || range.out_offset >= out_size) return {};
    const std::uint64_t length = std::min(range.length, out_size - range.out_offset);
    const auto punched =
        fallocate(range.out, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, range.out_offset, length);
    if (punched) return {};
    return write_zeros(range.out, range.out_offset, length);
}

}  // namespace

DataRun next_data(int fd, std::uint64_t offset, std::uint64_t end) {
    const auto data = seek(fd, offset, SEEK_DATA);
    if (!data) {
        if (data.error().number() == ENXIO) return {end, end};
        return {offset, end};  // no such seek here
    }
    if (*data >= end) return {end, end};
    const auto hole = seek(fd, *data, SEEK_HOLE);
    return {*data, hole ? std::min(*hole, end) : end};
}

Result<std::size_t> copy_range(int in, std::uint64_t in_offset, int out, std::uint64_t out_offset,
                               std::size_t length) {
    auto from = static_cast<off_t>(in_offset);
    auto to = static_cast<off_t>(out_offset);
    const ssize_t got = retry([&] { return ::copy_file_range(in, &from, out, &to, length, 0); });
    if (got < 0) return Error(errno);
    return static_cast<std::size_t>(got);
}

Result<> copy_bytes(int in, std::uint64_t in_offset, int out, std::uint64_t out_offset,
                    std::uint64_t length) {
    Range range{in, in_offset, out, out_offset, length};
    if (length <= kBufferSize) {  // looking for holes would cost more than it saves
        range.advance(reflink_front(range));
        return copy_through_buffer(range);
    }
    TRY_ASSIGN(const struct stat source, stat_fd(in));
    const auto source_size = static_cast<std::uint64_t>(source.st_size);
    if (length > source_size || in_offset > source_size - length) return Error(EIO);
    range.advance(reflink_front(range));
    if (range.length == 0) return {};
    TRY_ASSIGN(const struct stat target, stat_fd(out));
    const auto out_size = static_cast<std::uint64_t>(target.st_size);
    const std::uint64_t end = range.in_offset + range.length;
    bool ends_in_hole = false;
    while (range.length > 0) {
        const auto [data, data_end] = next_data(in, range.in_offset, end);
        TRY(make_hole(range.first(data - range.in_offset), out_size));
        range.advance(data - range.in_offset);
        TRY(copy_data(range.first(data_end - data)));
        range.advance(data_end - data);
        ends_in_hole = data == data_end;
    }
    // The size is grown by one written byte: a truncate could cut what another thread wrote behind.
    if (!ends_in_hole || out_offset + length <= out_size) return {};
    constexpr std::byte kZero{0};
    return write_all_at(out, ConstBytes(&kZero, 1), out_offset + length - 1);
}

Result<> write_zeros(int fd, std::uint64_t offset, std::uint64_t length) {
    auto punched = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length);
    if (punched || (punched.error().number() != EOPNOTSUPP && punched.error().number() != ENOSYS))
        return punched;
    const auto zeros = std::make_unique<std::byte[]>(kBufferSize);
    while (length > 0) {
        const std::uint64_t part = std::min<std::uint64_t>(length, kBufferSize);
        TRY(write_all_at(fd, ConstBytes(zeros.get(), static_cast<std::size_t>(part)), offset));
        offset += part;
        length -= part;
    }
    return {};
}

}  // namespace unwrite::sys
