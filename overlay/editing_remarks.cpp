// What an edit did to a file beside its text: its other names, its owner, its mode.
#include <unistd.h>

#include "base/syscalls.h"
#include "edit/text_safety.h"
#include "overlay/editing_files.h"

namespace unwrite::overlay {

namespace {

std::string octal(mode_t mode) {
    std::string digits;
    for (int shift = 9; shift >= 0; shift -= 3)
        digits += static_cast<char>('0' + ((mode >> shift) & 7U));
    return digits;
}

std::string owner_of(const struct stat& st) {
    return "user " + std::to_string(st.st_uid) + ", group " + std::to_string(st.st_gid);
}

}  // namespace

EditFiles::Standing EditFiles::standing(const Place& place) {
    Standing there;
    auto file = sys::open_at(place.parent.get(), place.name, O_PATH | O_NOFOLLOW);
    const auto st = file ? sys::stat_fd(file->get()) : Result<struct stat>(file.error());
    if (!st) return there;
    there.st = *st;
    there.may_write =
        ::faccessat(AT_FDCWD, sys::fd_path(file->get()).c_str(), W_OK, AT_EACCESS) == 0;
    there.file = *std::move(file);
    return there;
}

void EditFiles::remark(const std::string& path, const Standing& was, const Standing& now,
                       std::optional<std::uint32_t> mode) {
    if (!was.file || !now.file) return;
    const std::string shown = "\"" + edit::displayed(path) + "\"";
    const std::string why =
        was.may_write ? "this file could only be replaced" : "you may not write to the file itself";
    const bool same = was.st.st_ino == now.st.st_ino;
    if (same) {
        // It was written over, and so far only the new file was synced.
        if (const auto file = sys::reopen(now.file.get(), O_RDONLY))
            ignore(sys::sync(file->get()), "the file is written; it is synced if it can be");
    }
    const std::string names = std::to_string(was.st.st_nlink) + " names of a file (hard links). ";
    if (was.st.st_nlink > 1 && same) {
        remarks_.push_back(shown + " is one of " + names + "All of them have the same text.");
    } else if (was.st.st_nlink > 1) {
        remarks_.push_back(shown + " was one of " + names +
                           "The other names keep the text that they had, because " + why + ".");
    }
    if (was.st.st_uid != now.st.st_uid || was.st.st_gid != now.st.st_gid) {
        remarks_.push_back(shown + " belonged to " + owner_of(was.st) + ", and now belongs to " +
                           owner_of(now.st) + ", because " + why + ".");
    }
    const mode_t wanted = mode.value_or(was.st.st_mode & 07777U);
    if (wanted != (now.st.st_mode & 07777U)) {
        const bool is_set_id = (wanted & ~(now.st.st_mode & 07777U) & 06000U) != 0;
        remarks_.push_back(
            "The mode of " + shown + " was " + octal(was.st.st_mode) + ", and is now " +
            octal(now.st.st_mode) +
            (is_set_id ? ": writing to a file clears its set-id bits." : ", because " + why + "."));
    }
}

}  // namespace unwrite::overlay
