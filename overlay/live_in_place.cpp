// An edit of a file that must stay the same object, because it has several names, or an owner that
// a new file would not get: the new bytes are written over the old ones, with the gate closed. A
// note in the state directory lets the next life finish what a kill interrupts.
#include <cerrno>

#include "base/crash_point.h"
#include "base/lend_mode.h"
#include "base/log.h"
#include "journal/in_place_note.h"
#include "overlay/act_as.h"
#include "overlay/live_swap.h"

namespace unwrite::overlay {

namespace {

constexpr const char* kAcl = "system.posix_acl_access";

// As the kernel would for open(O_WRONLY). What an ACL allows is the kernel's to say, and it is not
// asked here.
bool may_write(const Caller& caller, int file, const struct stat& was) {
    if (caller.uid == 0) return true;
    if (sys::get_xattr(file, kAcl).ok()) return false;
    if (caller.uid == was.st_uid) return (was.st_mode & S_IWUSR) != 0;
    if (is_in_group(caller, was.st_gid)) return (was.st_mode & S_IWGRP) != 0;
    return (was.st_mode & S_IWOTH) != 0;
}

Result<std::string> bytes_in(int fd) {
    TRY_ASSIGN(const struct stat st, sys::stat_fd(fd));
    std::string bytes(static_cast<std::size_t>(st.st_size), '\0');
    TRY(sys::read_exactly_at(fd, std::as_writable_bytes(std::span(bytes)), 0));
    return bytes;
}

Result<> write_over(int fd, const std::string& bytes) {
    TRY(sys::write_all_at(fd, std::as_bytes(std::span(bytes)), 0));
    crash_point("tree.in_place.written");
    return sys::truncate(fd, bytes.size());
}

// So that nothing fails half-way for want of room.
Result<> make_room(int fd, std::size_t size) {
    constexpr int kKeepSize = 1;  // FALLOC_FL_KEEP_SIZE
    if (size == 0) return {};
    const Result<> room = sys::fallocate(fd, kKeepSize, 0, size);
    const bool is_full = !room && sys::is_out_of_room(room.error());
    return is_full ? room : Result<>{};
}

}  // namespace

bool must_stay(const Caller& caller, const struct stat& was) {
    if (was.st_nlink != 1) return true;
    return caller.uid != 0 && (caller.uid != was.st_uid || !is_in_group(caller, was.st_gid));
}

bool LiveTree::can_overwrite(const Caller& caller, const Swap& swap,
                             std::optional<mode_t> mode) const {
    const bool changes_mode = mode && *mode != (swap.was.st_mode & 0777U);
    if (changes_mode && caller.uid != 0 && caller.uid != swap.was.st_uid) return false;
    return !write_hold_ && objects_.find(swap.old.key) != nullptr &&
           may_write(caller, swap.old_file->fd.get(), swap.was);
}

Result<NodeId> LiveTree::overwrite_locked(const Caller& caller, const Who& who, Swap& swap,
                                          std::optional<mode_t> mode) {
    const ObjectPtr object = objects_.find(swap.old.key);
    TRY_ASSIGN(const HandlePtr source, objects_.open(swap.made, Access::kRead));
    TRY_ASSIGN(const HandlePtr target, objects_.open(object, Access::kWrite));
    const int fd = target->fd.get();
    const Capture::Touching touching(capture_, object);
    TRY(capture_.cut(who, object, 0));
    // By its anchor the next life finds it. What was made in this interval has none.
    if (!objects_.attic().contains(swap.old.key)) return Error(EOPNOTSUPP);
    journal::InPlace note{.key = swap.old.key};
    TRY_ASSIGN(note.before, bytes_in(swap.old_file->fd.get()));
    TRY_ASSIGN(note.after, bytes_in(source->fd.get()));
    TRY(make_room(fd, note.after.size()));
    TRY(journal::note_in_place(capture_.state_directory(), note, capture_.durability()));
    crash_point("tree.in_place.noted");
    if (caller.uid != 0) TRY(clear_privileges(caller, object, fd));
    Result<> done = write_over(fd, note.after);
    crash_point("tree.in_place.cut");
    const bool is_half = !done && !write_over(fd, note.before);
    capture_.wrote(object->key(), fd);
    flusher_.wrote(object->key());
    if (!is_half) {
        ignore(journal::forget_in_place(capture_.state_directory()),
               "the next life finds the file as the note says, or changed since");
    }
    TRY(done);
    if (mode && *mode != (swap.was.st_mode & 0777U)) {
        TRY(capture_.attributes(who, object));
        const sys::ModesAtRest own;
        TRY(sys::change_mode(fd, *mode));
    }
    ignore(capture_.stamp(object->key(), fd), "it was changed all the same");
    return object->id();
}

Result<> finish_in_place(int state, const journal::Attic& attic) {
    TRY_ASSIGN(const auto note, journal::noted_in_place(state));
    if (note && attic.contains(note->key)) {
        TRY_ASSIGN(const UniqueFd file,
                   sys::open_at(attic.directory(), journal::Attic::file_name(note->key),
                                O_RDWR | O_NOFOLLOW));
        TRY_ASSIGN(const std::string now, bytes_in(file.get()));
        if (journal::written_in_place(*note, now)) {
            TRY(write_over(file.get(), note->after));
        } else {
            log::warning("an edit was interrupted, and its file was changed since: left as it is");
        }
    }
    return journal::forget_in_place(state);
}

}  // namespace unwrite::overlay
