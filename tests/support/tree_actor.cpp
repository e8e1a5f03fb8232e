#include "tests/support/tree_actor.h"

#include <cerrno>

namespace unwrite::tests {

using overlay::AttributeChange;
using overlay::Entry;
using overlay::kRootId;
using overlay::NodeId;

namespace {

sys::ConstBytes bytes(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

template <class T>
int number(const Result<T>& result) {
    return result ? 0 : result.error().number();
}

}  // namespace

class TreeActor::Held {
 public:
    Held(overlay::Tree& tree, const Entry& entry) : tree_(&tree), entry_(entry) {}
    Held(Held&& other) noexcept
        : tree_(std::exchange(other.tree_, nullptr)), entry_(other.entry_) {}
    Held& operator=(Held&& other) noexcept {
        std::swap(tree_, other.tree_);
        std::swap(entry_, other.entry_);
        return *this;
    }
    ~Held() {
        if (tree_ != nullptr && entry_.id != kRootId) tree_->forget(entry_.id, 1);
    }
    NodeId id() const { return entry_.id; }
    const struct stat& st() const { return entry_.st; }
    NodeId keep() {
        tree_ = nullptr;
        return entry_.id;
    }

 private:
    overlay::Tree* tree_;
    Entry entry_;
};

TreeActor::~TreeActor() {
    for (unsigned slot = 0; slot < kSlots; ++slot)
        drop(slot);
}

Result<TreeActor::Held> TreeActor::find(const std::string& path) {
    TRY_ASSIGN(const struct stat root, tree_.getattr(kRootId));
    Held at(tree_, Entry{kRootId, root});
    for (std::size_t begin = 0; begin < path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        if (!S_ISDIR(at.st().st_mode)) return Error(ENOTDIR);
        TRY_ASSIGN(const Entry next,
                   tree_.lookup(caller_, at.id(), path.substr(begin, end - begin)));
        at = Held(tree_, next);
        begin = end + 1;
    }
    return at;
}

Result<TreeActor::Held> TreeActor::find_regular(const std::string& path) {
    TRY_ASSIGN(Held found, find(path));
    if (!S_ISREG(found.st().st_mode)) return Error(EINVAL);
    return found;
}

int TreeActor::with_parent(const std::string& path,
                           const std::function<Result<>(NodeId, const std::string&)>& action) {
    const auto [parent, name] = split_path(path);
    const auto found = find(parent);
    if (!found) return found.error().number();
    if (!S_ISDIR(found->st().st_mode)) return ENOTDIR;
    return number(action(found->id(), name));
}

int TreeActor::make(const std::string& path,
                    const std::function<Result<Entry>(NodeId, const std::string&)>& action) {
    return with_parent(path, [&](NodeId parent, const std::string& name) -> Result<> {
        TRY_ASSIGN(const Entry entry, action(parent, name));
        tree_.forget(entry.id, 1);
        return {};
    });
}

int TreeActor::change(const std::string& path, const AttributeChange& change) {
    const auto found = find(path);
    if (!found) return found.error().number();
    return number(tree_.setattr(caller_, found->id(), change));
}

// ---- names

int TreeActor::create(const std::string& path, mode_t mode) {
    return make(path, [&](NodeId parent, const std::string& name) {
        return tree_.create(caller_, parent, name, mode);
    });
}

int TreeActor::mkdir(const std::string& path, mode_t mode) {
    return make(path, [&](NodeId parent, const std::string& name) {
        return tree_.mkdir(caller_, parent, name, mode);
    });
}

int TreeActor::mknod(const std::string& path, mode_t mode, dev_t device) {
    return make(path, [&](NodeId parent, const std::string& name) {
        return tree_.mknod(caller_, parent, name, mode, device);
    });
}

int TreeActor::symlink(const std::string& path, const std::string& target) {
    return make(path, [&](NodeId parent, const std::string& name) {
        return tree_.symlink(caller_, parent, name, target);
    });
}

int TreeActor::link(const std::string& from, const std::string& to) {
    const auto source = find(from);
    if (!source) return source.error().number();
    if (S_ISDIR(source->st().st_mode)) return EPERM;
    return make(to, [&](NodeId parent, const std::string& name) {
        return tree_.link(caller_, source->id(), parent, name);
    });
}

int TreeActor::rename(const std::string& from, const std::string& to, unsigned flags) {
    // What the kernel finds out before it asks: a directory into itself.
    if (to.starts_with(from + "/") || from.starts_with(to + "/")) return EINVAL;
    return with_parent(from, [&](NodeId parent, const std::string& name) -> Result<> {
        const int number = with_parent(to, [&](NodeId to_parent, const std::string& to_name) {
            return tree_.rename(caller_, parent, name, to_parent, to_name, flags);
        });
        if (number != 0) return Error(number);
        return {};
    });
}

int TreeActor::unlink(const std::string& path) {
    return with_parent(path, [&](NodeId parent, const std::string& name) {
        return tree_.unlink(caller_, parent, name);
    });
}

int TreeActor::rmdir(const std::string& path) {
    return with_parent(path, [&](NodeId parent, const std::string& name) {
        return tree_.rmdir(caller_, parent, name);
    });
}

int TreeActor::temporary(const std::string& directory, std::string_view data,
                         const std::string& to) {
    const auto found = find(directory);
    if (!found) return found.error().number();
    if (!S_ISDIR(found->st().st_mode)) return ENOTDIR;
    const auto made = tree_.tmpfile(caller_, found->id(), 0640);
    if (!made) return made.error().number();
    const Held file(tree_, *made);
    const auto written = tree_.write(caller_, file.id(), bytes(data), 0, false);
    if (!written) return written.error().number();
    return make(to, [&](NodeId parent, const std::string& name) {
        return tree_.link(caller_, file.id(), parent, name);
    });
}

int TreeActor::with_nameless(
    const std::string& path, std::string_view data,
    const std::function<Result<>(NodeId made, const std::string& name)>& action) {
    return with_parent(path, [&](NodeId parent, const std::string& name) -> Result<> {
        TRY_ASSIGN(const overlay::Entry made, tree_.tmpfile(caller_, parent, 0600));
        const Held file(tree_, made);
        if (!data.empty()) {
            const auto written = tree_.write(caller_, file.id(), bytes(data), 0, false);
            if (!written) return written.error();
        }
        return action(file.id(), name);
    });
}

int TreeActor::exchange(const std::string& path, std::string_view expected, std::string_view data,
                        std::optional<mode_t> mode) {
    return with_nameless(path, data, [&](NodeId made, const std::string& name) -> Result<> {
        const auto done =
            tree_.exchange(caller_, made, name, {expected.size(), digest_of(expected), true}, mode);
        return done ? Result<>{} : Result<>{done.error()};
    });
}

int TreeActor::remove_expected(const std::string& path, std::string_view expected) {
    return with_nameless(path, "", [&](NodeId made, const std::string& name) {
        return tree_.remove_expected(caller_, made, name, {expected.size(), digest_of(expected)});
    });
}

// ---- content

int TreeActor::write(const std::string& path, std::uint64_t offset, std::string_view data) {
    const auto found = find_regular(path);
    if (!found) return found.error().number();
    return number(tree_.write(caller_, found->id(), bytes(data), offset, false));
}

int TreeActor::append(const std::string& path, std::string_view data) {
    const auto found = find_regular(path);
    if (!found) return found.error().number();
    return number(tree_.write(caller_, found->id(), bytes(data),
                              static_cast<std::uint64_t>(found->st().st_size), false));
}

int TreeActor::truncate(const std::string& path, std::uint64_t size) {
    const auto found = find_regular(path);
    if (!found) return found.error().number();
    AttributeChange change;
    change.size = size;
    return number(tree_.setattr(caller_, found->id(), change));
}

int TreeActor::fallocate(const std::string& path, int mode, std::uint64_t offset,
                         std::uint64_t length) {
    const auto found = find_regular(path);
    if (!found) return found.error().number();
    return number(tree_.fallocate(caller_, found->id(), mode, offset, length));
}

int TreeActor::copy(const std::string& from, std::uint64_t from_offset, const std::string& to,
                    std::uint64_t to_offset, std::size_t length) {
    const auto source = find_regular(from);
    if (!source) return source.error().number();
    const auto target = find_regular(to);
    if (!target) return target.error().number();
    return number(
        tree_.copy_file_range(caller_, source->id(), from_offset, target->id(), to_offset, length));
}

Result<std::string> TreeActor::read(const std::string& path) {
    TRY_ASSIGN(const Held found, find_regular(path));
    std::string text(static_cast<std::size_t>(found.st().st_size), '\0');
    TRY_ASSIGN(const std::size_t got,
               tree_.read(found.id(), std::as_writable_bytes(std::span(text)), 0));
    text.resize(got);
    return text;
}

Result<struct stat> TreeActor::stat(const std::string& path) {
    TRY_ASSIGN(const Held found, find(path));
    return tree_.getattr(found.id());
}

// ---- attributes

int TreeActor::chmod(const std::string& path, mode_t mode) {
    const auto found = find(path);
    if (!found) return found.error().number();
    if (S_ISLNK(found->st().st_mode)) return EINVAL;
    AttributeChange change;
    change.mode = mode;
    return number(tree_.setattr(caller_, found->id(), change));
}

int TreeActor::chown(const std::string& path, uid_t uid, gid_t gid) {
    AttributeChange wanted;
    wanted.uid = uid;
    wanted.gid = gid;
    return change(path, wanted);
}

int TreeActor::utimens(const std::string& path, std::int64_t mtime_ns) {
    AttributeChange wanted;
    wanted.mtime = {mtime_ns / 1'000'000'000, mtime_ns % 1'000'000'000};
    return change(path, wanted);
}

int TreeActor::set_xattr(const std::string& path, const std::string& name, std::string_view value,
                         int flags) {
    const auto found = find(path);
    if (!found) return found.error().number();
    return number(tree_.set_xattr(caller_, found->id(), name, value, flags));
}

int TreeActor::remove_xattr(const std::string& path, const std::string& name) {
    const auto found = find(path);
    if (!found) return found.error().number();
    return number(tree_.remove_xattr(caller_, found->id(), name));
}

// ---- what stays open

int TreeActor::hold(unsigned slot, const std::string& path) {
    auto found = find(path);
    if (!found) return found.error().number();
    if (!S_ISREG(found->st().st_mode) && !S_ISDIR(found->st().st_mode)) return EINVAL;
    drop(slot);
    slots_.at(slot) = found->keep();
    return 0;
}

void TreeActor::drop(unsigned slot) {
    const NodeId id = std::exchange(slots_.at(slot), 0);
    if (id != 0 && id != kRootId) tree_.forget(id, 1);
}

int TreeActor::write_held(unsigned slot, std::uint64_t offset, std::string_view data) {
    const NodeId id = slots_.at(slot);
    if (id == 0) return EBADF;
    return number(tree_.write(caller_, id, bytes(data), offset, false));
}

int TreeActor::truncate_held(unsigned slot, std::uint64_t size) {
    const NodeId id = slots_.at(slot);
    if (id == 0) return EBADF;
    AttributeChange change;
    change.size = size;
    return number(tree_.setattr(caller_, id, change));
}

int TreeActor::chmod_held(unsigned slot, mode_t mode) {
    const NodeId id = slots_.at(slot);
    if (id == 0) return EBADF;
    AttributeChange change;
    change.mode = mode;
    return number(tree_.setattr(caller_, id, change));
}

int TreeActor::create_below_held(unsigned slot, const std::string& name) {
    const NodeId id = slots_.at(slot);
    if (id == 0) return EBADF;
    const auto made = tree_.create(caller_, id, name, 0644);
    if (!made) return made.error().number();
    tree_.forget(made->id, 1);
    return 0;
}

}  // namespace unwrite::tests
