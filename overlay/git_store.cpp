#include "overlay/git_store.h"

#include <algorithm>
#include <array>

namespace unwrite::overlay {

namespace {

/// As git names them (object-file.c, tmp-objdir.c, builtin/repack.c, builtin/pack-objects.c).
constexpr std::array<std::string_view, 5> kScratchNames = {"tmp_", "incoming-", "bulk-fsync-",
                                                           ".tmp-", "tmp-objdir-"};

bool is_scratch(std::string_view name) {
    return std::any_of(kScratchNames.begin(), kScratchNames.end(),
                       [&](std::string_view begin) { return name.starts_with(begin); });
}

bool is_store(std::string_view name) {
    const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    return name == "pack" || (name.size() == 2 && std::all_of(name.begin(), name.end(), is_digit));
}

}  // namespace

GitPlace git_place_below(GitPlace parent, std::string_view name) {
    switch (parent) {
        case GitPlace::kRepository:
            return name == "objects" ? GitPlace::kObjects : GitPlace::kInside;
        case GitPlace::kObjects:
            if (is_scratch(name)) return GitPlace::kScratch;
            return is_store(name) ? GitPlace::kStore : GitPlace::kInside;
        case GitPlace::kStore:
            return is_scratch(name) ? GitPlace::kScratch : GitPlace::kInside;
        case GitPlace::kScratch:
        case GitPlace::kInside:
            return parent;
        case GitPlace::kNone:
            break;
    }
    return GitPlace::kNone;
}

bool is_in_git_store(std::string_view path) {
    GitPlace place = GitPlace::kRepository;
    for (std::size_t end = path.find('/'); end != std::string_view::npos; end = path.find('/')) {
        place = git_place_below(place, path.substr(0, end));
        path.remove_prefix(end + 1);
    }
    return place == GitPlace::kStore;
}

bool is_recorded(GitPlace parent, std::string_view name, bool stands) {
    switch (parent) {
        case GitPlace::kScratch:
            return false;
        case GitPlace::kObjects:
            return !is_scratch(name) && (stands || !is_store(name));
        case GitPlace::kStore:
            return !is_scratch(name) && stands;
        case GitPlace::kRepository:
        case GitPlace::kInside:
        case GitPlace::kNone:
            break;
    }
    return true;
}

}  // namespace unwrite::overlay
