#include "overlay/editing_files.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/crash_point.h"
#include "base/open_beneath.h"
#include "base/syscalls.h"
#include "edit/text_safety.h"
#include "overlay/exchange.h"
#include "overlay/path_parts.h"

namespace unwrite::overlay {

namespace {

using edit::FileKind;
using edit::FileState;

constexpr std::uint64_t kAnySize = UINT64_MAX;

// With a slash behind, a name is that of a directory, to every program.
Result<> check_slash(const std::string& asked, const FileState& state) {
    const bool is_directory_name = asked.ends_with('/') || asked.ends_with("/.");
    const std::string shown = edit::displayed(asked);
    if (is_directory_name && state.kind == FileKind::kFile)
        return Error(ErrorKind::kUsage, ENOTDIR, shown + ": Not a directory",
                     "Call again with path \"" + edit::displayed(state.path) + "\".");
    if (is_directory_name && state.kind == FileKind::kAbsent)
        return Error(ErrorKind::kUsage, ENOENT, shown + ": No such directory",
                     "Give the path of a file, without the slash at its end.");
    return {};
}

Error no_directory(const std::string& path, const Error& error) {
    const bool is_ours = path == ".unwrite" || path.starts_with(".unwrite/");
    return error.with_context("Failed to create parent directories (" + edit::displayed(path) + ")")
        .with_advice(is_ours ? "unwrite keeps its own files in .unwrite. Leave them alone."
                             : "Use another path, or ask the user to make this directory.");
}

Result<std::string> random_token() {
    unsigned char bytes[8];
    if (::getrandom(bytes, sizeof bytes, 0) != sizeof bytes) return sys::last_error();
    std::string token;
    for (const unsigned char byte : bytes) {
        token += "0123456789abcdef"[byte >> 4];
        token += "0123456789abcdef"[byte & 15];
    }
    return token;
}

// The files of an edit that lie in one directory have one each, and who knows the token and the
// file's name knows it.
std::string temporary_name(const std::string& token, const std::string& name) {
    return ".unwrite-edit-" + token + "-" + to_hex(digest_of(name)).substr(0, 16);
}

Error changed(const std::string& path) {
    return {ErrorKind::kConflict, ESTALE,
            edit::displayed(path) + ": File content changed since last read"};
}

}  // namespace

Result<std::unique_ptr<EditFiles>> EditFiles::open(UniqueFd root, EditFilesOptions options) {
    TRY_ASSIGN(std::string token, random_token());
    std::unique_ptr<EditFiles> files(
        new EditFiles(std::move(root), std::move(options), std::move(token)));
    files->exchanges_ = ::ioctl(files->root_.get(), kProbeCommand) == 0;
    return files;
}

Result<bool> EditFiles::try_lock() {
    TRY_ASSIGN(UniqueFd fd, sys::open_beneath(root_.get(), "", O_RDONLY | O_DIRECTORY, 0));
    TRY_ASSIGN(const bool held, sys::try_lock_file(fd.get()));
    if (held) lock_ = std::move(fd);
    return held;
}

Result<> EditFiles::lock() {
    for (int tries = 0; tries < 1000; ++tries) {
        TRY_ASSIGN(const bool held, try_lock());
        if (held) return {};
        ::poll(nullptr, 0, 10);
    }
    return Error(ErrorKind::kConflict, EAGAIN, "another edit of this workspace is still going on",
                 "try again when it has ended");
}

// What failed in the end, in words.
Error EditFiles::refusal(const std::string& path, const Error& error) const {
    if (error.number() == ECANCELED || error.number() == EEXIST) return changed(path);
    if (error.number() == EACCES && error.text().empty()) return denied(path, true);
    return error;
}

Result<EditFiles::Place> EditFiles::place_of(const std::string& path) const {
    if (path.empty()) return Error(ErrorKind::kSystem, EISDIR, "is a directory");
    auto parent = sys::open_beneath(root_.get(), parent_of(path), O_RDONLY | O_DIRECTORY,
                                    RESOLVE_NO_SYMLINKS);
    if (!parent) {
        const int number = parent.error().number();
        if (number == EXDEV || number == ELOOP)
            return Error(ErrorKind::kRefused, EACCES, "outside sandbox");
        return std::move(parent).error();
    }
    return Place{*std::move(parent), name_of(path)};
}

Result<FileState> EditFiles::state_at(const Place& place, const std::string& path,
                                      std::uint64_t max_bytes) const {
    FileState state;
    state.path = path;
    auto handle = sys::open_at(place.parent.get(), place.name, O_PATH | O_NOFOLLOW);
    if (!handle && handle.error().number() == ENOENT) return state;
    if (!handle && handle.error().number() == EACCES) return denied(path, false);
    if (!handle) return std::move(handle).error();
    TRY_ASSIGN(const struct stat seen, sys::stat_fd(handle->get()));
    state.mode = seen.st_mode & 07777U;
    state.size = static_cast<std::uint64_t>(seen.st_size);
    state.kind = S_ISREG(seen.st_mode)   ? FileKind::kFile
                 : S_ISDIR(seen.st_mode) ? FileKind::kDirectory
                                         : FileKind::kOther;
    if (S_ISREG(seen.st_mode) && seen.st_nlink > 1)
        state.object = std::to_string(seen.st_dev) + ":" + std::to_string(seen.st_ino);
    if (S_ISLNK(seen.st_mode)) {
        state.link = sys::read_link(handle->get(), "").value_or("");
        state.leads_to = led_to(path, state.link);
    }
    if (state.kind != FileKind::kFile || state.size > max_bytes) return state;
    // The same object that was looked at, whatever the name leads to by now.
    auto file = sys::reopen(handle->get(), O_RDONLY);
    if (!file && file.error().number() == EACCES) return denied(path, false);
    if (!file) return std::move(file).error();
    state.bytes.resize(state.size);
    std::size_t used = 0;
    while (used < state.bytes.size()) {
        const auto room = std::as_writable_bytes(std::span(state.bytes)).subspan(used);
        TRY_ASSIGN(const std::size_t got, sys::read_at(file->get(), room, used));
        if (got == 0) break;
        used += got;
    }
    state.bytes.resize(used);
    state.size = used;
    return state;
}

Result<FileState> EditFiles::look(const std::string& path, std::uint64_t max_bytes) {
    TRY_ASSIGN(const std::string clean, relative(path));
    TRY_ASSIGN(const std::string where, resolved(clean, 0));
    FileState state;
    state.path = where;
    const Result<> may = permitted({.path = where}, nullptr);
    if (!may && may.error().kind() != ErrorKind::kNotFound) return may.error();
    if (!may) {  // hidden by a rule
        TRY(check_slash(path, state));
        return state;
    }
    if (where.empty()) {
        state.kind = FileKind::kDirectory;
        return state;
    }
    auto place = place_of(where);
    const bool is_below_nothing = !place && place.error().number() == ENOENT;
    if (!place && !is_below_nothing) return std::move(place).error();
    if (place) {
        TRY_ASSIGN(state, state_at(*place, where, max_bytes));
    }
    TRY(check_slash(path, state));
    return state;
}

Result<FileState> EditFiles::look(const std::string& path) {
    FileState state;
    state.path = path;
    const auto place = place_of(path);
    if (!place && place.error().number() == ENOENT) return state;
    if (!place) return place.error();
    return state_at(*place, path, kAnySize);
}

Result<FileState> EditFiles::expect(const Place& place, const std::string& path,
                                    const std::optional<Digest>& expected) const {
    TRY_ASSIGN(FileState now, state_at(place, path, kAnySize));
    const bool as_expected = expected
                                 ? now.kind == FileKind::kFile && digest_of(now.bytes) == *expected
                                 : now.kind == FileKind::kAbsent;
    if (!as_expected) return changed(path);
    return now;
}

Result<> EditFiles::write_temporary(const Place& place, const std::string& temporary,
                                    const std::string& bytes,
                                    std::optional<std::uint32_t> mode) const {
    TRY_ASSIGN(UniqueFd fd, sys::open_at(place.parent.get(), temporary,
                                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666));
    const auto old = sys::open_at(place.parent.get(), place.name, O_PATH | O_NOFOLLOW);
    if (old) {
        TRY_ASSIGN(const struct stat was, sys::stat_fd(old->get()));
        TRY_ASSIGN(const struct stat made, sys::stat_fd(fd.get()));
        if (was.st_uid != made.st_uid || was.st_gid != made.st_gid)
            ignore(sys::change_owner(fd.get(), was.st_uid, was.st_gid),
                   "who is not privileged gets the file in its own name, as with any editor");
        if (!mode) mode = was.st_mode & 07777U;
        if (const auto xattrs = sys::read_xattrs(old->get())) {
            for (const auto& [name, value] : *xattrs)
                ignore(sys::set_xattr(fd.get(), name, value, 0),
                       "attributes that this user may not set are the system's");
        }
    }
    TRY(sys::write_all_at(fd.get(), std::as_bytes(std::span(bytes)), 0));
    if (mode) TRY(sys::change_mode(fd.get(), *mode));
    TRY(sys::sync(fd.get()));
    return sys::close(std::move(fd));
}

Result<UniqueFd> EditFiles::write_nameless(const Place& place, const std::string& bytes,
                                           std::optional<std::uint32_t> mode) const {
    TRY_ASSIGN(UniqueFd fd, sys::open_at(place.parent.get(), ".", O_TMPFILE | O_RDWR, 0666));
    TRY(sys::write_all_at(fd.get(), std::as_bytes(std::span(bytes)), 0));
    if (mode) TRY(sys::change_mode(fd.get(), *mode));
    TRY(sys::sync(fd.get()));
    return fd;
}

Result<> EditFiles::prepare(const std::string& path, const std::string& bytes,
                            std::optional<std::uint32_t> mode) {
    TRY_ASSIGN(const Place place, place_of(path));
    if (exchanges_) {
        auto nameless = write_nameless(place, bytes, mode);
        crash_point("edit.prepared");
        if (nameless) {
            prepared_.insert_or_assign(path, *std::move(nameless));
            return {};
        }
        if (nameless.error().number() != EOPNOTSUPP) return refusal(path, nameless.error());
    }
    const std::string temporary = temporary_name(token_, place.name);
    const Result<> written = write_temporary(place, temporary, bytes, mode);
    crash_point("edit.prepared");
    if (written) {
        prepared_.insert_or_assign(path, UniqueFd());
        return {};
    }
    ignore(sys::unlink(place.parent.get(), temporary), "the first failure is reported");
    return refusal(path, written.error());
}

void EditFiles::drop_prepared() {
    for (const auto& [path, file] : prepared_) {
        if (file) continue;
        if (const auto place = place_of(path))
            ignore(sys::unlink(place->parent.get(), temporary_name(token_, place->name)),
                   "what stays is cleared away with the edit that it belongs to");
    }
    prepared_.clear();
}

Result<> EditFiles::exchange(unsigned long command, const Place& place, const FileState& now,
                             const UniqueFd& nameless, std::optional<std::uint32_t> mode) const {
    ExchangeRequest request;
    if (place.name.size() >= request.name.size()) return Error(ENAMETOOLONG);
    request.expected = {now.bytes.size(), digest_of(now.bytes), /*may_overwrite=*/true};
    request.mode = mode.value_or(ExchangeRequest::kKeepMode);
    request.length = static_cast<std::uint32_t>(place.name.size());
    std::copy(place.name.begin(), place.name.end(), request.name.begin());
    if (::ioctl(nameless.get(), command, &request) == 0) return {};
    return sys::last_error();
}

Result<> EditFiles::put_nameless(const Place& place, const FileState& now, const UniqueFd& file,
                                 std::optional<std::uint32_t> mode) const {
    if (now.kind == FileKind::kFile) return exchange(kExchangeCommand, place, now, file, mode);
    return sys::link_fd(file.get(), place.parent.get(), place.name);
}

// A new name must still be free; an old one is replaced in one step.
Result<> EditFiles::put_beside(const Place& place, bool replaces,
                               const std::string& temporary) const {
    const int parent = place.parent.get();
    const Result<> done = sys::rename(parent, temporary, parent, place.name,
                                      replaces ? 0 : static_cast<unsigned>(RENAME_NOREPLACE));
    if (!done) ignore(sys::unlink(parent, temporary), "the first failure is reported");
    return done;
}

Result<> EditFiles::put(const std::string& path, const std::optional<Digest>& expected,
                        const std::string& bytes, std::optional<std::uint32_t> mode) {
    if (!prepared_.contains(path)) TRY(prepare(path, bytes, mode));
    const UniqueFd file = std::move(prepared_.extract(path).mapped());
    TRY_ASSIGN(const Place place, place_of(path));
    const std::string temporary = temporary_name(token_, place.name);
    crash_point("edit.written");
    const Standing was = standing(place);
    const auto now = expect(place, path, expected);
    Result<> done = now ? Result<>{} : Result<>{now.error()};
    if (!now && !file) {
        ignore(sys::unlink(place.parent.get(), temporary), "the first failure is reported");
    } else if (now && file) {
        done = put_nameless(place, *now, file, mode);
        const bool is_beyond_it = !done && done.error().number() == EOPNOTSUPP;
        if (is_beyond_it) done = write_temporary(place, temporary, bytes, mode);
        if (is_beyond_it && done) done = put_beside(place, expected.has_value(), temporary);
    } else if (now) {
        done = put_beside(place, expected.has_value(), temporary);
    }
    if (!done) return refusal(path, done.error());
    remark(path, was, standing(place), mode);
    // The last one of a directory syncs the names of all.
    const bool is_last = std::none_of(prepared_.begin(), prepared_.end(), [&](const auto& other) {
        return parent_of(other.first) == parent_of(path);
    });
    if (is_last) {
        ignore(sys::sync(place.parent.get()),
               "the file is written; its name is synced if it can be");
    }
    return {};
}

Result<> EditFiles::remove(const std::string& path, const Digest& expected) {
    TRY_ASSIGN(const Place place, place_of(path));
    TRY_ASSIGN(const FileState now, expect(place, path, expected));
    Result<> done = Error(EOPNOTSUPP);
    if (exchanges_) {
        auto nameless = write_nameless(place, "", std::nullopt);
        done = nameless ? exchange(kRemoveCommand, place, now, *nameless, std::nullopt)
                        : Result<>{nameless.error()};
    }
    if (!done && done.error().number() == EOPNOTSUPP)
        done = sys::unlink(place.parent.get(), place.name);
    return done ? done : Result<>{refusal(path, done.error())};
}

Result<> EditFiles::put_back(const std::string& path, const Digest& expected,
                             const std::string& bytes) {
    if (!exchanges_) return Error(EOPNOTSUPP);
    TRY_ASSIGN(const Place place, place_of(path));
    TRY_ASSIGN(const FileState now, expect(place, path, expected));
    TRY_ASSIGN(const UniqueFd nameless, write_nameless(place, bytes, std::nullopt));
    TRY(exchange(kExchangeCommand, place, now, nameless, std::nullopt));
    ignore(sys::sync(place.parent.get()), "the file is written; its name is synced if it can be");
    return {};
}

Result<> EditFiles::remove_empty_directory(const std::string& path) {
    TRY_ASSIGN(const Place place, place_of(path));
    return sys::remove_directory(place.parent.get(), place.name);
}

Result<std::vector<std::string>> EditFiles::missing_directories(const std::string& path) {
    std::vector<std::string> missing;
    for (std::string at = parent_of(path); !at.empty(); at = parent_of(at)) {
        const auto fd =
            sys::open_beneath(root_.get(), at, O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
        if (fd) break;
        if (fd.error().number() != ENOENT) return no_directory(at, fd.error());
        missing.insert(missing.begin(), at);
    }
    return missing;
}

Result<> EditFiles::make_directories(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
        TRY_ASSIGN(const Place place, place_of(path));
        if (auto made = sys::make_directory(place.parent.get(), place.name, 0777); !made)
            return no_directory(path, made.error());
    }
    return {};
}

std::optional<std::string> EditFiles::temporary_of(const std::string& path,
                                                   const std::string& token) const {
    const auto place = place_of(path);
    if (!place) return std::nullopt;
    const std::string name = temporary_name(token, place->name);
    if (!sys::open_at(place->parent.get(), name, O_PATH | O_NOFOLLOW)) return std::nullopt;
    return joined(parent_of(path), name);
}

bool EditFiles::is_empty_directory(const std::string& path) const {
    const auto place = place_of(path);
    if (!place) return false;
    const auto fd =
        sys::open_at(place->parent.get(), place->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!fd) return false;
    const auto empty = sys::is_empty_directory(fd->get());
    return empty && *empty;
}

}  // namespace unwrite::overlay
