#include "overlay/path_list.h"

#include <algorithm>

#include "edit/patch_names.h"

namespace unwrite::overlay {

namespace {

bool has_controls(const std::string& path) {
    return std::ranges::any_of(path, [](char byte) {
        const auto code = static_cast<unsigned char>(byte);
        return code < 0x20 || code == 0x7f;
    });
}

}  // namespace

std::string path_list(const std::vector<std::string>& paths, std::size_t most) {
    std::string list;
    for (std::size_t i = 0; i < std::min(most, paths.size()); ++i) {
        const std::string& path = paths[i];
        list += "\n  ";
        list += path.empty() ? "." : has_controls(path) ? edit::quoted_name(path) : path;
    }
    if (paths.size() > most) list += "\n  and " + std::to_string(paths.size() - most) + " more";
    return list;
}

}  // namespace unwrite::overlay
