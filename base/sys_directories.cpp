// Reading directories with getdents64: no allocation per directory, and offsets that can be
// resumed.
#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/retry.h"
#include "base/syscalls.h"

namespace unwrite::sys {

namespace {

// struct linux_dirent64, which no header of the C library declares.
struct RawEntry {
    std::uint64_t ino;
    std::int64_t offset;
    std::uint16_t record_length;
    unsigned char type;
    static constexpr std::size_t kNameAt = 19;
};

bool is_dot(std::string_view name) {
    return name == "." || name == "..";
}

Result<std::size_t> read_raw(int fd, Bytes buffer) {
    const long got =
        retry([&] { return ::syscall(SYS_getdents64, fd, buffer.data(), buffer.size()); });
    if (got < 0) return Error(errno);
    return static_cast<std::size_t>(got);
}

// Hands each entry of a filled buffer to `each(name, raw)`.
template <class Each>
void parse(sys::ConstBytes buffer, Each&& each) {
    while (buffer.size() > RawEntry::kNameAt) {
        RawEntry raw{};
        std::memcpy(&raw.ino, buffer.data(), sizeof raw.ino);
        std::memcpy(&raw.offset, buffer.data() + 8, sizeof raw.offset);
        std::memcpy(&raw.record_length, buffer.data() + 16, sizeof raw.record_length);
        raw.type = static_cast<unsigned char>(buffer[18]);
        if (raw.record_length <= RawEntry::kNameAt || raw.record_length > buffer.size()) return;
        const auto* name = reinterpret_cast<const char*>(buffer.data() + RawEntry::kNameAt);
        each(std::string_view(name, ::strnlen(name, raw.record_length - RawEntry::kNameAt)), raw);
        buffer = buffer.subspan(raw.record_length);
    }
}

}  // namespace

Result<std::vector<DirectoryEntry>> read_directory(int fd, std::int64_t offset, std::size_t limit) {
    if (::lseek(fd, offset, SEEK_SET) < 0) return Error(errno);
    std::vector<DirectoryEntry> entries;
    alignas(8) std::byte buffer[32768];
    while (entries.size() < limit) {
        TRY_ASSIGN(const std::size_t got, read_raw(fd, buffer));
        if (got == 0) break;
        parse(ConstBytes(buffer, got), [&](std::string_view name, const RawEntry& raw) {
            if (is_dot(name)) return;
            entries.push_back({std::string(name), raw.ino, raw.type, raw.offset});
        });
    }
    return entries;
}

Result<bool> is_empty_directory(int fd) {
    if (::lseek(fd, 0, SEEK_SET) < 0) return Error(errno);
    alignas(8) std::byte buffer[1024];
    bool empty = true;
    while (empty) {
        TRY_ASSIGN(const std::size_t got, read_raw(fd, buffer));
        if (got == 0) break;
        parse(ConstBytes(buffer, got), [&](std::string_view name, const RawEntry& /*raw*/) {
            empty = empty && is_dot(name);
        });
    }
    return empty;
}

}  // namespace unwrite::sys
