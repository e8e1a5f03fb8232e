#include "cli/annex.h"

#include <fcntl.h>

#include "base/syscalls.h"
#include "cli/git_words.h"
#include "git/elsewhere.h"

namespace unwrite::cli {

namespace {

bool is_beside(const std::string& root, const std::string& repository) {
    const auto here = sys::statx_at(AT_FDCWD, root);
    const auto there = sys::statx_at(AT_FDCWD, repository);
    return here && there && sys::is_same_filesystem(*here, *there);
}

}  // namespace

void add_annex(overlay::SessionOptions& options, const std::string& root) {
    const std::optional<git::Elsewhere> elsewhere = git::find_elsewhere(root);
    if (!elsewhere || !is_beside(root, elsewhere->repository)) return;
    options.annex = elsewhere->repository;
    // The file `.git` may lead anywhere by then, also back through the mount.
    options.tags = [elsewhere = *elsewhere](int) {
        return tags_of(git::read_git_state(elsewhere));
    };
}

std::vector<std::string> settings_of_shared_repository() {
    return {"gc.auto=0",
            "maintenance.auto=false",
            "gc.packRefs=false",
            "gc.reflogExpire=never",
            "gc.reflogExpireUnreachable=never",
            "gc.worktreePruneExpire=never"};
}

std::optional<std::string> annex_of(const std::string& raw, const std::string& mount_point) {
    const std::optional<git::Elsewhere> elsewhere = git::find_elsewhere(raw);
    if (!elsewhere) return std::nullopt;
    const std::string through = mount_point + "/" + overlay::kAnnexEntry;
    const auto shown = sys::stat_at(AT_FDCWD, through);
    const auto there = sys::stat_at(AT_FDCWD, elsewhere->repository);
    if (!shown || !there || shown->st_ino != there->st_ino) return std::nullopt;
    return elsewhere->repository;
}

}  // namespace unwrite::cli
