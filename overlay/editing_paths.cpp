// Where a path leads that a tool was given: beneath the root, without links on the way.
#include <fcntl.h>

#include <cerrno>

#include "base/open_beneath.h"
#include "base/syscalls.h"
#include "edit/text_safety.h"
#include "overlay/editing_files.h"
#include "overlay/path_parts.h"

namespace unwrite::overlay {

namespace {

constexpr unsigned kMostLinks = 40;  // as in the kernel: links may lead to each other

Error outside(const std::string& attempted, const std::string& where) {
    return {ErrorKind::kRefused, EACCES,
            "Path outside sandbox (attempted: " + edit::displayed(attempted) +
                ", resolved: " + edit::displayed(where) + ")",
            "Give a path below the workspace, relative to its top and without \"..\"."};
}

}  // namespace

std::optional<std::string> EditFiles::below_root(const std::string& absolute) const {
    const std::string& root = options_.root_name;
    const bool below =
        !root.empty() && absolute.starts_with(root) &&
        (absolute.size() == root.size() || root == "/" || absolute[root.size()] == '/');
    return below ? std::optional(absolute.substr(root.size())) : std::nullopt;
}

Result<std::string> EditFiles::relative(const std::string& path) const {
    TRY(edit::check_path(path));
    std::string rest = path;
    if (path.starts_with('/')) {
        const auto inside = below_root(path);
        if (!inside) return outside(path, path);
        rest = *inside;
    }
    std::string clean;
    for (const std::string& part : components(rest)) {
        if (part == "..") return outside(path, path);
        clean = joined(clean, part);
    }
    return clean;
}

// The kernel takes every absolute link for one that leads out of the root. One that leads into it
// is put into words here, one a call; what comes of it is resolved as any other path.
std::string EditFiles::without_absolute_links(const std::string& relative) const {
    std::string directory;
    const std::vector<std::string> parts = components(relative);
    for (std::size_t at = 0; at + 1 < parts.size(); ++at) {
        const auto fd = sys::open_beneath(root_.get(), directory, O_PATH | O_DIRECTORY, 0);
        if (!fd) break;
        const auto link = sys::read_link(fd->get(), parts[at]);
        directory = joined(directory, parts[at]);
        const auto inside =
            link && link->starts_with('/') ? below_root(*link) : std::optional<std::string>();
        if (!inside) continue;
        std::string path;
        for (const std::string& part : components(*inside))
            path = joined(path, part);
        for (std::size_t rest = at + 1; rest < parts.size(); ++rest)
            path = joined(path, parts[rest]);
        return path;
    }
    return relative;
}

// Which link on the way leads out: the first name that cannot be entered beneath the root.
Error EditFiles::leads_out(const std::string& relative, const std::string& where) const {
    std::string at;
    for (const std::string& part : components(relative)) {
        const std::string above = at;
        at = joined(at, part);
        const auto there = sys::open_beneath(root_.get(), at, O_PATH, 0);
        if (there || there.error().number() != EXDEV) continue;
        const auto parent = sys::open_beneath(root_.get(), above, O_PATH | O_DIRECTORY, 0);
        const auto link =
            parent ? sys::read_link(parent->get(), part) : Result<std::string>(parent.error());
        if (!link) break;
        return outside(relative, where)
            .with_advice("\"" + edit::displayed(at) + "\" is a symbolic link to '" +
                         edit::displayed(*link) +
                         "', which leads out of the workspace. Give a path that stays in it.");
    }
    return outside(relative, where);
}

// The nearest directory of the way that exists, without links, and what is missing below it.
Result<std::string> EditFiles::resolved(const std::string& relative, unsigned links) const {
    std::string directory = parent_of(relative);
    std::string rest = relative.empty() ? "" : name_of(relative);
    for (;;) {
        auto fd = sys::open_beneath(root_.get(), directory, O_PATH | O_DIRECTORY, 0);
        if (fd) {
            TRY_ASSIGN(const std::string top, sys::read_link(AT_FDCWD, sys::fd_path(root_.get())));
            TRY_ASSIGN(const std::string here, sys::read_link(AT_FDCWD, sys::fd_path(fd->get())));
            if (here == top) return rest;
            const std::string prefix = top == "/" ? top : top + "/";
            if (!here.starts_with(prefix)) return outside(relative, here);
            return joined(here.substr(prefix.size()), rest);
        }
        if (fd.error().number() == EXDEV) {
            const std::string plain = without_absolute_links(relative);
            if (plain == relative || links == kMostLinks) return leads_out(relative, directory);
            return resolved(plain, links + 1);
        }
        if (fd.error().number() == EACCES) return denied(relative, false);
        if (fd.error().number() != ENOENT || directory.empty())
            return fd.error().with_context(edit::displayed(relative));
        rest = joined(name_of(directory), rest);
        directory = parent_of(directory);
    }
}

std::string EditFiles::led_to(const std::string& path, const std::string& link) const {
    std::string target = joined(parent_of(path), link);
    if (link.starts_with('/')) {
        const auto inside = below_root(link);
        if (!inside) return "";
        target = *inside;
    }
    std::string clean;
    for (const std::string& part : components(target)) {
        if (part == ".." && clean.empty()) return "";
        clean = part == ".." ? parent_of(clean) : joined(clean, part);
    }
    return clean;
}

}  // namespace unwrite::overlay
