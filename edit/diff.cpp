#include "edit/diff.h"

#include <algorithm>
#include <cerrno>

#include "edit/line_changes.h"
#include "edit/patch_names.h"

namespace unwrite::edit {

namespace {

constexpr std::uint64_t kUnifiedContext = 3;
constexpr std::uint64_t kShownGap = 3;
constexpr std::size_t kBinaryLooksAt = 8000;

using Lines = std::vector<std::string_view>;
using Changes = std::vector<LineChange>;

// Changes that are shown together: their contexts touch.
struct Group {
    Changes::const_iterator first;
    Changes::const_iterator last;  ///< included
};

std::vector<Group> grouped(const Changes& changes, std::uint64_t most_between) {
    std::vector<Group> groups;
    for (auto change = changes.begin(); change != changes.end(); ++change) {
        if (!groups.empty()) {
            const LineChange& before = *groups.back().last;
            if (change->old_start - (before.old_start + before.old_count) <= most_between) {
                groups.back().last = change;
                continue;
            }
        }
        groups.push_back({change, change});
    }
    return groups;
}

void add_line(std::string& text, char origin, std::string_view line) {
    text += origin;
    text += line;
    if (!line.ends_with('\n')) text += "\n\\ No newline at end of file\n";
}

// "12,3", "12" for one line; a side without lines counts from the line before.
std::string range_text(std::uint64_t start, std::uint64_t count) {
    if (count == 1) return std::to_string(start);
    return std::to_string(count == 0 ? start - 1 : start) + ',' + std::to_string(count);
}

std::string hunk_text(const Group& group, const Lines& older, const Lines& newer) {
    const std::uint64_t lead = std::min(group.first->old_start - 1, kUnifiedContext);
    const std::uint64_t old_end = group.last->old_start + group.last->old_count;
    const std::uint64_t tail = std::min<std::uint64_t>(older.size() + 1 - old_end, kUnifiedContext);
    const std::uint64_t old_start = group.first->old_start - lead;
    const std::uint64_t new_start = group.first->new_start - lead;
    const std::uint64_t new_end = group.last->new_start + group.last->new_count;
    std::string text = "@@ -" + range_text(old_start, old_end + tail - old_start) + " +" +
                       range_text(new_start, new_end + tail - new_start) + " @@\n";
    std::uint64_t at = old_start;
    for (auto change = group.first; change <= group.last; ++change) {
        for (; at < change->old_start; ++at)
            add_line(text, ' ', older[at - 1]);
        for (; at < change->old_start + change->old_count; ++at)
            add_line(text, '-', older[at - 1]);
        for (std::uint64_t i = 0; i < change->new_count; ++i)
            add_line(text, '+', newer[change->new_start + i - 1]);
    }
    for (; at < old_end + tail; ++at)
        add_line(text, ' ', older[at - 1]);
    return text;
}

const char* mode_of(const DiffText& side) {
    return side.executable ? "100755" : "100644";
}

std::string label(const char* prefix, const DiffText& side) {
    return side.text ? quoted_name(prefix + std::string(side.path)) : "/dev/null";
}

// git ends a name with a blank in it by a tab, so that patch(1) takes no part of it for a date.
std::string label_line(const char* mark, const std::string& label) {
    return mark + label + (label.find(' ') != std::string::npos ? "\t\n" : "\n");
}

std::string header_of(const DiffText& older, const DiffText& newer) {
    const DiffText& first = older.text ? older : newer;
    const DiffText& second = newer.text ? newer : older;
    std::string text = "diff --git " + quoted_name("a/" + std::string(first.path)) + ' ' +
                       quoted_name("b/" + std::string(second.path)) + '\n';
    if (!older.text) return text + "new file mode " + mode_of(newer) + '\n';
    if (!newer.text) return text + "deleted file mode " + mode_of(older) + '\n';
    if (older.executable != newer.executable)
        text += std::string("old mode ") + mode_of(older) + "\nnew mode " + mode_of(newer) + '\n';
    if (older.path != newer.path)
        text += "rename from " + quoted_name(older.path) + "\nrename to " +
                quoted_name(newer.path) + '\n';
    return text;
}

bool is_binary(const DiffText& side) {
    return side.text && edit::is_binary(*side.text);
}

std::string_view without_ending(std::string_view line) {
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

class Numbered {
 public:
    Numbered(const Lines& older, const Lines& newer)
        : older_(older),
          newer_(newer),
          width_(std::to_string(std::max(older.size(), newer.size())).size()) {}

    void removed(std::uint64_t number) { add(number, " -", older_[number - 1]); }
    void added(std::uint64_t number) { add(number, " +", newer_[number - 1]); }
    void context(std::uint64_t from, std::uint64_t end) {
        for (std::uint64_t number = from; number < end; ++number)
            add(number, "  ", newer_[number - 1]);
    }
    void gap() { text_ += "...\n"; }
    std::string text() && { return std::move(text_); }

 private:
    void add(std::uint64_t number, const char* mark, std::string_view line) {
        const std::string digits = std::to_string(number);
        text_.append(width_ - digits.size(), ' ');
        text_.append(digits).append(mark).append(without_ending(line)).append("\n");
    }

    const Lines& older_;
    const Lines& newer_;
    std::size_t width_;
    std::string text_;
};

void append(std::string& text, const Lines& lines, std::uint64_t from, std::uint64_t end) {
    for (std::uint64_t number = from; number < end; ++number)
        text += lines[number - 1];
}

}  // namespace

bool is_binary(std::string_view bytes) {
    return bytes.substr(0, kBinaryLooksAt).find('\0') != std::string_view::npos;
}

Result<std::vector<DiffHunk>> hunks_between(std::string_view older, std::string_view newer,
                                            bool with_text) {
    TRY_ASSIGN(const Changes changes, line_changes(older, newer));
    const Lines was = with_text ? split_lines(older) : Lines();
    const Lines is = with_text ? split_lines(newer) : Lines();
    std::vector<DiffHunk> hunks;
    for (const Group& group : grouped(changes, 2 * kUnifiedContext)) {
        DiffHunk& hunk = hunks.emplace_back();
        for (auto change = group.first; change <= group.last; ++change) {
            hunk.added += change->new_count;
            hunk.removed += change->old_count;
        }
        if (with_text) hunk.text = hunk_text(group, was, is);
    }
    return hunks;
}

Result<std::string> with_hunks(std::string_view older, std::string_view newer,
                               const std::vector<std::uint64_t>& kept) {
    TRY_ASSIGN(const Changes changes, line_changes(older, newer));
    const auto groups = grouped(changes, 2 * kUnifiedContext);
    for (const std::uint64_t number : kept) {
        if (number == 0 || number > groups.size())
            return Error(ErrorKind::kUsage, EINVAL,
                         "keep hunk " + std::to_string(number) + ": there are " +
                             std::to_string(groups.size()));
    }
    const Lines was = split_lines(older);
    const Lines is = split_lines(newer);
    std::string text;
    std::uint64_t at = 1;  // the next line of the older text
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (std::find(kept.begin(), kept.end(), i + 1) == kept.end()) continue;
        for (auto change = groups[i].first; change <= groups[i].last; ++change) {
            append(text, was, at, change->old_start);
            append(text, is, change->new_start, change->new_start + change->new_count);
            at = change->old_start + change->old_count;
        }
    }
    append(text, was, at, was.size() + 1);
    return text;
}

Result<std::string> unified_diff(const DiffText& older, const DiffText& newer) {
    if (older.text == newer.text && older.executable == newer.executable &&
        (older.path == newer.path || !older.text))
        return std::string{};
    std::string text = header_of(older, newer);
    if (older.text == newer.text) return text;
    if (is_binary(older) || is_binary(newer))
        return text + "Binary files " + label("a/", older) + " and " + label("b/", newer) +
               " differ\n";
    const Lines was = split_lines(older.text.value_or(""));
    const Lines is = split_lines(newer.text.value_or(""));
    TRY_ASSIGN(const Changes changes,
               line_changes(older.text.value_or(""), newer.text.value_or("")));
    if (changes.empty()) return text;
    text += label_line("--- ", label("a/", older)) + label_line("+++ ", label("b/", newer));
    for (const Group& group : grouped(changes, 2 * kUnifiedContext))
        text += hunk_text(group, was, is);
    return text;
}

Result<std::string> numbered_diff(std::string_view older, std::string_view newer) {
    const Lines was = split_lines(older);
    const Lines is = split_lines(newer);
    TRY_ASSIGN(const Changes changes, line_changes(older, newer));
    Numbered numbered(was, is);
    std::uint64_t shown = 0;  // the next line of the newer text that is not yet shown
    for (const LineChange& change : changes) {
        const std::uint64_t lead = std::max<std::uint64_t>(change.new_start, 2) - 1;
        if (shown == 0) {
            numbered.context(lead, change.new_start);
        } else if (lead - std::min(lead, shown + 1) > kShownGap) {
            numbered.context(shown, shown + 1);
            numbered.gap();
            numbered.context(lead, change.new_start);
        } else {
            numbered.context(shown, change.new_start);
        }
        for (std::uint64_t i = 0; i < change.old_count; ++i)
            numbered.removed(change.old_start + i);
        for (std::uint64_t i = 0; i < change.new_count; ++i)
            numbered.added(change.new_start + i);
        shown = change.new_start + change.new_count;
    }
    if (shown > 0) numbered.context(shown, std::min<std::uint64_t>(shown + 1, is.size() + 1));
    return std::move(numbered).text();
}

}  // namespace unwrite::edit
