#include "overlay/ignored.h"

#include <algorithm>
#include <array>

#include "overlay/git_index.h"

namespace unwrite::overlay {

namespace {

constexpr std::array<std::string_view, 4> kNames = {".git", "node_modules", ".venv", "__pycache__"};
constexpr std::uint64_t kMostOfRules = 1U << 20U;

std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::optional<std::string> read_text(View& view, const std::string& path, std::uint64_t most) {
    const auto found = view.find(path);
    if (!found || !*found || !S_ISREG((*found)->type)) return std::nullopt;
    const auto size = view.size(**found);
    if (!size || *size > most) return std::nullopt;
    const auto content = view.content(**found);
    if (!content) return std::nullopt;
    auto text = content->read_all();
    return text ? std::optional(*std::move(text)) : std::nullopt;
}

/// A line of a .gitignore without what is not the pattern; empty when it has none.
std::string_view pattern_of(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    while (line.ends_with(' ') && !line.ends_with("\\ "))
        line.remove_suffix(1);
    return line.starts_with('#') ? std::string_view() : line;
}

/// `build/*` and `build/**` are about all of `build/`.
std::string_view without_stars(std::string_view pattern) {
    for (const std::string_view stars : {std::string_view("/**"), std::string_view("/*")}) {
        if (pattern.size() > stars.size() && pattern.ends_with(stars))
            return pattern.substr(0, pattern.size() - stars.size() + 1);
    }
    return pattern;
}

bool is_everything(std::string_view pattern) {
    return pattern == "*" || pattern == "/*" || pattern == "**" || pattern == "/**";
}

}  // namespace

bool Ignored::covers(const std::string& path) {
    const Directory& above = directory(parent_of(path));
    return above.ignored && !(above.has_tracked && is_tracked(path));
}

bool Ignored::covers_all_in(const std::string& path) {
    const Directory& found = directory(path);
    return found.ignored && !found.has_tracked;
}

Ignored::Directory& Ignored::directory(const std::string& path) {
    if (const auto known = known_.find(path); known != known_.end()) return known->second;
    Directory found;
    if (!path.empty()) {
        const Directory& above = directory(parent_of(path));
        const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
        const bool named = std::find(kNames.begin(), kNames.end(), name) != kNames.end();
        found.ignored = above.ignored || named || matches(path);
        if (!found.ignored) {
            read_rules(path, found);
            found.ignored = found.all_in_it;
        }
        // Nothing in a directory is in the index when nothing in the one above is.
        if (found.ignored && name != ".git" && !(above.ignored && !above.has_tracked))
            found.has_tracked = holds_tracked(path);
    }
    return known_.insert_or_assign(path, std::move(found)).first->second;
}

// The last pattern that matches decides, and the one nearest to the path.
bool Ignored::matches(const std::string& path) {
    const std::string folded = Glob::fold(path);
    for (std::string at = parent_of(path);; at = parent_of(at)) {
        Directory& above = directory(at);
        if (!above.rules_read) read_rules(at, above);
        const std::string_view below =
            std::string_view(folded).substr(at.empty() ? 0 : at.size() + 1);
        for (auto rule = above.rules.rbegin(); rule != above.rules.rend(); ++rule) {
            if (rule->glob.matches(below, true)) return !rule->negated;
        }
        if (at.empty()) return false;
    }
}

void Ignored::read_rules(const std::string& path, Directory& directory) {
    directory.rules_read = true;
    if (path.empty()) add_rules(".git/info/exclude", directory);
    add_rules(join_path(path, ".gitignore"), directory);
    directory.all_in_it = directory.all_in_it && !path.empty();
}

void Ignored::add_rules(const std::string& file, Directory& directory) {
    const auto text = read_text(view_, file, kMostOfRules);
    if (!text) return;
    for (std::size_t begin = 0; begin < text->size();) {
        const std::size_t end = std::min(text->find('\n', begin), text->size());
        std::string_view pattern = pattern_of(std::string_view(*text).substr(begin, end - begin));
        begin = end + 1;
        const bool negated = pattern.starts_with('!');
        if (negated) pattern.remove_prefix(1);
        if (pattern.starts_with("\\#") || pattern.starts_with("\\!")) pattern.remove_prefix(1);
        if (pattern != ".gitignore" && pattern != "/.gitignore")
            directory.all_in_it = negated ? false : directory.all_in_it || is_everything(pattern);
        auto glob =
            Glob::compile(negated ? pattern : without_stars(pattern), Glob::Style::kRelative);
        if (glob) directory.rules.push_back({*std::move(glob), negated});
    }
}

bool Ignored::is_tracked(const std::string& path) {
    return std::binary_search(tracked().begin(), tracked().end(), path);
}

bool Ignored::holds_tracked(const std::string& directory) {
    const std::string begin = directory + '/';
    const auto first = std::lower_bound(tracked().begin(), tracked().end(), begin);
    return first != tracked().end() && first->starts_with(begin);
}

const std::vector<std::string>& Ignored::tracked() {
    if (!tracked_) {
        const auto file = read_text(view_, ".git", kMaxGitIndex);
        const auto index = read_text(view_, path_of_git_index(file.value_or("")), kMaxGitIndex);
        tracked_ = index ? git_index_names(*index) : std::vector<std::string>();
        std::sort(tracked_->begin(), tracked_->end());
    }
    return *tracked_;
}

}  // namespace unwrite::overlay
