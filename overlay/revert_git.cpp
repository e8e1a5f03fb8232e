#include "overlay/revert_git.h"

#include <sys/stat.h>

#include "overlay/git_index.h"

namespace unwrite::overlay {

namespace {

constexpr std::string_view kGit = ".git";

/// The directory `.git` that the path is below, the innermost one; empty: none.
std::string_view repository_of(std::string_view path) {
    for (std::size_t at = path.rfind(kGit);
         at != std::string_view::npos && path.size() > kGit.size();
         at = at == 0 ? std::string_view::npos : path.rfind(kGit, at - 1)) {
        const std::size_t end = at + kGit.size();
        const bool begins = at == 0 || path[at - 1] == '/';
        if (begins && end < path.size() && path[end] == '/') return path.substr(0, end);
    }
    return {};
}

std::string_view below_repository(std::string_view path) {
    const std::string_view repository = repository_of(path);
    return repository.empty() ? repository : path.substr(repository.size() + 1);
}

bool is_object(std::string_view path) {
    return below_repository(path).starts_with("objects/");
}

/// What decides which objects a repository needs.
bool is_reference(std::string_view path) {
    const std::string_view below = below_repository(path);
    if (below.ends_with(".lock")) return false;
    return below == "HEAD" || below == "index" || below == "packed-refs" || below == "refs" ||
           below.starts_with("refs/");
}

template <class Image>
void leave(Touch<Image>& touch) {
    touch.selected = false;
    touch.others = false;
    touch.left = true;
}

/// The state before each part.
class States {
 public:
    States(const RevertTouches& touches, std::shared_ptr<LiveNamesOf> names)
        : touches_(touches), names_(std::move(names)) {}

    Result<std::optional<std::string>> index_in(std::size_t part, const ObjectKey& key) {
        std::vector<LayerPtr> crossed;
        for (std::size_t at = touches_.parts.size(); at > part;)
            crossed.push_back(touches_.parts[--at]);
        View view(names_, std::move(crossed));
        const Located found{key, S_IFREG, nullptr, {}, 0};
        const auto size = view.size(found);
        if (!size || *size > kMaxGitIndex) return std::optional<std::string>();
        const auto content = view.content(found);
        if (!content) return std::optional<std::string>();
        auto bytes = content->read_all();
        return bytes ? std::optional(*std::move(bytes)) : std::nullopt;
    }

 private:
    const RevertTouches& touches_;
    const std::shared_ptr<LiveNamesOf> names_;
};

Result<> spare_refreshes(States& states, std::size_t parts, const std::optional<ObjectKey>& now,
                         std::vector<NameTouch>& touches) {
    for (std::size_t i = 0; i < touches.size(); ++i) {
        NameTouch& touch = touches[i];
        const auto& was = touch.image->image.object;
        const bool is_newest = i + 1 == touches.size();
        const auto& is = is_newest ? now : touches[i + 1].image->image.object;
        if (touch.selected || !was || !is) continue;
        TRY_ASSIGN(const auto before, states.index_in(touch.part, *was));
        TRY_ASSIGN(const auto after, states.index_in(is_newest ? parts : touches[i + 1].part, *is));
        if (before && after && same_git_entries(*before, *after)) leave(touch);
    }
    return {};
}

/// A lock that came and went, of which the border between two deltas saw something.
bool has_passed(const std::vector<NameTouch>& touches, bool stands) {
    return !stands && !touches.empty() && !touches.front().image->image.object;
}

}  // namespace

Result<> spare_git(RevertTouches& touches, const std::shared_ptr<LiveNamesOf>& names) {
    View live(names, {});
    States states(touches, names);
    std::unordered_set<ObjectKey> objects;
    for (auto& [at, touched] : touches.names) {
        const auto path = live.path(at);
        if (!path) continue;
        TRY_ASSIGN(const auto now, live.at(at));
        const auto standing = now ? std::optional(now->key) : std::nullopt;
        if (is_git_index(*path))
            TRY(spare_refreshes(states, touches.parts.size(), standing, touched));
        const auto first = first_selected(touched);
        const bool is_new_object =
            is_object(*path) && first != touched.end() && !first->image->image.object;
        if (!is_new_object && !(is_git_lock(*path) && has_passed(touched, standing.has_value())))
            continue;
        for (NameTouch& touch : touched)
            leave(touch);
        if (standing) objects.insert(*standing);
    }
    for (const ObjectKey& key : objects) {
        const auto touched = touches.objects.find(key);
        if (touched == touches.objects.end()) continue;
        for (ObjectTouch& touch : touched->second)
            leave(touch);
    }
    return {};
}

bool is_in_any(const std::set<std::string>& directories, std::string_view path) {
    return directories.contains(std::string(path)) ||
           directories.contains(std::string(repository_of(path)));
}

std::set<std::string> block_repositories(const RevertTouches& touches, View& live,
                                         Blockers& blockers) {
    std::set<std::string> selected;
    for (const auto& [at, touched] : touches.names) {
        const auto path = first_selected(touched) != touched.end() ? live.path(at) : std::nullopt;
        if (path) selected.emplace(repository_of(*path));
    }
    for (const auto& [key, touched] : touches.objects) {
        if (first_selected(touched) == touched.end()) continue;
        if (const auto& path = live.path(key)) selected.emplace(repository_of(*path));
    }
    selected.erase("");
    std::set<std::string> repositories;
    const auto add = [&](const std::optional<std::string>& path) {
        const std::string found(path ? repository_of(*path) : std::string_view());
        if (selected.contains(found)) repositories.insert(found);
    };
    for (const NameKey& at : blockers.names)
        add(live.path(at));
    for (const ObjectKey& key : blockers.objects)
        add(live.path(key));
    for (const auto& [at, touched] : touches.names) {
        const auto path = live.path(at);
        const bool others = std::any_of(touched.begin(), touched.end(),
                                        [](const auto& touch) { return touch.others; });
        if (others && path && is_reference(*path)) add(path);
    }
    for (const auto& [at, touched] : touches.names) {
        const auto path = live.path(at);
        if (path && is_in_any(repositories, *path)) blockers.names.insert(at);
    }
    for (const auto& [key, touched] : touches.objects) {
        const auto& path = live.path(key);
        if (path && is_in_any(repositories, *path)) blockers.objects.insert(key);
    }
    return repositories;
}

}  // namespace unwrite::overlay
