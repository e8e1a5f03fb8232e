#include "overlay/glob.h"

#include <algorithm>
#include <cerrno>

namespace unwrite::overlay {

namespace {

constexpr std::size_t kMostBytes = 4096;
constexpr std::size_t kMostComponents = 256;

Error wrong(const std::string& why) {
    return Error(ErrorKind::kUsage, EINVAL, why);
}

std::vector<std::string_view> split(std::string_view path) {
    std::vector<std::string_view> parts;
    std::size_t begin = 0;
    while (begin <= path.size()) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        parts.push_back(path.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

/// The end of a bracket expression that begins at `at`, or npos.
std::size_t bracket_end(std::string_view pattern, std::size_t at) {
    std::size_t i = at + 1;
    if (i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^')) ++i;
    if (i < pattern.size() && pattern[i] == ']') ++i;
    while (i < pattern.size() && pattern[i] != ']')
        ++i;
    return i < pattern.size() ? i : std::string_view::npos;
}

/// Whether a bracket expression [at, end] takes the byte.
bool bracket_takes(std::string_view pattern, std::size_t at, std::size_t end, char byte) {
    const auto value = static_cast<unsigned char>(byte);
    std::size_t i = at + 1;
    const bool negated = pattern[i] == '!' || pattern[i] == '^';
    if (negated) ++i;
    bool found = false;
    for (bool first = true; i < end || first; first = false, ++i) {
        const auto low = static_cast<unsigned char>(pattern[i]);
        auto high = low;
        if (i + 2 < end && pattern[i + 1] == '-') {
            high = static_cast<unsigned char>(pattern[i + 2]);
            i += 2;
        }
        found = found || (low <= value && value <= high);
    }
    return found != negated;
}

/// One step of a pattern: how many of its bytes, and whether they take `byte`. Not for stars.
struct Step {
    std::size_t length;
    bool takes;
};
Step step(std::string_view pattern, std::size_t at, char byte) {
    if (pattern[at] == '?') return {1, true};
    if (pattern[at] == '\\') return {2, pattern[at + 1] == byte};
    if (pattern[at] == '[') {
        const std::size_t end = bracket_end(pattern, at);
        return {end + 1 - at, bracket_takes(pattern, at, end, byte)};
    }
    return {1, pattern[at] == byte};
}

/// The usual backtracking to the last star: linear in most cases, never worse than quadratic.
/// `crosses`: stars and question marks take slashes.
bool match_text(std::string_view pattern, std::string_view text, bool crosses) {
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t resume = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = t;
            continue;
        }
        if (p < pattern.size() && (crosses || text[t] != '/' || pattern[p] == '/')) {
            const Step next = step(pattern, p, text[t]);
            if (next.takes) {
                p += next.length;
                ++t;
                continue;
            }
        }
        if (star == std::string_view::npos) return false;
        p = star + 1;
        t = ++resume;
    }
    while (p < pattern.size() && pattern[p] == '*')
        ++p;
    return p == pattern.size();
}

Result<> check_component(std::string_view component) {
    if (component.empty()) return wrong("it has an empty component");
    if (component == "." || component == "..") return wrong("it has a component `.` or `..`");
    for (std::size_t i = 0; i < component.size(); ++i) {
        if (component[i] == '\0') return wrong("it has a NUL");
        if (component[i] == '\\') {
            if (++i == component.size()) return wrong("it ends with a backslash");
        } else if (component[i] == '[') {
            const std::size_t end = bracket_end(component, i);
            if (end == std::string_view::npos) return wrong("a bracket is not closed");
            i = end;
        }
    }
    return {};
}

bool is_literal(std::string_view component) {
    return component.find_first_of("*?[\\") == std::string_view::npos;
}

bool takes_any(std::string_view component) {
    return component.find_first_not_of('*') == std::string_view::npos;
}

}  // namespace

std::string Glob::fold(std::string_view bytes) {
    std::string folded(bytes);
    for (char& byte : folded) {
        if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte - 'A' + 'a');
    }
    return folded;
}

Result<Glob> Glob::compile(std::string_view pattern, Style style) {
    if (pattern.empty()) return wrong("it is empty");
    if (pattern.size() > kMostBytes) return wrong("it has more than 4096 bytes");
    Glob glob;
    glob.style_ = style;
    glob.text_ = fold(pattern);
    std::string_view text = glob.text_;
    if (style == Style::kRelative) {
        glob.directories_only_ = text.ends_with('/');
        if (glob.directories_only_) text.remove_suffix(1);
        const bool rooted = text.starts_with('/');
        if (rooted) text.remove_prefix(1);
        if (!rooted && text.find('/') == std::string_view::npos)
            glob.components_.emplace_back("**");
    }
    for (std::string_view part : split(text)) {
        TRY(check_component(part));
        if (style == Style::kRelative && part.size() > 1 && takes_any(part)) part = "**";
        if (part == "**" && !glob.components_.empty() && glob.components_.back() == "**") continue;
        glob.components_.emplace_back(part);
    }
    if (glob.components_.size() > kMostComponents) return wrong("it has more than 256 components");
    if (style == Style::kRelative) {
        // `X/**/` is about directories at any depth, and `**` alone would be X as well.
        if (glob.directories_only_ && glob.components_.back() == "**")
            glob.components_.emplace_back("*");
        // What matches covers what is below it: `X/**` is X.
        if (glob.components_.size() > 1 && glob.components_.back() == "**")
            glob.components_.pop_back();
        std::size_t begin = glob.components_.size() - 1;
        while (begin > 0 && takes_any(glob.components_[begin]))
            --begin;
        if (!takes_any(glob.components_[begin])) glob.begins_ = glob.components_[begin];
    }
    return glob;
}

// A set of positions in the pattern, as of a finite automaton (Thompson's construction): one more
// component of the path moves all of them on. The last position is the match, which stays for what
// lies below.
Glob::Positions Glob::after(std::string_view path, bool is_directory, Reach reach) const {
    const std::size_t end = components_.size();
    Positions here(end + 1);
    const auto enter = [&](Positions& set, std::size_t at) {
        for (set[at] = true; at < end && components_[at] == "**"; ++at)
            set[at + 1] = true;
    };
    enter(here, 0);
    const auto parts = split(path);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        Positions next(end + 1);
        next[end] = here[end] && reach == Reach::kBelow;
        for (std::size_t at = 0; at < end; ++at) {
            if (!here[at]) continue;
            if (components_[at] == "**") {
                enter(next, at);
                continue;
            }
            if (!match_text(components_[at], parts[i], false)) continue;
            const bool may_be_file = i + 1 == parts.size() && !is_directory;
            if (at + 1 < end || !directories_only_ || !may_be_file) enter(next, at + 1);
        }
        here = std::move(next);
    }
    return here;
}

bool Glob::matches(std::string_view path, bool is_directory, Reach reach) const {
    if (path.empty()) return false;
    if (style_ == Style::kCrossing) {
        std::string_view pattern = text_;
        // A leading `**/` is any number of directories, also none.
        if (!pattern.starts_with("**/")) return match_text(pattern, path, true);
        pattern.remove_prefix(3);
        for (std::size_t at = 0;; ++at) {
            if (match_text(pattern, path.substr(at), true)) return true;
            at = path.find('/', at);
            if (at == std::string_view::npos) return false;
        }
    }
    return after(path, is_directory, reach).back();
}

bool Glob::tells_apart(std::string_view one, std::string_view other, Reach reach) const {
    if (style_ == Style::kCrossing) return true;
    Positions here = after(one, true, reach);
    Positions there = after(other, true, reach);
    // A match of the directory itself says nothing about what is below it.
    if (reach == Reach::kItself) here.back() = there.back() = false;
    return here != there;
}

bool Glob::begins_at_one_name() const {
    return is_literal(begins_);
}

bool Glob::may_begin_at(std::string_view name) const {
    return begins_ == "*" ||
           (is_literal(begins_) ? begins_ == name : match_text(begins_, name, false));
}

}  // namespace unwrite::overlay
