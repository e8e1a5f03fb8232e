#include "edit/patch_advice.h"

#include <algorithm>
#include <array>
#include <utility>

#include "edit/line_changes.h"
#include "edit/lp1.h"
#include "edit/text_safety.h"

namespace unwrite::edit {

namespace {

constexpr std::size_t kMaxPath = 200;
constexpr const char* kExample = "LP1\nF src/a.c\nT\nnew last line\n.\nEND";

std::string_view trimmed(std::string_view line) {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t first = line.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return line.substr(first, line.find_last_not_of(blanks) + 1 - first);
}

std::string_view behind(std::string_view line, std::string_view beginning) {
    return line.starts_with(beginning) ? trimmed(line.substr(beginning.size())) : "";
}

std::string shown(std::string_view path) {
    return displayed(path.substr(0, kMaxPath));
}

std::string quoted(std::string_view path) {
    return "\"" + shown(path) + "\"";
}

// How other formats name the file that they change.
constexpr std::array kNames = {
    "+++ b/", "+++ ", "*** Update File:", "*** Add File:", "*** Delete File:", "F "};

std::string path_in(const std::vector<std::string_view>& lines, std::size_t most) {
    std::string path;
    for (std::size_t i = 0; i < std::min(most, lines.size()); ++i) {
        for (const char* const name : kNames) {
            std::string_view found = behind(trimmed(lines[i]), name);
            if (found.empty() || found == "/dev/null") continue;
            if (found.size() > 1 && found.front() == '"' && found.back() == '"')
                found = found.substr(1, found.size() - 2);
            path = std::string(found.substr(0, kMaxPath));
            break;
        }
    }
    return path;
}

// The name of another format that the patch is in; empty: it is meant as LP1.
std::string other_format(const std::vector<std::string_view>& lines) {
    for (const std::string_view line : lines) {
        const std::string_view text = trimmed(line);
        if (text == "LP1") return "";
        if (text.starts_with("diff --git ") || text.starts_with("--- ") || text.starts_with("@@ "))
            return "a unified diff";
        if (text.starts_with("*** Begin Patch") || text.starts_with("*** Update File:"))
            return "a patch for another tool";
    }
    return "";
}

bool is_number(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(),
                                        [](char byte) { return byte >= '0' && byte <= '9'; });
}

std::string on_command(std::string_view line) {
    const std::string_view first = line.substr(0, line.find_first_of(" \t"));
    const std::string_view rest = trimmed(line.substr(first.size()));
    const bool is_operation =
        first.size() == 1 && std::string_view("RIPETB").find(first[0]) != std::string_view::npos;
    if (is_operation && !rest.empty() && !is_number(rest)) {
        const std::string letter(first);
        return "Write " + letter +
               " alone on its line. The text follows on its own lines, and then a line with a "
               "single dot:\n" +
               letter + "\n" + std::string(rest.substr(0, kMaxPath)) + "\n.";
    }
    if (first == "F" && rest.find_first_of(" \t") != std::string_view::npos && rest.front() != '"')
        return "Put a path with blanks in quotes: F " + quoted(rest);
    if (first == "F") return "Write F and the path of the file: F src/a.c";
    if (first == "N") return "Write N + or N -.";
    if (line.starts_with('.') && line.size() > 1)
        return "Put one more dot before a line of text that begins with a dot: ." +
               std::string(line.substr(0, kMaxPath));
    return "";
}

std::string on_line(std::string_view failed, bool is_last, std::string_view reason) {
    if (reason == kTextAfterEnd)
        return "Leave out what follows the line END: the patch ends there.";
    if (std::string advice = on_command(failed); !advice.empty()) return advice;
    if (is_last)
        return "End each block with a line that holds a single dot, and the patch with a line END.";
    return "Correct this line. A patch looks like this:\n" + std::string(kExample);
}

}  // namespace

PatchAdvice advice_on(std::string_view patch, std::uint64_t line, std::string_view reason) {
    const auto lines = split_lines(patch);
    const std::size_t number = std::min<std::size_t>(line, lines.size());
    PatchAdvice advice;
    if (const std::string format = other_format(lines); !format.empty()) {
        advice.path = path_in(lines, lines.size());
        const std::string path = advice.path.empty() ? "the path" : quoted(advice.path);
        advice.next = "This is " + format + ", and Edit takes LP1. Call Edit with path " + path +
                      ", old_snippet and new_snippet, or write an LP1 patch such as:\n" + kExample;
        return advice;
    }
    const bool fenced = std::any_of(lines.begin(), lines.end(), [](std::string_view text) {
        return trimmed(text).starts_with("```");
    });
    advice.path = path_in(lines, number);
    const std::string_view failed = number == 0 ? "" : trimmed(lines[number - 1]);
    if (failed.starts_with("```") || (fenced && path_in(lines, number).empty())) {
        advice.path = path_in(lines, lines.size());
        advice.next =
            "Leave out the lines that begin with ```. The patch begins with a line LP1 and ends "
            "with a line END.";
        return advice;
    }
    const bool has_header = std::any_of(
        lines.begin(), lines.end(), [](std::string_view text) { return trimmed(text) == "LP1"; });
    if (!has_header) {
        advice.next =
            "A patch begins with a line LP1 and ends with a line END:\n" + std::string(kExample);
        return advice;
    }
    advice.next = on_line(failed, number == lines.size(), reason);
    return advice;
}

std::string advice_on_operation(std::string_view path, char command, const Error& error) {
    const std::string again = " Then send the whole patch again; nothing of it was applied.";
    const std::string letter(1, command);
    const std::string& reason = error.text();
    if (error.kind() == ErrorKind::kNotFound)
        return "Call Read for " + quoted(path) +
               " and copy whole lines exactly as they stand there, blanks included." + again;
    if (reason == "Match is not unique")
        return "Find more lines, or say which match is meant: " + letter + " 2." + again;
    if (reason == "Occurrence out of range")
        return "The lines occur less often than that. Call Read for " + quoted(path) +
               " and correct the number." + again;
    if (reason == "Empty match requires occurrence")
        return "An empty first block means a gap between lines, which needs a number: " + letter +
               " 3 is the gap before line 3." + again;
    return "";
}

}  // namespace unwrite::edit
