#include "overlay/tracked.h"

#include "overlay/git_index.h"

namespace unwrite::overlay {

Tracked::Tracked(Beginning& beginning, Wanted wanted)
    : beginning_(beginning), wanted_(std::move(wanted)) {}

void Tracked::forget() {
    const std::lock_guard lock(mutex_);
    objects_.reset();
}

std::optional<std::string> Tracked::object_at(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (!objects_) {
        const auto named = beginning_.bytes(".git", kMaxGitIndex);
        const auto index =
            named ? beginning_.bytes(path_of_git_index(named->value_or("")), kMaxGitIndex) : named;
        if (!index) return std::nullopt;  // the next one tries again
        objects_.emplace();
        if (*index) {
            for (GitIndexFile& file : git_index_files(**index)) {
                if (wanted_(std::string_view(file.name).substr(file.name.rfind('/') + 1)))
                    objects_->insert_or_assign(std::move(file.name), std::move(file.object));
            }
        }
    }
    const auto found = objects_->find(path);
    return found == objects_->end() ? std::nullopt : std::optional(found->second);
}

bool Tracked::has(const std::string& path, const Bytes& bytes) {
    const std::optional<std::string> object = object_at(path);
    if (!object) return false;
    const std::optional<std::string> now = bytes();
    return now && git_object_like(*object, *now) == *object;
}

}  // namespace unwrite::overlay
