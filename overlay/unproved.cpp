#include "overlay/unproved.h"

#include <algorithm>
#include <cerrno>

#include "overlay/path_list.h"
#include "overlay/view.h"
#include "overlay/walk.h"

namespace unwrite::overlay {

namespace {

using journal::Delta;
using journal::ObjectImage;

constexpr std::size_t kMostShown = 5;

std::string one_line(const std::string& path) {
    std::string line;
    for (const char c : path)
        line += c == '\n' ? std::string("\\n") : std::string(1, c);
    return line;
}

bool is_whole_image(const ObjectImage& image) {
    if (!image.attributes || !image.size) return false;
    std::uint64_t covered = 0;
    for (const auto& part : image.content)
        covered += part.length;
    return covered >= *image.size;  // ranges do not overlap
}

/// Looks at everything once.
class Search {
 public:
    Search(Locator& locator, const journal::Cut& cut, const History& history)
        : locator_(locator), cut_(cut), history_(history) {
        // A file that was made while the clock stood still counts as older: that is the safe side.
        if (const auto* node = history.nodes.find(history.head.current)) begin_ = node->time_ns;
    }

    Result<std::vector<std::string>> run() {
        TRY_ASSIGN(open_, locator_.journal().read_delta(history_.head.open_delta));
        TRY(walk());
        look_at_attic();
        look_at_bytes(open_, history_.head.open_delta);
        for (const journal::Node& node : history_.nodes) {
            if (node.number <= cut_.mark.node || node.delta == 0) continue;
            TRY_ASSIGN(const Delta sealed, locator_.journal().read_delta(node.delta));
            look_at_bytes(sealed, node.delta);
        }
        if (!cut_.broken.empty()) found_.insert("(changes between states that were just made)");
        return std::vector<std::string>(found_.begin(), found_.end());
    }

 private:
    struct Directory {
        ObjectKey key;
        bool late = false;
        bool born = false;
    };

    Result<> walk() {
        for (const ObjectPtr& top : locator_.objects().tops())
            TRY(walk(top));
        return {};
    }

    Result<> walk(const ObjectPtr& from) {
        TRY_ASSIGN(const HandlePtr root, locator_.objects().open(from, Access::kPath));
        TRY_ASSIGN(const sys::StatX x, sys::statx_at(root->fd.get(), ""));
        const Directory top{key_of(x), journal::is_late(x.st, cut_.mark), false};
        const std::string above = locator_.objects().path_of_top(top.key);
        if (top.late && !knows_attributes(top.key)) found_.insert(above.empty() ? "." : above);
        directories_[above] = top;
        TRY_ASSIGN(UniqueFd fd, sys::open_at(root->fd.get(), ".", O_RDONLY | O_DIRECTORY));
        const auto visit = [&](const std::string& path, const sys::StatX& one) {
            look_at(join_path(above, path), one);
            return true;
        };
        TRY_ASSIGN(const bool whole, walk_below(std::move(fd), visit));
        static_cast<void>(whole);
        return {};
    }

    void look_at(const std::string& path, const sys::StatX& x) {
        const std::size_t slash = path.rfind('/');
        const auto parent =
            directories_.find(slash == std::string::npos ? "" : path.substr(0, slash));
        if (parent == directories_.end()) return;
        const NameKey at{parent->second.key,
                         slash == std::string::npos ? path : path.substr(slash + 1)};
        const ObjectKey key = key_of(x);
        const bool born = is_born(x, at, parent->second);
        const bool late = journal::is_late(x.st, cut_.mark);
        const bool directory = S_ISDIR(x.st.st_mode);
        if (directory) directories_[path] = {key, late, born};
        if (!late || born) return;
        if (directory ? knows_attributes(key) : knows_all(key, x, parent->second)) return;
        found_.insert(path);
    }

    // It was not there when the interval began, and its name, or that of a directory above it that
    // was not there either, is known to have been absent.
    bool is_born(const sys::StatX& x, const NameKey& at, const Directory& parent) const {
        if (static_cast<std::int64_t>(x.birth) <= begin_) return false;
        if (parent.born) return true;
        const auto name = open_.names.find(at);
        return name != open_.names.end() && !name->second.image.object;
    }

    bool knows_attributes(const ObjectKey& key) const {
        const auto image = open_.objects.find(key);
        return image != open_.objects.end() && image->second.attributes.has_value();
    }

    // Where the directory did not change, the name did not either. (Of several names only one is
    // looked at: those count as changed.)
    bool knows_all(const ObjectKey& key, const sys::StatX& x, const Directory& parent) const {
        const bool anchored = locator_.journal().attic().contains(key);
        if (parent.late || x.st.st_nlink > (anchored ? 2U : 1U)) return false;
        const auto image = open_.objects.find(key);
        if (image == open_.objects.end()) return false;
        return S_ISREG(x.st.st_mode) ? is_whole_image(image->second)
                                     : image->second.attributes.has_value();
    }

    // What lost its last name after the watermark: where it was must be known.
    void look_at_attic() {
        std::set<ObjectKey> named;
        for (const auto& [at, state] : open_.names) {
            if (state.image.object) named.insert(*state.image.object);
        }
        for (const ObjectKey& key : cut_.late) {
            if (named.contains(key)) continue;
            const auto st = sys::stat_at(locator_.journal().attic().directory(),
                                         journal::Attic::file_name(key));
            // With another name it is in the tree, and was looked at there.
            if (st && !S_ISDIR(st->st_mode) && st->st_nlink > 1) continue;
            const auto place = locator_.journal().places().find(key);
            const auto above = place ? locator_.live_path(place->newest.parent) : std::nullopt;
            found_.insert(above ? (above->empty() ? "" : *above + "/") + place->newest.name
                                : "(a deleted file)");
        }
    }

