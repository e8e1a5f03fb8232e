#include "tests/parity/fixture.h"

#include <fcntl.h>
#include <sys/sysmacros.h>

#include "base/syscalls.h"

namespace unwrite::tests::parity {

namespace {

constexpr std::size_t kFileBytes = 10000;
constexpr std::uint64_t kSparseBytes = 1U << 20U;

std::string text_of(std::size_t bytes) {
    std::string text(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i)
        text[i] = static_cast<char>('a' + (i * 7 + i / 256) % 26);
    return text;
}

sys::ConstBytes bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

Result<> make_file(int dir, const std::string& name, std::size_t bytes) {
    TRY_ASSIGN(const UniqueFd fd, sys::open_at(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0600));
    return sys::write_all_at(fd.get(), bytes_of(text_of(bytes)), 0);
}

Result<> make_sparse(int dir, const std::string& name) {
    TRY_ASSIGN(const UniqueFd fd, sys::open_at(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0600));
    TRY(sys::truncate(fd.get(), kSparseBytes));
    return sys::write_all_at(fd.get(), bytes_of(text_of(4096)), kSparseBytes / 2);
}

/// Mode, owner and extended attributes.
Result<> dress(int dir, const Item& item) {
    TRY_ASSIGN(const UniqueFd fd, sys::open_at(dir, item.name, O_PATH | O_NOFOLLOW));
    TRY(sys::change_owner(fd.get(), item.uid, item.gid));
    TRY_ASSIGN(const struct stat st, sys::stat_fd(fd.get()));
    if (!S_ISLNK(st.st_mode)) TRY(sys::change_mode(fd.get(), item.mode));
    for (const auto& [name, value] : item.xattrs)
        TRY(sys::set_xattr(fd.get(), name, value, 0));
    return {};
}

Result<> set_old_times(int dir, const std::string& name) {
    TRY_ASSIGN(const UniqueFd fd, sys::open_at(dir, name, O_PATH | O_NOFOLLOW));
    const struct timespec times[2] = {kAccessed, kModified};
    return sys::set_times(fd.get(), times);
}

Result<> make(int dir, const Item& item);

/// A further object that an item needs: the target of a link, what a directory holds.
Result<> make_beside(int dir, const Item& item, const std::string& name, Kind kind) {
    const mode_t mode = kind == Kind::kDirectory ? 0755 : 0644;
    return make(dir, {name, kind, mode, item.uid, item.gid});
}

Result<> fill(int dir, const Item& item) {
    TRY(sys::make_directory(dir, item.name, 0700));
    {
        TRY_ASSIGN(const UniqueFd fd, sys::open_at(dir, item.name, O_RDONLY | O_DIRECTORY));
        TRY(make_beside(fd.get(), item, "in", Kind::kFile));
        TRY(make_beside(fd.get(), item, "below", Kind::kDirectory));
    }
    return {};
}

Result<> make_bare(int dir, const Item& item) {
    const std::string& name = item.name;
    switch (item.kind) {
        case Kind::kAbsent:
            return {};
        case Kind::kFile:
            return make_file(dir, name, kFileBytes);
        case Kind::kEmpty:
            return make_file(dir, name, 0);
        case Kind::kSparse:
            return make_sparse(dir, name);
        case Kind::kTwin:
            TRY(make_file(dir, name, kFileBytes));
            return sys::link(dir, name, dir, name + ".twin");
        case Kind::kDirectory:
            return sys::make_directory(dir, name, 0700);
        case Kind::kFull:
            return fill(dir, item);
        case Kind::kLink:
            TRY(make_beside(dir, item, name + ".to", Kind::kFile));
            return sys::make_symlink(dir, name, name + ".to");
        case Kind::kLinkToDirectory:
            TRY(make_beside(dir, item, name + ".to", Kind::kDirectory));
            return sys::make_symlink(dir, name, name + ".to");
        case Kind::kDangling:
            return sys::make_symlink(dir, name, name + ".nothing");
        case Kind::kLoop:
            return sys::make_symlink(dir, name, name);
        case Kind::kFifo:
            return sys::make_node(dir, name, S_IFIFO | 0600, 0);
        case Kind::kSocket:
            return sys::make_node(dir, name, S_IFSOCK | 0600, 0);
        case Kind::kCharacterDevice:
            return sys::make_node(dir, name, S_IFCHR | 0600, makedev(1, 3));
        case Kind::kBlockDevice:
            return sys::make_node(dir, name, S_IFBLK | 0600, makedev(250, 77));
    }
    return {};
}

Result<> make(int dir, const Item& item) {
    if (item.kind == Kind::kAbsent) return {};
    TRY(make_bare(dir, item));
    TRY(dress(dir, item));
    return set_old_times(dir, item.name);
}

}  // namespace

Result<> build(int parent, const std::string& name, const Fixture& fixture) {
    TRY(sys::make_directory(parent, name, 0700));
    {
        TRY_ASSIGN(const UniqueFd dir, sys::open_at(parent, name, O_RDONLY | O_DIRECTORY));
        for (const Item& item : fixture.items)
            TRY(make(dir.get(), item));
    }
    TRY(dress(parent,
              {name, Kind::kDirectory, fixture.mode, fixture.uid, fixture.gid, fixture.xattrs}));
    return set_old_times(parent, name);
}

}  // namespace unwrite::tests::parity
