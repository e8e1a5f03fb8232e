#include "base/change_watch.h"

#include <fcntl.h>
#include <sys/fanotify.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/syscalls.h"

namespace unwrite::sys {

#ifdef FAN_REPORT_DFID_NAME

namespace {

constexpr std::uint64_t kNames = FAN_CREATE | FAN_DELETE | FAN_MOVED_FROM | FAN_MOVED_TO;
constexpr std::uint64_t kContent = FAN_MODIFY | FAN_ATTRIB | FAN_CLOSE_WRITE;
constexpr std::uint64_t kEvents = kNames | kContent | FAN_EVENT_ON_CHILD | FAN_ONDIR;
constexpr std::size_t kBuffer = 64U << 10;
/// Events of one take(): what is told at once.
constexpr std::size_t kMostAtOnce = 4096;
/// Directories that are gone are taken out of the table by a walk over it, so many at once.
constexpr std::size_t kSweepAt = 4096;
constexpr const char* kProof = "watch.proof";

/// Filesystems that no other machine changes (linux/magic.h, and those that are not in it).
constexpr std::array<std::uint32_t, 8> kLocal = {
    0x0000'EF53,  // ext2, ext3, ext4
    0x5846'5342,  // xfs
    0x9123'683E,  // btrfs
    0x0102'1994,  // tmpfs
    0x794C'7630,  // overlayfs
    0xF2F5'2010,  // f2fs
    0xCA45'1A4E,  // bcachefs
    0x2FC1'2FC1,  // zfs
};

/// A file handle as one string: its type and its bytes.
std::string handle_text(int type, const void* bytes, std::size_t length) {
    std::string text(reinterpret_cast<const char*>(&type), sizeof type);
    return text.append(static_cast<const char*>(bytes), length);
}

Result<std::string> handle_of(int fd) {
    alignas(struct file_handle) std::array<std::byte, sizeof(struct file_handle) + MAX_HANDLE_SZ>
        room = {};
    auto* handle = reinterpret_cast<struct file_handle*>(room.data());
    handle->handle_bytes = MAX_HANDLE_SZ;
    int mount = 0;
    if (::name_to_handle_at(fd, "", handle, &mount, AT_EMPTY_PATH) != 0) return last_error();
    return handle_text(handle->handle_type, handle->f_handle, handle->handle_bytes);
}

/// Of the directory's handle and the name that an event carries.
struct Place {
    std::string handle;
    std::string name;
};

/// Nothing for a record of another kind, or one that is shorter than it says.
std::optional<Place> place_in(const std::byte* record, std::size_t length) {
    struct fanotify_event_info_fid head = {};
    if (length < sizeof head + sizeof(struct file_handle)) return std::nullopt;
    std::memcpy(&head, record, sizeof head);
    if (head.hdr.info_type != FAN_EVENT_INFO_TYPE_DFID_NAME) return std::nullopt;
    struct file_handle handle = {};
    std::memcpy(&handle, record + sizeof head, sizeof handle);
    const std::size_t name_at = sizeof head + sizeof handle + handle.handle_bytes;
    if (handle.handle_bytes > MAX_HANDLE_SZ || name_at >= length) return std::nullopt;
    const auto* name = reinterpret_cast<const char*>(record + name_at);
    return Place{
        handle_text(handle.handle_type, record + sizeof head + sizeof handle, handle.handle_bytes),
        std::string(name, ::strnlen(name, length - name_at))};
}

Result<> expect_local(int fd) {
    struct statfs where = {};
    if (::fstatfs(fd, &where) != 0) return last_error();  // also of a path
    const auto magic = static_cast<std::uint32_t>(where.f_type);
    if (std::find(kLocal.begin(), kLocal.end(), magic) == kLocal.end()) return Error(ENOTSUP);
    return {};
}

UniqueFd open_group() {
    constexpr unsigned kFlags = FAN_CLASS_NOTIF | FAN_REPORT_DFID_NAME | FAN_CLOEXEC | FAN_NONBLOCK;
    UniqueFd group(::fanotify_init(kFlags | FAN_UNLIMITED_MARKS, O_RDONLY | O_CLOEXEC));
    if (!group && errno == EPERM) group.reset(::fanotify_init(kFlags, O_RDONLY | O_CLOEXEC));
    return group;
}

}  // namespace

Result<std::unique_ptr<ChangeWatch>> ChangeWatch::start(int scratch) {
    TRY(expect_local(scratch));
    std::unique_ptr<ChangeWatch> watch(new ChangeWatch);
    watch->group_ = open_group();
    if (!watch->group_) return last_error();
    TRY(watch->prove(scratch));
    return Result<std::unique_ptr<ChangeWatch>>(std::move(watch));
}

// The handles of events must be those that are asked for by name, and its own events must be told
// apart: neither is certain on every filesystem and in every container.
Result<> ChangeWatch::prove(int scratch) {
    TRY_ASSIGN(const std::string expected, handle_of(scratch));
    ignore(unlink(scratch, kProof), "a start that was killed may have left it");
    TRY(mark(FAN_MARK_ADD, scratch));
    const auto made = make_node(scratch, kProof, S_IFREG | S_IRUSR, 0);
    std::array<std::byte, 4096> buffer;
    const ssize_t size = ::read(group_.get(), buffer.data(), buffer.size());
    if (made) ignore(unlink(scratch, kProof), "the next start removes it");
    TRY(mark(FAN_MARK_REMOVE, scratch));
    struct fanotify_event_metadata event = {};
    if (size < static_cast<ssize_t>(sizeof event)) return Error(ENOTSUP);
    std::memcpy(&event, buffer.data(), sizeof event);
    if (event.event_len > static_cast<std::size_t>(size) || event.pid != ::getpid())
        return Error(ENOTSUP);
    const auto place =
        place_in(buffer.data() + event.metadata_len, event.event_len - event.metadata_len);
    if (!place || place->handle != expected || place->name != kProof) return Error(ENOTSUP);
    return {};
}

Result<> ChangeWatch::mark(unsigned flags, int directory) const {
    if (::fanotify_mark(group_.get(), flags | FAN_MARK_ONLYDIR, kEvents, directory, ".") == 0)
        return {};
    return last_error();
}

// The table first: what is told of a directory that is not in it is told to nobody.
Result<> ChangeWatch::watch(int directory, const ObjectKey& key) {
    TRY_ASSIGN(std::string handle, handle_of(directory));
    {
        const std::lock_guard lock(mutex_);
        directories_[std::move(handle)] = key;
        gone_.erase(key);
    }
    auto marked = mark(FAN_MARK_ADD, directory);
    if (!marked) forget(key);
    return marked;
}

void ChangeWatch::unwatch(int directory, const ObjectKey& key) {
    ignore(mark(FAN_MARK_REMOVE, directory), "it goes with the directory");
    forget(key);
}

void ChangeWatch::forget(const ObjectKey& key) {
    const std::lock_guard lock(mutex_);
    gone_.insert(key);
    if (gone_.size() >= kSweepAt) sweep();
}

void ChangeWatch::sweep() {
    std::erase_if(directories_,
                  [this](const auto& entry) { return gone_.count(entry.second) != 0; });
    gone_.clear();
}

ChangeWatch::Changes ChangeWatch::take() {
    Changes changes;
    while (changes.each.size() < kMostAtOnce && read_some(changes)) {
    }
    return changes;
}

/// False when there was nothing.
bool ChangeWatch::read_some(Changes& changes) {
    alignas(struct fanotify_event_metadata) std::array<std::byte, kBuffer> buffer;
    const ssize_t size = ::read(group_.get(), buffer.data(), buffer.size());
    std::size_t left = size > 0 ? static_cast<std::size_t>(size) : 0;
    const std::byte* at = buffer.data();
    const pid_t self = ::getpid();
    while (left >= sizeof(struct fanotify_event_metadata)) {
        struct fanotify_event_metadata event = {};
        std::memcpy(&event, at, sizeof event);
        if (event.event_len < sizeof event || event.event_len > left) break;
        if ((event.mask & FAN_Q_OVERFLOW) != 0) changes.lost = true;
        if (event.pid != self) take_event(at, event.event_len, changes);
        at += event.event_len;
        left -= event.event_len;
    }
    return size > 0;
}

void ChangeWatch::take_event(const std::byte* event, std::size_t length, Changes& changes) {
    struct fanotify_event_metadata head = {};
    std::memcpy(&head, event, sizeof head);
    for (std::size_t at = head.metadata_len; at + sizeof(fanotify_event_info_header) <= length;) {
        fanotify_event_info_header info = {};
        std::memcpy(&info, event + at, sizeof info);
        if (info.len < sizeof info || info.len > length - at) break;
        if (const auto place = place_in(event + at, info.len)) {
            const std::lock_guard lock(mutex_);
            const auto known = directories_.find(place->handle);
            if (known != directories_.end())
                changes.each.push_back({known->second, place->name, (head.mask & kNames) != 0});
        }
        at += info.len;
    }
}

#else

Result<std::unique_ptr<ChangeWatch>> ChangeWatch::start(int) {
    return Error(ENOTSUP);
}
Result<> ChangeWatch::watch(int, const ObjectKey&) {
    return Error(ENOTSUP);
}
void ChangeWatch::unwatch(int, const ObjectKey&) {}
void ChangeWatch::forget(const ObjectKey&) {}
ChangeWatch::Changes ChangeWatch::take() {
    return {};
}

#endif

}  // namespace unwrite::sys
