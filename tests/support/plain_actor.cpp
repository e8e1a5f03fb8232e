#include "tests/support/plain_actor.h"

#include <cerrno>
#include <stdexcept>

namespace unwrite::tests {

namespace {

sys::ConstBytes bytes(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

template <class T>
int number(const Result<T>& result) {
    return result ? 0 : result.error().number();
}

}  // namespace

PlainActor::PlainActor(const std::string& directory) {
    auto fd = sys::open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
    if (!fd) throw std::runtime_error("open " + directory);
    root_ = *std::move(fd);
}

Result<UniqueFd> PlainActor::find(const std::string& path) const {
    TRY_ASSIGN(UniqueFd at, sys::duplicate(root_.get()));
    for (std::size_t begin = 0; begin < path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        TRY_ASSIGN(const struct stat st, sys::stat_fd(at.get()));
        if (!S_ISDIR(st.st_mode)) return Error(ENOTDIR);
        TRY_ASSIGN(at, sys::open_at(at.get(), path.substr(begin, end - begin), O_PATH));
        begin = end + 1;
    }
    return at;
}

Result<UniqueFd> PlainActor::find_regular(const std::string& path) const {
    TRY_ASSIGN(const UniqueFd found, find(path));
    TRY_ASSIGN(const struct stat st, sys::stat_fd(found.get()));
    if (!S_ISREG(st.st_mode)) return Error(EINVAL);
    return sys::reopen(found.get(), O_RDWR);
}

Result<PlainActor::At> PlainActor::parent_of(const std::string& path) const {
    auto [parent, name] = split_path(path);
    TRY_ASSIGN(UniqueFd fd, find(parent));
    TRY_ASSIGN(const struct stat st, sys::stat_fd(fd.get()));
    if (!S_ISDIR(st.st_mode)) return Error(ENOTDIR);
    return At{std::move(fd), std::move(name)};
}

// ---- names

int PlainActor::create(const std::string& path, mode_t mode) {
    const auto at = parent_of(path);
    return at ? number(sys::open_at(at->parent.get(), at->name, O_RDWR | O_CREAT | O_EXCL, mode))
              : number(at);
}

int PlainActor::mkdir(const std::string& path, mode_t mode) {
    const auto at = parent_of(path);
    return at ? number(sys::make_directory(at->parent.get(), at->name, mode)) : number(at);
}

int PlainActor::mknod(const std::string& path, mode_t mode, dev_t device) {
    const auto at = parent_of(path);
    return at ? number(sys::make_node(at->parent.get(), at->name, mode, device)) : number(at);
}

int PlainActor::symlink(const std::string& path, const std::string& target) {
    const auto at = parent_of(path);
    return at ? number(sys::make_symlink(at->parent.get(), at->name, target)) : number(at);
}

int PlainActor::link(const std::string& from, const std::string& to) {
    const auto source = find(from);
    if (!source) return number(source);
    const auto st = sys::stat_fd(source->get());
    if (st && S_ISDIR(st->st_mode)) return EPERM;
    const auto at = parent_of(to);
    return at ? number(sys::link_fd(source->get(), at->parent.get(), at->name)) : number(at);
}

int PlainActor::rename(const std::string& from, const std::string& to, unsigned flags) {
    if (to.starts_with(from + "/") || from.starts_with(to + "/")) return EINVAL;
    const auto source = parent_of(from);
    if (!source) return number(source);
    const auto target = parent_of(to);
    return target ? number(sys::rename(source->parent.get(), source->name, target->parent.get(),
                                       target->name, flags))
                  : number(target);
}

int PlainActor::unlink(const std::string& path) {
    const auto at = parent_of(path);
    return at ? number(sys::unlink(at->parent.get(), at->name)) : number(at);
}

int PlainActor::rmdir(const std::string& path) {
    const auto at = parent_of(path);
    return at ? number(sys::remove_directory(at->parent.get(), at->name)) : number(at);
}

int PlainActor::temporary(const std::string& directory, std::string_view data,
                          const std::string& to) {
    const auto found = find(directory);
    if (!found) return number(found);
    const auto st = sys::stat_fd(found->get());
    if (st && !S_ISDIR(st->st_mode)) return ENOTDIR;
    const auto made = sys::open_at(found->get(), ".", O_TMPFILE | O_RDWR, 0640);
    if (!made) return number(made);
    const auto written = sys::write_all_at(made->get(), bytes(data), 0);
    if (!written) return number(written);
    const auto at = parent_of(to);
    return at ? number(sys::link_fd(made->get(), at->parent.get(), at->name)) : number(at);
}

// ---- content

int PlainActor::write(const std::string& path, std::uint64_t offset, std::string_view data) {
    const auto file = find_regular(path);
    return file ? number(sys::write_all_at(file->get(), bytes(data), offset)) : number(file);
}

int PlainActor::append(const std::string& path, std::string_view data) {
    const auto file = find_regular(path);
    if (!file) return number(file);
    const auto st = sys::stat_fd(file->get());
    return st ? number(sys::write_all_at(file->get(), bytes(data),
                                         static_cast<std::uint64_t>(st->st_size)))
              : number(st);
}

int PlainActor::truncate(const std::string& path, std::uint64_t size) {
    const auto file = find_regular(path);
    return file ? number(sys::truncate(file->get(), size)) : number(file);
}

int PlainActor::fallocate(const std::string& path, int mode, std::uint64_t offset,
                          std::uint64_t length) {
    const auto file = find_regular(path);
    return file ? number(sys::fallocate(file->get(), mode, offset, length)) : number(file);
}

int PlainActor::copy(const std::string& from, std::uint64_t from_offset, const std::string& to,
                     std::uint64_t to_offset, std::size_t length) {
    const auto source = find_regular(from);
    if (!source) return number(source);
    const auto target = find_regular(to);
    return target ? number(sys::copy_range(source->get(), from_offset, target->get(), to_offset,
                                           length))
                  : number(target);
}

// ---- attributes

int PlainActor::chmod(const std::string& path, mode_t mode) {
    const auto found = find(path);
    if (!found) return number(found);
    const auto st = sys::stat_fd(found->get());
    if (st && S_ISLNK(st->st_mode)) return EINVAL;
    return number(sys::change_mode(found->get(), mode));
}

int PlainActor::chown(const std::string& path, uid_t uid, gid_t gid) {
    const auto found = find(path);
    return found ? number(sys::change_owner(found->get(), uid, gid)) : number(found);
}

int PlainActor::utimens(const std::string& path, std::int64_t mtime_ns) {
    const auto found = find(path);
    const struct timespec times[2] = {{0, UTIME_OMIT},
                                      {mtime_ns / 1'000'000'000, mtime_ns % 1'000'000'000}};
    return found ? number(sys::set_times(found->get(), times)) : number(found);
}

int PlainActor::set_xattr(const std::string& path, const std::string& name, std::string_view value,
                          int flags) {
    const auto found = find(path);
    return found ? number(sys::set_xattr(found->get(), name, value, flags)) : number(found);
}

int PlainActor::remove_xattr(const std::string& path, const std::string& name) {
    const auto found = find(path);
    return found ? number(sys::remove_xattr(found->get(), name)) : number(found);
}

// ---- what stays open

int PlainActor::hold(unsigned slot, const std::string& path) {
    auto found = find(path);
    if (!found) return number(found);
    const auto st = sys::stat_fd(found->get());
    if (!st) return number(st);
    if (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode)) return EINVAL;
    auto open = sys::reopen(found->get(), S_ISREG(st->st_mode) ? O_RDWR : O_RDONLY | O_DIRECTORY);
    if (!open) return number(open);
    slots_.at(slot) = *std::move(open);
    return 0;
}

int PlainActor::write_held(unsigned slot, std::uint64_t offset, std::string_view data) {
    const UniqueFd& fd = slots_.at(slot);
    if (!fd) return EBADF;
    const auto st = sys::stat_fd(fd.get());
    if (st && S_ISDIR(st->st_mode)) return EISDIR;
    return number(sys::write_all_at(fd.get(), bytes(data), offset));
}

int PlainActor::truncate_held(unsigned slot, std::uint64_t size) {
    const UniqueFd& fd = slots_.at(slot);
    if (!fd) return EBADF;
    const auto st = sys::stat_fd(fd.get());
    if (st && S_ISDIR(st->st_mode)) return EISDIR;
    return number(sys::truncate(fd.get(), size));
}

int PlainActor::chmod_held(unsigned slot, mode_t mode) {
    const UniqueFd& fd = slots_.at(slot);
    return fd ? number(sys::change_mode(fd.get(), mode)) : EBADF;
}

int PlainActor::create_below_held(unsigned slot, const std::string& name) {
    const UniqueFd& fd = slots_.at(slot);
    if (!fd) return EBADF;
    return number(sys::open_at(fd.get(), name, O_RDWR | O_CREAT | O_EXCL, 0644));
}

}  // namespace unwrite::tests
