#include "cli/home_layer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <sstream>

#include "base/confinement.h"
#include "base/paths.h"
#include "base/syscalls.h"
#include "cli/confine.h"
#include "cli/confine_view.h"

namespace unwrite::cli {

namespace {

/// Of what the layer holds, so much is copied out of it at its end.
constexpr std::uint64_t kMostCopied = std::uint64_t{256} << 20;

/// Larger files of the home directory itself are shown read-only instead of copied.
constexpr off_t kLargestCopy = 4 << 20;

std::string at(const UniqueFd& directory, const std::string& name) {
    return fmt::format("/proc/self/fd/{}/{}", directory.get(), name);
}

bool is_same(const struct stat& one, const struct stat& other) {
    return one.st_ino == other.st_ino && one.st_size == other.st_size &&
           one.st_mode == other.st_mode && one.st_mtim.tv_sec == other.st_mtim.tv_sec &&
           one.st_mtim.tv_nsec == other.st_mtim.tv_nsec;
}

Result<> copy_file(int from, const std::string& name, int to, const std::string& path,
                   const struct stat& st) {
    TRY_ASSIGN(const UniqueFd in, sys::open_at(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    TRY_ASSIGN(const UniqueFd out,
               sys::open_at(to, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
    TRY(sys::copy_bytes(in.get(), 0, out.get(), 0, static_cast<std::uint64_t>(st.st_size)));
    TRY(sys::change_mode(out.get(), st.st_mode & 0777));
    const struct timespec times[2] = {st.st_atim, st.st_mtim};
    return sys::set_times(out.get(), times);
}

/// With those on the way to it.
Result<> make_directories_below(int top, const std::string& path) {
    for (std::size_t end = 0; end != std::string::npos;) {
        end = path.find('/', end + 1);
        const Result<> made = sys::make_directory(top, path.substr(0, end), 0700);
        if (!made && made.error().number() != EEXIST) return made;
    }
    return {};
}

class Copier {
 public:
    Copier(const std::string& home, int tree, std::string& list)
        : home_(home), caches_(cache_directories()), tree_(tree), list_(list) {}

    Result<> directory(int from, const std::string& path) {
        TRY_ASSIGN(const std::vector<sys::DirectoryEntry> entries, sys::read_directory(from));
        for (const sys::DirectoryEntry& entry : entries)
            TRY(one(from, entry.name, path.empty() ? entry.name : path + "/" + entry.name));
        return {};
    }
    void record(LayerRecord kind, const std::string& path) {
        list_ += static_cast<char>(kind) + path + '\0';
    }

    Result<> one(int from, const std::string& name, const std::string& path) {
        TRY_ASSIGN(const struct stat st, sys::stat_at(from, name));
        if (S_ISDIR(st.st_mode)) {
            TRY_ASSIGN(const UniqueFd below,
                       sys::open_at(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
            return directory(below.get(), path);
        }
        // What the layer says of a name that is gone.
        if (S_ISCHR(st.st_mode) && st.st_rdev == 0) {
            record(LayerRecord::kRemoved, path);
            return {};
        }
        const bool fits = copied_ + static_cast<std::uint64_t>(st.st_size) <= kMostCopied;
        const bool is_plain = S_ISREG(st.st_mode) || S_ISLNK(st.st_mode);
        if (!is_plain || !fits || is_cache(path) || !copy(from, name, path, st)) {
            record(LayerRecord::kCounted, path);
            return {};
        }
        copied_ += static_cast<std::uint64_t>(st.st_size);
        record(LayerRecord::kCopied, path);
        return {};
    }

 private:
    bool is_cache(const std::string& path) const {
        return std::any_of(caches_.begin(), caches_.end(), [&](const std::string& cache) {
            return is_at_or_below(home_ + "/" + path, cache);
        });
    }

    Result<> copy(int from, const std::string& name, const std::string& path,
                  const struct stat& st) {
        if (const std::size_t end = path.rfind('/'); end != std::string::npos)
            TRY(make_directories_below(tree_, path.substr(0, end)));
        if (S_ISLNK(st.st_mode)) {
            TRY_ASSIGN(const std::string target, sys::read_link(from, name));
            return sys::make_symlink(tree_, path, target);
        }
        return copy_file(from, name, tree_, path, st);
    }

    const std::string home_;
    const std::vector<std::string> caches_;
    const int tree_;
    std::string& list_;
    std::uint64_t copied_ = 0;
};

}  // namespace

Result<HomeLayer> HomeLayer::prepare(const HomeView& view) {
    HomeLayer layer;
    layer.view_ = view;
    if (view.home.empty()) return layer;
    TRY_ASSIGN(layer.lower_, sys::open_at(AT_FDCWD, view.home, O_PATH | O_DIRECTORY));
    if (!view.handoff.empty()) {
        TRY_ASSIGN(layer.handoff_, sys::copy_mounts(view.handoff));
    }
    for (const std::string& path : view.live) {
        Result<UniqueFd> tree = sys::copy_mounts(path);
        if (!tree) return tree.error().with_context("copy the mounts at " + path);
        layer.live_.emplace_back(std::move(*tree), path);
    }
    return layer;
}

Result<> HomeLayer::put_layer() {
    TRY_ASSIGN(const struct stat st, sys::stat_fd(lower_.get()));
    TRY_ASSIGN(layer_, sys::open_at(AT_FDCWD, view_.home, O_RDONLY | O_DIRECTORY));
    for (const char* name : {"view", "upper", "work"})
        TRY(sys::make_directory(layer_.get(), name, 0700));
    TRY_ASSIGN(top_, sys::open_at(layer_.get(), "view", O_RDONLY | O_DIRECTORY));
    TRY(sys::change_owner(top_.get(), st.st_uid, st.st_gid));
    TRY(sys::change_mode(top_.get(), st.st_mode & 07777));
    TRY_ASSIGN(const UniqueFd view, sys::copy_mounts(at(layer_, "view")));
    TRY(sys::put_mounts(view.get(), view_.home));
    mounted_ = 2;
    return view_.shown.empty() ? show_all() : show_some();
}

Result<> HomeLayer::show_all() {
    TRY_ASSIGN(const UniqueFd real,
               sys::open_at(AT_FDCWD, at(lower_, "."), O_RDONLY | O_DIRECTORY));
    TRY_ASSIGN(const std::vector<sys::DirectoryEntry> entries, sys::read_directory(real.get()));
    for (const sys::DirectoryEntry& entry : entries)
        TRY(show(entry.name));
    return {};
}

// In this order what is shown as a part of something is behind it.
Result<> HomeLayer::show_some() {
    std::vector<std::string> paths = view_.shown;
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> shown;
    for (const std::string& path : paths) {
        const bool is_shown = std::any_of(shown.begin(), shown.end(), [&](const auto& above) {
            return is_at_or_below(path, above);
        });
        if (is_shown || !sys::stat_at(lower_.get(), path)) continue;
        shown.push_back(path);
        TRY(path.find('/') == std::string::npos ? show(path) : show_deep(path));
    }
    return {};
}

// The directories on the way are empty, but for this.
Result<> HomeLayer::show_deep(const std::string& path) {
    const std::string first = path.substr(0, path.find('/'));
    if (!sys::stat_at(top_.get(), first)) directories_.push_back(first);
    TRY(make_directories_below(top_.get(), path.substr(0, path.rfind('/'))));
    TRY_ASSIGN(const struct stat st, sys::stat_at(lower_.get(), path));
    if (S_ISLNK(st.st_mode)) {
        TRY_ASSIGN(const std::string target, sys::read_link(lower_.get(), path));
        return sys::make_symlink(top_.get(), path, target);
    }
    if (S_ISDIR(st.st_mode)) return show_directory(path, st);
    if (!S_ISREG(st.st_mode)) return {};
    TRY(sys::make_node(top_.get(), path, S_IFREG | 0600, 0));
    return bind(path);
}

Result<> HomeLayer::show_directory(const std::string& path, const struct stat& st) {
    TRY(sys::make_directory(top_.get(), path, 0700));
    const Result<> covered = path.starts_with('.') ? cover(path, st) : Error(EROFS);
    if (covered) return {};
    if (path.starts_with('.')) uncovered_ = covered.error().message();
    return bind(path);
}

// A mount of the home directory that has others below it, as a workspace in it is one, cannot be
// the lower half of an overlay for an ordinary user. So its entries are shown one by one.
Result<> HomeLayer::show(const std::string& name) {
    const Result<struct stat> st = sys::stat_at(lower_.get(), name);
    if (!st) return {};  // a dead mount, or gone meanwhile
    if (S_ISLNK(st->st_mode)) {
        TRY_ASSIGN(const std::string target, sys::read_link(lower_.get(), name));
        TRY(sys::make_symlink(top_.get(), name, target));
    } else if (S_ISDIR(st->st_mode)) {
        directories_.push_back(name);
        return show_directory(name, *st);
    } else if (S_ISREG(st->st_mode)) {
        const bool is_copied =
            st->st_size <= kLargestCopy && copy_file(lower_.get(), name, top_.get(), name, *st);
        if (!is_copied) {
            ignore(sys::make_node(top_.get(), name, S_IFREG | 0600, 0), "a copy may have begun");
            TRY(bind(name));
        }
    } else {
        return {};
    }
    TRY_ASSIGN(files_[name], sys::stat_at(top_.get(), name));
    return {};
}

Result<> HomeLayer::bind(const std::string& name) {
    const Result<UniqueFd> tree = sys::copy_mounts(at(lower_, name));
    // What cannot be shown is an empty directory.
    return tree ? sys::put_mounts(tree->get(), view_.home + "/" + name) : Result<>();
}

Result<> HomeLayer::cover(const std::string& name, const struct stat& st) {
    for (const char* half : {"upper/", "work/"})
        TRY(make_directories_below(layer_.get(), half + name));
    const std::string upper = "upper/" + name;
    TRY_ASSIGN(const UniqueFd directory, sys::open_at(layer_.get(), upper, O_RDONLY | O_DIRECTORY));
    TRY(sys::change_owner(directory.get(), st.st_uid, st.st_gid));
    TRY(sys::change_mode(directory.get(), st.st_mode & 07777));
    TRY_ASSIGN(const UniqueFd lower, sys::open_at(lower_.get(), name, O_PATH | O_DIRECTORY));
    const std::string number = std::to_string(covered_.size());
    TRY(sys::make_symlink(layer_.get(), "u" + number, upper));
    TRY(sys::make_symlink(layer_.get(), "w" + number, "work/" + name));
    TRY(sys::mount_new(
        "overlay", view_.home + "/" + name,
        fmt::format("lowerdir=/proc/self/fd/{},upperdir={},workdir={},userxattr", lower.get(),
                    at(layer_, "u" + number), at(layer_, "w" + number))));
    covered_.push_back(name);
    return {};
}

Result<> HomeLayer::put_places() {
    for (const auto& [tree, path] : live_)
        TRY(sys::put_mounts(tree.get(), path));
    for (const std::string& path : view_.read_only) {
        TRY_ASSIGN(const UniqueFd tree, sys::copy_mounts(path));
        TRY(sys::make_copy_read_only(tree.get()));
        TRY(sys::put_mounts(tree.get(), path));
    }
    for (const std::string& path : view_.emptied)
        TRY(sys::mount_new("tmpfs", path, "mode=700"));
    return {};
}

Result<> HomeLayer::put() {
    if (!lower_) return {};
    TRY(make_directories(view_.home));
    TRY(sys::mount_new("tmpfs", view_.home, "mode=700"));
    mounted_ = 1;
    const Result<> layered = put_layer();
    if (!layered) {
        layer_.reset();
        top_.reset();
        for (; mounted_ > 0; --mounted_)
            TRY(sys::unmount(view_.home));
        return layered;
    }
    is_put_ = true;
    return put_places();
}

HomeView HomeLayer::view() const {
    return is_put_ ? view_ : without_layer(view_);
}

HomeView without_layer(HomeView view) {
    const auto holds_more = [&](const std::string& live) {
        const auto is_in_it = [&](const std::string& path) { return is_below(path, live); };
        return std::any_of(view.read_only.begin(), view.read_only.end(), is_in_it) ||
               std::any_of(view.emptied.begin(), view.emptied.end(), is_in_it);
    };
    std::erase_if(view.live, holds_more);
    view.home.clear();
    return view;
}

Result<> HomeLayer::hand_over() const {
    if (!layer_ || !handoff_) return {};
    TRY(sys::make_directory(handoff_.get(), "tree", 0700));
    TRY_ASSIGN(const UniqueFd tree, sys::open_at(handoff_.get(), "tree", O_RDONLY | O_DIRECTORY));
    std::string list;
    Copier copier(view_.home, tree.get(), list);
    for (const std::string& name : covered_) {
        TRY_ASSIGN(const UniqueFd upper,
                   sys::open_at(layer_.get(), "upper/" + name, O_RDONLY | O_DIRECTORY));
        TRY(copier.directory(upper.get(), name));
    }
    TRY_ASSIGN(const std::vector<sys::DirectoryEntry> entries, sys::read_directory(top_.get()));
    for (const sys::DirectoryEntry& entry : entries) {
        const bool is_shown =
            std::find(directories_.begin(), directories_.end(), entry.name) != directories_.end();
        const auto before = files_.find(entry.name);
        const Result<struct stat> now = sys::stat_at(top_.get(), entry.name);
        const bool is_as_before = before != files_.end() && now && is_same(*now, before->second);
        if (!is_shown && !is_as_before) TRY(copier.one(top_.get(), entry.name, entry.name));
    }
    for (const auto& [name, before] : files_)
        if (!sys::stat_at(top_.get(), name)) copier.record(LayerRecord::kRemoved, name);
    TRY_ASSIGN(const UniqueFd file,
               sys::open_at(handoff_.get(), "list", O_WRONLY | O_CREAT | O_EXCL, 0600));
    return sys::write_all_at(file.get(), std::as_bytes(std::span(list)), 0);
}

}  // namespace unwrite::cli
