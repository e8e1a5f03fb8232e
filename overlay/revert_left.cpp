#include "overlay/revert_left.h"

#include <sys/stat.h>

#include "overlay/revert_git.h"

namespace unwrite::overlay {

Result<bool> Left::add(Blockers blockers, const std::vector<std::string>& conflicts) {
    const auto repositories = block_repositories(touches_, live_, blockers);
    TRY_ASSIGN(const bool any, touches_.deselect(live_, blockers));
    repositories_.insert(repositories.begin(), repositories.end());
    paths_.insert(repositories.begin(), repositories.end());
    for (const std::string& path : conflicts)
        note(path);
    for (const ObjectKey& key : blockers.objects) {
        if (const auto& path = live_.path(key)) note(*path);
    }
    return any;
}

void Left::note(const std::string& path) {
    if (!is_in_any(repositories_, path)) paths_.insert(path);
}

std::vector<std::string> Left::after(const RevertPlan& plan) {
    for (const auto& [at, state] : plan.images.names) {
        if (const auto path = live_.path(at)) paths_.erase(*path);
    }
    for (const auto& [key, image] : plan.images.objects) {
        const bool is_directory = image.attributes && S_ISDIR(image.attributes->mode);
        const auto& path = live_.path(key);
        if (path && !is_directory) paths_.erase(*path);
    }
    return paths();
}

}  // namespace unwrite::overlay
