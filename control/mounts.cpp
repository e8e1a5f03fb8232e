#include "control/mounts.h"

#include <fcntl.h>

#include <charconv>

#include "base/syscalls.h"
#include "overlay/tree.h"

namespace unwrite::control {

namespace {

constexpr std::string_view kSource = "unwrite:";
constexpr std::string_view kOwner = "user_id=";

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

/// The kernel writes blank, tab, newline and backslash as \ooo.
std::string unescape(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned value = 0;
        const bool escaped =
            text[i] == '\\' && i + 3 < text.size() &&
            std::from_chars(text.data() + i + 1, text.data() + i + 4, value, 8).ptr ==
                text.data() + i + 4;
        out += escaped ? static_cast<char>(value) : text[i];
        if (escaped) i += 3;
    }
    return out;
}

/// "36 35 98:0 /root /mount/point options [optional fields] - type source super-options"
std::optional<MountPoint> parse_line(std::string_view line) {
    const std::vector<std::string_view> fields = split(line, ' ');
    std::size_t dash = 6;
    while (dash < fields.size() && fields[dash] != "-")
        ++dash;
    if (dash + 2 >= fields.size()) return std::nullopt;
    // In the view of a run: a part of a workspace at the place of its repository, and no workspace.
    if (fields[3].ends_with(overlay::kAnnexEntry)) return std::nullopt;
    MountPoint mount;
    std::from_chars(fields[0].data(), fields[0].data() + fields[0].size(), mount.mount);
    mount.path = unescape(fields[4]);
    mount.type = unescape(fields[dash + 1]);
    const std::string source = unescape(fields[dash + 2]);
    if (source.starts_with(kSource)) mount.id = source.substr(kSource.size());
    if (dash + 3 < fields.size()) {
        for (const std::string_view option : split(fields[dash + 3], ',')) {
            if (!option.starts_with(kOwner)) continue;
            std::from_chars(option.data() + kOwner.size(), option.data() + option.size(),
                            mount.owner);
        }
    }
    return mount;
}

}  // namespace

std::vector<MountPoint> parse_mountinfo(std::string_view text) {
    std::vector<MountPoint> mounts;
    for (const std::string_view line : split(text, '\n')) {
        if (std::optional<MountPoint> mount = parse_line(line)) mounts.push_back(*std::move(mount));
    }
    return mounts;
}

Result<std::vector<MountPoint>> unwrite_mounts() {
    TRY_ASSIGN(const std::string text, sys::read_file_at(AT_FDCWD, "/proc/self/mountinfo"));
    std::vector<MountPoint> mounts = parse_mountinfo(text);
    std::erase_if(mounts, [](const MountPoint& mount) { return mount.type != kMountType; });
    return mounts;
}

bool is_within(std::string_view path, std::string_view directory) {
    if (directory == "/") return path.starts_with('/');
    return path.starts_with(directory) &&
           (path.size() == directory.size() || path[directory.size()] == '/');
}

std::optional<MountPoint> mount_above(const std::vector<MountPoint>& mounts,
                                      std::string_view path) {
    std::optional<MountPoint> best;
    for (const MountPoint& mount : mounts) {
        if (is_within(path, mount.path) && (!best || mount.path.size() >= best->path.size()))
            best = mount;
    }
    return best;
}

}  // namespace unwrite::control
