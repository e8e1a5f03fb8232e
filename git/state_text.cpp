#include <array>
#include <utility>

#include "git/state.h"

namespace unwrite::git {

namespace {

constexpr std::array<std::pair<Layout, std::string_view>, 3> kLayouts = {
    {{Layout::kDirectory, "repository"}, {Layout::kFile, "linked"}, {Layout::kOther, "unknown"}}};

using Member = std::pair<std::string_view, std::string GitState::*>;
constexpr std::array<Member, 4> kTexts = {{{"head", &GitState::head},
                                           {"branch", &GitState::branch},
                                           {"index", &GitState::index},
                                           {"underway", &GitState::underway}}};

using Flag = std::pair<std::string_view, bool GitState::*>;
constexpr std::array<Flag, 4> kFlags = {{{"refs-known", &GitState::refs_known},
                                         {"submodules", &GitState::submodules},
                                         {"worktrees", &GitState::worktrees},
                                         {"outside", &GitState::outside}}};

void add_line(std::string& text, std::string_view word, std::string_view value) {
    text += word;
    text += ' ';
    text += value;
    text += '\n';
}

void read_line(std::string_view line, GitState& state) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return;
    const std::string_view word = line.substr(0, space);
    const std::string_view value = line.substr(space + 1);
    for (const auto& [layout, name] : kLayouts) {
        if (word == "layout" && value == name) state.layout = layout;
    }
    for (const auto& [name, member] : kTexts) {
        if (word == name) state.*member = value;
    }
    for (const auto& [name, member] : kFlags) {
        if (word == name) state.*member = value == "yes";
    }
    if (word != "stash") return;
    const std::size_t end = std::min(value.find(' '), value.size());
    state.stash.push_back({std::string(value.substr(0, end)),
                           std::string(value.substr(std::min(end + 1, value.size())))});
}

}  // namespace

std::string to_text(const GitState& state) {
    std::string text;
    if (state.layout == Layout::kNone) return text;
    for (const auto& [layout, name] : kLayouts) {
        if (state.layout == layout) add_line(text, "layout", name);
    }
    for (const auto& [name, member] : kTexts) {
        if (!(state.*member).empty()) add_line(text, name, state.*member);
    }
    for (const auto& [name, member] : kFlags) {
        if (state.*member != GitState().*member) add_line(text, name, state.*member ? "yes" : "no");
    }
    for (const StashEntry& entry : state.stash)
        add_line(text, "stash", entry.commit + ' ' + entry.message);
    return text;
}

GitState from_text(std::string_view text) {
    GitState state;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        read_line(text.substr(0, end), state);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return state;
}

}  // namespace unwrite::git
