#include "cli/inner_filesystems.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/syscalls.h"
#include "cli/text.h"
#include "control/mounts.h"

namespace unwrite::cli {

namespace {

constexpr std::size_t kMostNamed = 5;

}  // namespace

std::vector<InnerFilesystem> inner_filesystems(std::string_view mountinfo,
                                               const std::string& root) {
    // By path; what was mounted last lies on top.
    std::map<std::string, std::string> types;
    for (const control::MountPoint& mount : control::parse_mountinfo(mountinfo)) {
        if (mount.type != control::kMountType && mount.path != root &&
            control::is_within(mount.path, root))
            types.insert_or_assign(mount.path, mount.type);
    }
    std::vector<InnerFilesystem> found;
    const std::size_t begin = root == "/" ? 1 : root.size() + 1;
    for (const auto& [path, type] : types) {
        const std::string inside = path.substr(begin);
        if (std::any_of(found.begin(), found.end(), [&](const InnerFilesystem& one) {
                return control::is_within(inside, one.path);
            }))
            continue;
        found.push_back({inside, type});
    }
    return found;
}

std::vector<InnerFilesystem> inner_filesystems(const std::string& root) {
    const auto text = sys::read_file_at(AT_FDCWD, "/proc/self/mountinfo");
    return text ? inner_filesystems(*text, root) : std::vector<InnerFilesystem>();
}

std::string inner_words(const std::vector<InnerFilesystem>& inner) {
    if (inner.empty()) return "";
    std::string names;
    for (std::size_t i = 0; i < std::min(inner.size(), kMostNamed); ++i) {
        if (i > 0) names += ", ";
        names += fmt::format("{} ({})", quote_name(inner[i].path), harmless(inner[i].type));
    }
    if (inner.size() > kMostNamed) names += fmt::format(" and {} more", inner.size() - kMostNamed);
    return fmt::format("{} {}: changes there are not recorded and cannot be taken back.", names,
                       inner.size() == 1 ? "is another filesystem" : "are other filesystems");
}

}  // namespace unwrite::cli
