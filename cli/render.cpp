#include "cli/render.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "cli/heaps.h"
#include "cli/text.h"
#include "overlay/changes.h"

namespace unwrite::cli {

using overlay::Change;
using overlay::ChangeKind;

namespace {

bool is_directory(const Change& change) {
    return S_ISDIR(change.type);
}

std::string shown_path(const std::string& path, const Change& change) {
    return quote_name(is_directory(change) ? path + "/" : path);
}

std::string change_line(const Change& change, Colour colour) {
    const char sign = change_letter(change);
    const char* paint = sign == 'A' ? kGreen : sign == 'D' ? kRed : kCyan;
    return "  " + painted(std::string(1, sign), paint, colour) + "  " + change_words(change) + "\n";
}

std::string base_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

std::string session_words(const overlay::Origin& origin) {
    return origin.session.empty() || origin.session == "user" ? "you" : quote_name(origin.session);
}

/// "a, b<last>c", and how many more there are beyond a few.
std::string listed(const std::vector<std::string>& words, const char* last) {
    constexpr std::size_t most = 5;
    const std::size_t shown = std::min(words.size(), most);
    std::string text;
    for (std::size_t i = 0; i < shown; ++i) {
        text += (i == 0 ? "" : i + 1 == words.size() ? last : ", ") + words[i];
    }
    if (shown < words.size()) text += fmt::format(" and {} more", words.size() - shown);
    return text;
}

using OriginsByNumber = std::map<overlay::OriginNumber, overlay::Origin>;

std::string_view line_paint(std::string_view line, bool in_hunk) {
    if (line.starts_with("@@")) return kCyan;
    if (!in_hunk) return kBold;
    if (line.starts_with('+')) return kGreen;
    if (line.starts_with('-')) return kRed;
    return {};
}

}  // namespace

char change_letter(const Change& change) {
    switch (change.kind) {
        case ChangeKind::kCreated:
            return 'A';
        case ChangeKind::kDeleted:
            return 'D';
        case ChangeKind::kModified:
            return 'M';
        case ChangeKind::kRenamed:
            return 'R';
        case ChangeKind::kAttributes:
            return 'm';
    }
    return '?';
}

std::string change_words(const Change& change) {
    std::string words = shown_path(change.path, change);
    if (change.kind == ChangeKind::kRenamed) {
        words = shown_path(change.old_path, change) + " -> " + words;
    }
    if (is_heap(change)) {
        words += fmt::format("  ({} {} below)", grouped(change.below),
                             change.below == 1 ? "change" : "changes");
    } else if (change.below > 0) {
        words += fmt::format("  ({} {}, {})", grouped(change.below),
                             change.below == 1 ? "object" : "objects", size_words(change.bytes));
    } else if (is_directory(change) && change.kind == ChangeKind::kRenamed && change.files > 1) {
        words += "  (" + counted(change.files, "file", "files") + ")";
    }
    const std::string aspects = overlay::aspect_words(change);
    if (change.kind == ChangeKind::kAttributes)
        return words + "  (" + (aspects.empty() ? "attributes" : aspects) + ")";
    const bool modified = change.kind == ChangeKind::kRenamed && change.content;
    const char* comma = modified && !aspects.empty() ? ", " : "";
    if (modified || !aspects.empty())
        words += "  (and " + std::string(modified ? "modified" : "") + comma + aspects + ")";
    return words;
}

namespace {

/// " (1 mode only, 2 extended attributes only)"; nothing where all were written.
std::string only_words(const std::vector<Change>& changes) {
    std::map<std::string, std::uint64_t> counts;
    for (const Change& change : changes) {
        if (change.kind != ChangeKind::kAttributes || change.aspects == 0) continue;
        const bool one = std::has_single_bit(change.aspects);
        ++counts[one ? overlay::aspect_words(change) : "attributes"];
    }
    std::string words;
    for (const auto& [what, count] : counts)
        words += fmt::format("{}{} {} only", words.empty() ? " (" : ", ", count, what);
    return words + (words.empty() ? "" : ")");
}

}  // namespace

std::string summary_words(const std::vector<Change>& changes) {
    std::uint64_t modified = 0, created = 0, deleted = 0, renamed = 0, ignored = 0;
    for (const Change& change : changes) {
        ignored += change.ignored;
        switch (change.kind) {
            case ChangeKind::kCreated:
                created += overlay::files_in(change);
                break;
            case ChangeKind::kDeleted:
                deleted += overlay::files_in(change);
                break;
            case ChangeKind::kRenamed:
                renamed += overlay::files_in(change);
                break;
            case ChangeKind::kModified:
            case ChangeKind::kAttributes:
                modified += overlay::files_in(change);
                break;
        }
    }
    std::string words;
    const auto add = [&words](const char* verb, std::uint64_t count) {
        if (count == 0) return;
        words += words.empty() ? fmt::format("{} {}", verb, counted(count, "file", "files"))
                               : fmt::format(", {} {}", verb, count);
    };
    add("modified", modified);
    words += only_words(changes);
    add("created", created);
    add("deleted", deleted);
    add("renamed", renamed);
    if (words.empty()) return "No changes";
    if (ignored > 0) words += fmt::format(" ({} in .git or ignored by git)", ignored);
    words[0] = static_cast<char>(words[0] - 'a' + 'A');
    return words;
}

std::string line_words(const overlay::LineCounts& lines, std::uint64_t files,
                       std::uint64_t not_counted) {
    const std::string rest = not_counted == 0 ? ""
                                              : fmt::format(" (lines of {} not counted)",
                                                            counted(not_counted, "file", "files"));
    return fmt::format("+{} -{} across {}{}", lines.added, lines.removed,
                       counted(files, "file", "files"), rest);
}

std::string status_line(std::uint64_t files) {
    return fmt::format("[checkpoint: {} changed]", counted(files, "file", "files"));
}

std::string change_lines(const std::vector<Change>& changes, std::size_t most, Colour colour) {
    std::string text;
    const std::size_t shown = most == 0 ? changes.size() : std::min(most, changes.size());
    for (std::size_t i = 0; i < shown; ++i)
        text += change_line(changes[i], colour);
    if (shown < changes.size()) text += fmt::format("  ...  and {} more\n", changes.size() - shown);
    return text;
}

std::string origins_words(const std::vector<overlay::Origin>& origins) {
    // Each session once, with its programs; few of either.
    std::vector<std::pair<std::string, std::vector<std::string>>> sessions;
    for (const overlay::Origin& origin : origins) {
        const std::string who = session_words(origin);
        auto found = std::find_if(sessions.begin(), sessions.end(),
                                  [&](const auto& one) { return one.first == who; });
        if (found == sessions.end()) found = sessions.insert(sessions.end(), {who, {}});
        const std::string program = quote_name(base_name(origin.executable));
        std::vector<std::string>& programs = found->second;
        const bool known = std::find(programs.begin(), programs.end(), program) != programs.end();
        if (!program.empty() && !known) programs.push_back(program);
    }
    std::vector<std::string> all;
    for (const auto& [who, programs] : sessions) {
        all.push_back(programs.empty() ? who : who + " (" + listed(programs, ", ") + ")");
    }
    return listed(all, " and ");
}

std::string path_lines(const std::string& title, const std::vector<std::string>& paths) {
    constexpr std::size_t kMost = 12;
    if (paths.empty()) return {};
    std::string text = title + '\n';
    for (std::size_t i = 0; i < std::min(paths.size(), kMost); ++i)
        text += "  " + quote_name(paths[i]) + '\n';
    if (paths.size() > kMost) text += fmt::format("  ... and {} more\n", paths.size() - kMost);
    return text;
}

std::string who_lines(const std::vector<Change>& changes,
                      const std::vector<overlay::Origin>& origins) {
    OriginsByNumber known;
    for (const overlay::Origin& origin : origins)
        known[origin.number] = origin;
    struct Share {
        std::uint64_t files = 0;
        OriginsByNumber by{};
    };
    std::map<std::set<std::string>, Share> shares;  // by the sessions that had a hand in it
    for (const Change& change : changes) {
        std::set<std::string> sessions;
        OriginsByNumber by;
        for (const overlay::OriginNumber number : change.origins) {
            const auto found = known.find(number);
            if (found == known.end()) continue;
            sessions.insert(session_words(found->second));
            by.insert(*found);
        }
        if (sessions.empty()) continue;
        Share& share = shares[sessions];
        share.files += overlay::files_in(change);
        share.by.merge(by);
    }
    std::string text;
    for (const auto& [sessions, share] : shares) {
        std::vector<overlay::Origin> by;
        for (const auto& [number, origin] : share.by)
            by.push_back(origin);
        text +=
            fmt::format("  {} by {}\n", counted(share.files, "file", "files"), origins_words(by));
    }
    return text;
}

std::string audit_lines(const overlay::AuditTrail& trail) {
    std::string text;
    for (const overlay::AuditEntry& entry : trail.entries) {
        text += fmt::format("{}  {} {}", time_words(entry.time_ns), harmless(entry.event),
                            harmless(entry.operation));
        if (!entry.path.empty()) text += " " + quote_name(entry.path);
        if (entry.count > 1) text += fmt::format(" ({} times)", entry.count);
        text += fmt::format("  by {} {} (pid {})",
                            entry.agent ? harmless(entry.session) : std::string("the user"),
                            quote_name(entry.executable), entry.pid);
        if (!entry.detail.empty()) text += "  " + harmless(entry.detail);
        text += '\n';
    }
    return text;
}

std::string diff_lines(const overlay::FileDiff& diff, bool terminal, Colour colour) {
    // What no patch says; programs that read patches pass over it.
    const std::string aspects = diff.change.kind == ChangeKind::kAttributes && !diff.binary
                                    ? overlay::aspect_words(diff.change)
                                    : std::string();
    if (diff.text.empty() && !aspects.empty()) {
        const std::string line =
            "# " + shown_path(diff.change.path, diff.change) + ": " + aspects + "\n";
        return colour == Colour::kYes ? kBold + line + kReset : line;
    }
    if (!terminal) return diff.text;
    std::string out;
    bool in_hunk = false;
    for (const std::string_view line : lines_of(diff.text)) {
        in_hunk = in_hunk || line.starts_with("@@");
        const std::string_view paint =
            colour == Colour::kYes ? line_paint(line, in_hunk) : std::string_view();
        out += paint;
        out += harmless(line);
        if (!paint.empty()) out += kReset;
        out += '\n';
    }
    return out;
}

namespace {

/// In the place of a bar.
std::string left_out_words(const Change& change) {
    return counted(overlay::files_in(change), "file", "files") + ", lines not counted";
}

}  // namespace

std::string stat_lines(const std::vector<overlay::FileDiff>& diffs) {
    constexpr std::uint64_t most_signs = 40;
    std::size_t width = 0;
    std::uint64_t largest = 0;
    overlay::LineCounts total;
    std::uint64_t files = 0;
    std::uint64_t left_out = 0;
    for (const overlay::FileDiff& diff : diffs) {
        width = std::max(
            width, std::min<std::size_t>(shown_path(diff.change.path, diff.change).size(), 60));
        largest = std::max(largest, diff.lines.added + diff.lines.removed);
        total.added += diff.lines.added;
        total.removed += diff.lines.removed;
        files += overlay::files_in(diff.change);
        left_out += overlay::lines_left_out(diff.change);
    }
    const auto signs = [&](std::uint64_t count) {
        if (largest <= most_signs) return count;
        return count == 0 ? 0 : std::max<std::uint64_t>(1, count * most_signs / largest);
    };
    std::string text;
    for (const overlay::FileDiff& diff : diffs) {
        const std::string bar =
            diff.change.kind == ChangeKind::kAttributes ? overlay::aspect_words(diff.change)
            : overlay::lines_left_out(diff.change) > 0  ? left_out_words(diff.change)
            : diff.binary                               ? "binary"
                          : fmt::format("{} {}{}", diff.lines.added + diff.lines.removed,
                                        std::string(signs(diff.lines.added), '+'),
                                        std::string(signs(diff.lines.removed), '-'));
        text +=
            fmt::format(" {:<{}} | {}\n", shown_path(diff.change.path, diff.change), width, bar);
    }
    return text + line_words(total, files, left_out) + "\n";
}

}  // namespace unwrite::cli
