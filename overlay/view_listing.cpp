#include <cerrno>

#include "overlay/view.h"

namespace unwrite::overlay {

using journal::NameState;

namespace {

constexpr std::size_t kBatch = 4096;
constexpr std::size_t kMaxDepth = 4000;  // each level on the way down holds a descriptor

Result<HandlePtr> open_listing(LiveNamesOf& live, const Located& directory) {
    Result<HandlePtr> path = Error(ENOENT);
    if (directory.parent)
        path = live.open(directory, Access::kPath);
    else
        path = live.directory(directory.key);
    if (!path) return path;
    TRY_ASSIGN(UniqueFd fd, sys::reopen((*path)->fd.get(), O_RDONLY | O_DIRECTORY));
    return HandlePtr(std::make_shared<Handle>(Handle{std::move(fd), Access::kPath}));
}

}  // namespace

Result<> View::live_children(const Located& directory,
                             const std::unordered_map<std::string, const NameState*>& images,
                             const std::function<bool(Child&&)>& visit, bool& go_on) {
    TRY_ASSIGN(const HandlePtr handle, open_listing(*live_, directory));
    const auto own = sys::statx_at(handle->fd.get(), "");
    if (!own || !live_->locator().objects().is_same_filesystem(*own)) return {};
    std::int64_t offset = 0;
    for (;;) {
        TRY_ASSIGN(const auto entries, sys::read_directory(handle->fd.get(), offset, kBatch));
        if (entries.empty()) return {};
        for (const auto& entry : entries) {
            NameKey at{directory.key, entry.name};
            if (images.contains(entry.name) || live_->is_state_dir(at)) continue;
            const auto x = sys::statx_at(handle->fd.get(), entry.name);
            if (!x) continue;
            Located found{key_of(*x), x->st.st_mode & S_IFMT, handle, entry.name,
                          static_cast<std::uint64_t>(x->st.st_size)};
            go_on = visit({std::move(at), std::move(found)});
            if (!go_on) return {};
        }
        offset = entries.back().offset;
    }
}

Result<> View::children(const Located& directory, const std::function<bool(Child&&)>& visit) {
    std::unordered_map<std::string, const NameState*> images;
    layers_.each_below(directory.key, [&](const LayerPtr& layer) {
        for (const NameState* state : layer->below.at(directory.key))
            images.try_emplace(state->image.at.name, state);
        return true;
    });
    bool go_on = true;
    const auto listed = live_children(directory, images, visit, go_on);
    // A directory that vanished, or that this user may not list, shows what the images say.
    if (!listed && !is_vanished(listed.error()) && listed.error().number() != EACCES) return listed;
    for (auto image = images.begin(); go_on && image != images.end(); ++image) {
        const journal::NameImage& was = image->second->image;
        if (was.object) go_on = visit({was.at, {*was.object, was.type, nullptr, {}, 0}});
    }
    return {};
}

Result<> View::walk(const Located& directory, const std::function<bool(const Walked&)>& visit) {
    struct Pending {
        Located found;
        std::string path;
        std::size_t depth;
    };
    std::vector<Pending> pending{{directory, {}, 0}};
    while (!pending.empty()) {
        const Pending next = std::move(pending.back());
        pending.pop_back();
        TRY(children(next.found, [&](Child&& child) {
            std::string path = join_path(next.path, child.at.name);
            const bool descend = visit({child.at, child.found, path});
            if (descend && S_ISDIR(child.found.type) && next.depth < kMaxDepth) {
                pending.push_back({std::move(child.found), std::move(path), next.depth + 1});
            }
            return true;
        }));
    }
    return {};
}

}  // namespace unwrite::overlay