    // A record may have reached the disk before its bytes.
    void look_at_bytes(const Delta& delta, journal::DeltaNumber number) {
        const std::uint64_t end = number == cut_.mark.delta ? cut_.mark.data_end : 0;
        for (const auto& [key, image] : delta.objects) {
            const bool beyond =
                std::any_of(image.content.begin(), image.content.end(), [end](const auto& part) {
                    return part.position != journal::ContentImage::kHole &&
                           (part.position > end || part.length > end - part.position);
                });
            if (beyond) found_.insert(locator_.live_path(key).value_or("(a deleted file)"));
        }
    }

    Locator& locator_;
    const journal::Cut& cut_;
    const History& history_;
    std::int64_t begin_ = 0;
    Delta open_;
    std::unordered_map<std::string, Directory> directories_;
    std::set<std::string> found_;
};

Error unproved(const std::string& what, const std::vector<std::string>& paths) {
    return Error(ErrorKind::kConflict, EBUSY,
                 what +
                     ", because the power went before unwrite knew for certain what these were "
                     "before:" +
                     path_list(paths, kMostShown),
                 "`unwrite restore PATH --from NODE` takes back other files; `unwrite commit` "
                 "accepts all as they are");
}

std::string unproved_of(const journal::Node& node) {
    const auto tag = node.tags.find(kUnprovedTag);
    return tag == node.tags.end() ? std::string() : tag->second;
}

/// `path` is `top` or below it.
bool is_in(const std::string& path, const std::string& top) {
    return top == path || top.empty() || top == "." ||
           (path.starts_with(top) && path[top.size()] == '/');
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

}  // namespace

Result<std::vector<std::string>> find_unproved(Locator& locator, const journal::Cut& cut,
                                               const History& history) {
    locator.begin();
    return Search(locator, cut, history).run();
}

std::string to_tag(const std::vector<std::string>& paths) {
    std::string text;
    for (const std::string& path : paths)
        text += one_line(path) + '\n';
    return text;
}

std::vector<std::string> unproved_paths(const History& history) {
    std::set<std::string> paths;
    for (const journal::NodeNumber number : history.trunk()) {
        const auto& node = history.nodes.at(number);
        const auto tag = node.tags.find(kUnprovedTag);
        if (tag == node.tags.end() || node.parent == 0) continue;
        const auto lines = lines_of(tag->second);
        paths.insert(lines.begin(), lines.end());
    }
    return {paths.begin(), paths.end()};
}

Result<> refuse_unproved(const History& history, journal::NodeNumber target) {
    TRY_ASSIGN(const auto path, history.path_to(target));
    const std::string back = "cannot go back to n" + std::to_string(target);
    for (const Crossing& crossing : path) {
        const auto* node = history.nodes.find(crossing.edge);
        if (node == nullptr) continue;
        const auto tag = node->tags.find(kUnprovedTag);
        if (tag != node->tags.end()) return unproved(back, lines_of(tag->second));
    }
    const auto* node = history.nodes.find(target);
    if (node == nullptr || !node->tags.contains(kUnprovedStateTag) || path.size() <= 1) return {};
    return Error(ErrorKind::kConflict, EBUSY,
                 back +
                     ", because it was made just before the power went, and not all of it "
                     "reached the disk",
                 "`unwrite log --all` lists the other states");
}

Result<> refuse_unproved(const History& history, Locator& locator, const RevertPlan& plan,
                         const std::set<journal::DeltaNumber>& deltas) {
    const std::vector<std::string> paths = unproved_paths(history);
    if (paths.empty()) return {};
    journal::DeltaNumber newest = 0;  // that is unproved
    for (const journal::NodeNumber number : history.trunk()) {
        const auto& node = history.nodes.at(number);
        if (node.tags.contains(kUnprovedTag)) newest = std::max(newest, node.delta);
    }
    const bool concerns = deltas.empty() || *deltas.begin() <= newest;
    if (!concerns) return {};
    std::set<std::string> touched;
    const auto add = [&](const std::string& path) {
        const std::string line = one_line(path.empty() ? "." : path);
        if (std::binary_search(paths.begin(), paths.end(), line)) touched.insert(line);
    };
    for (const auto& [key, image] : plan.images.objects) {
        if (const auto path = locator.live_path(key)) add(*path);
    }
    for (const auto& [at, state] : plan.images.names) {
        if (const auto above = locator.live_path(at.parent))
            add(above->empty() ? at.name : *above + "/" + at.name);
    }
    if (touched.empty()) return {};
    return unproved("nothing was done", {touched.begin(), touched.end()});
}

Result<> refuse_unproved(const History& history, journal::NodeNumber target,
                         const std::vector<std::string>& paths) {
    TRY_ASSIGN(const auto way, history.path_to(target));
    std::set<std::string> touched;
    for (const Crossing& crossing : way) {
        const auto* node = history.nodes.find(crossing.edge);
        const auto tag = node == nullptr ? std::string() : unproved_of(*node);
        for (const std::string& line : lines_of(tag)) {
            for (const std::string& path : paths) {
                const std::string asked = one_line(path);
                if (is_in(line, asked)) touched.insert(line);
            }
        }
    }
    if (touched.empty()) return {};
    return unproved("nothing was done", {touched.begin(), touched.end()});
}

}  // namespace unwrite::overlay
