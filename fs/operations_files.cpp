// Content. Every request names the object; what an open file is more than that is the data path's
// affair. CREATE, OPENDIR and FLUSH are answered once with "not implemented", after which the
// kernel does without them.
#include <fcntl.h>

#include <cstring>
#include <optional>
#include <vector>

#include "fs/request.h"

namespace unwrite::fs {

namespace {

void open(Server& server, fuse_req_t request, fuse_ino_t id, fuse_file_info* info) {
    const bool changes = sender(server, request) == Who::kOther;
    const auto opened = server.data_path->open(request, caller(request), id, changes, *info);
    if (!opened) {
        reply_error(request, opened.error());
    } else if (fuse_reply_open(request, info) != 0) {
        server.data_path->close(request, id, *info);
    }
}

void release(Server& server, fuse_req_t request, fuse_ino_t id, fuse_file_info* info) {
    server.data_path->close(request, id, *info);
    fuse_reply_err(request, 0);
}

void no_handle(fuse_req_t request, fuse_ino_t /*id*/, fuse_file_info* /*info*/) {
    fuse_reply_err(request, ENOSYS);
}

void release_directory(fuse_req_t request, fuse_ino_t /*id*/, fuse_file_info* /*info*/) {
    fuse_reply_err(request, 0);
}

void read(Server& server, fuse_req_t request, fuse_ino_t id, std::size_t size, off_t offset,
          fuse_file_info* info) {
    thread_local std::vector<std::byte> buffer;
    if (buffer.size() < size) buffer.resize(size);
    // The kernel sends the flags of the open file with each request, and has checked them.
    const auto time =
        (info->flags & O_NOATIME) != 0 ? overlay::AccessTime::kStays : overlay::AccessTime::kMoves;
    const auto got = server.tree.read(id, sys::Bytes(buffer.data(), size),
                                      static_cast<std::uint64_t>(offset), time);
    if (got) {
        fuse_reply_buf(request, reinterpret_cast<const char*>(buffer.data()), *got);
    } else {
        fuse_reply_err(request, got.error().number());
    }
}

/// Whoever changed the file is to see at once that set-id bits went.
void drop_if_cleared(const Server& server, fuse_ino_t id) {
    if (raw_flags().clears_privileges) server.drop_attributes(id);
}

void write(Server& server, fuse_req_t request, fuse_ino_t id, const char* data, std::size_t size,
           off_t offset, fuse_file_info* info) {
    // A page that is written back may come in any thread's name; a write may not come in ours.
    if (info->writepage == 0 && sender(server, request) != Who::kOther) {
        fuse_reply_err(request, EDEADLK);
        return;
    }
    overlay::Caller writer = caller(request);
    if (info->writepage != 0) writer.question = nullptr;  // whole files would wait with it
    const bool kill = server.marks_kill ? raw_flags().kill_privileges : writer.uid != 0;
    const auto wanted = static_cast<std::uint64_t>(offset);
    std::uint64_t end = wanted;
    if (info->writepage == 0 && (info->flags & O_APPEND) != 0) writer.end = &end;
    const auto done =
        server.tree.write(writer, id, std::as_bytes(std::span(data, size)), wanted, kill);
    if (done) {
        drop_if_cleared(server, id);
        fuse_reply_write(request, *done);
        // Somebody made the file longer or shorter, or exchanged it, and the kernel does not know.
        if (end != wanted) server.drop_attributes(id);
    } else {
        reply_error(request, done.error());
    }
}

void fsync(Server& server, fuse_req_t request, fuse_ino_t id, int data_only,
           fuse_file_info* /*info*/) {
    reply(request, server.tree.fsync(id, data_only != 0));
}

void fallocate(Server& server, fuse_req_t request, fuse_ino_t id, int mode, off_t offset,
               off_t length, fuse_file_info* /*info*/) {
    const auto done =
        server.tree.fallocate(caller(request), id, mode, static_cast<std::uint64_t>(offset),
                              static_cast<std::uint64_t>(length));
    drop_if_cleared(server, id);
    reply(request, done);
}

void copy_file_range(Server& server, fuse_req_t request, fuse_ino_t from, off_t from_offset,
                     fuse_file_info* /*from_info*/, fuse_ino_t to, off_t to_offset,
                     fuse_file_info* /*to_info*/, std::size_t length, int /*flags*/) {
    const auto copied =
        server.tree.copy_file_range(caller(request), from, static_cast<std::uint64_t>(from_offset),
                                    to, static_cast<std::uint64_t>(to_offset), length);
    drop_if_cleared(server, to);
    if (copied) {
        fuse_reply_write(request, *copied);
    } else {
        reply_error(request, copied.error());
    }
}

Result<> exchange(Server& server, fuse_req_t request, fuse_ino_t id, bool removes,
                  std::span<const std::byte> in) {
    overlay::ExchangeRequest wanted;
    if (in.size() != sizeof wanted) return Error(EINVAL);
    std::memcpy(&wanted, in.data(), sizeof wanted);
    const auto name = overlay::name_in(wanted);
    if (!name) return Error(EINVAL);
    if (removes) return server.tree.remove_expected(caller(request), id, *name, wanted.expected);
    std::optional<mode_t> mode;
    if (wanted.mode != overlay::ExchangeRequest::kKeepMode) mode = wanted.mode & 07777U;
    const auto done = server.tree.exchange(caller(request), id, *name, wanted.expected, mode);
    return done ? Result<>{} : Result<>{done.error()};
}

/// The last step of an edit (overlay/exchange.h).
void ioctl(Server& server, fuse_req_t request, fuse_ino_t id, unsigned command, void* /*argument*/,
           fuse_file_info* /*info*/, unsigned /*flags*/, const void* in, std::size_t in_size,
           std::size_t /*out_size*/) {
    Result<> done = Error(ENOTTY);
    const bool removes = command == static_cast<unsigned>(overlay::kRemoveCommand);
    if (command == static_cast<unsigned>(overlay::kProbeCommand)) {
        done = {};
    } else if (removes || command == static_cast<unsigned>(overlay::kExchangeCommand)) {
        done = exchange(server, request, id, removes,
                        std::span(static_cast<const std::byte*>(in), in_size));
    }
    if (done) {
        fuse_reply_ioctl(request, 0, nullptr, 0);
    } else {
        reply_error(request, done.error());
    }
}

void lseek(Server& server, fuse_req_t request, fuse_ino_t id, off_t offset, int whence,
           fuse_file_info* /*info*/) {
    const auto found = server.tree.lseek(id, static_cast<std::uint64_t>(offset), whence);
    if (found) {
        fuse_reply_lseek(request, static_cast<off_t>(*found));
    } else {
        fuse_reply_err(request, found.error().number());
    }
}

}  // namespace

void add_files(fuse_lowlevel_ops& operations) {
    operations.open = Door<open>::enter;
    operations.release = Door<release>::enter_any;
    operations.flush = no_handle;
    operations.opendir = no_handle;
    operations.releasedir = release_directory;
    operations.read = Door<read>::enter;
    operations.write = Door<write>::enter_any;
    operations.fsync = Door<fsync>::enter;
    operations.fallocate = Door<fallocate>::enter_change;
    operations.copy_file_range = Door<copy_file_range>::enter_change;
    operations.lseek = Door<lseek>::enter;
    operations.ioctl = Door<ioctl>::enter_change;
}

}  // namespace unwrite::fs
