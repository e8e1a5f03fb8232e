#include "overlay/walk.h"

#include <sys/stat.h>

#include <memory>
#include <vector>

#include "base/lend_mode.h"
#include "journal/state_dir.h"
#include "overlay/view.h"

namespace unwrite::overlay {

namespace {

struct Pending {
    std::shared_ptr<UniqueFd> parent;
    std::string name;
    std::string path;
};

Result<bool> visit_names(const sys::StatX& top, UniqueFd fd, const std::string& path,
                         const Visit& visit, std::vector<Pending>& pending) {
    const auto here = std::make_shared<UniqueFd>(std::move(fd));
    TRY_ASSIGN(const auto entries, sys::read_directory(here->get()));
    for (const auto& entry : entries) {
        if (path.empty() && entry.name == journal::StateDir::kName) continue;
        std::string below = join_path(path, entry.name);
        const auto x = sys::statx_at(here->get(), entry.name);
        if (!x) continue;  // it vanished
        if (!visit(below, *x)) return false;
        if (S_ISDIR(x->st.st_mode) && sys::is_same_filesystem(top, *x))
            pending.push_back({here, entry.name, std::move(below)});
    }
    return true;
}

}  // namespace

Result<bool> walk_below(UniqueFd top, const Visit& visit) {
    std::vector<Pending> pending;
    TRY_ASSIGN(const sys::StatX begin, sys::statx_at(top.get(), ""));
    TRY_ASSIGN(bool goes_on, visit_names(begin, std::move(top), "", visit, pending));
    while (goes_on && !pending.empty()) {
        const Pending next = std::move(pending.back());
        pending.pop_back();
        auto fd = sys::open_listing_unseen(next.parent->get(), next.name);
        if (!fd) continue;
        TRY_ASSIGN(goes_on, visit_names(begin, *std::move(fd), next.path, visit, pending));
    }
    return goes_on;
}

}  // namespace unwrite::overlay
