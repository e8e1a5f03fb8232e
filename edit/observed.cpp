#include "edit/observed.h"

#include <algorithm>
#include <cerrno>

#include "base/paths.h"
#include "edit/line_changes.h"
#include "edit/newlines.h"

namespace unwrite::edit {

namespace {

constexpr const char* kNotRead =
    "File was not read before editing, or has been modified since last read";
constexpr const char* kChanged = "File content changed since last read";

Error stale(std::string reason) {
    return {ErrorKind::kConflict, ESTALE, std::move(reason)};
}

// The bytes before a line; all of them when there is no such line.
std::string_view above(std::string_view bytes, std::uint64_t line) {
    if (line <= 1) return {};
    const CanonicalView view(bytes);
    if (line > view.line_count()) return bytes;
    return bytes.substr(0, view.original_offset(view.line_begin(line)));
}

std::uint64_t last_line(std::string_view bytes) {
    return std::max<std::uint64_t>(1, CanonicalView(bytes).line_count());
}

std::string ranges_text(const std::vector<LineRange>& ranges) {
    std::string text;
    for (const LineRange& range : ranges)
        text += (text.empty() ? "" : ", ") + std::to_string(range.start) + "-" +
                std::to_string(range.end);
    return text;
}

// Lines that were seen where they stand after the changes, and the lines that are new.
LineSet moved(const LineSet& seen, const std::vector<LineChange>& changes, std::uint64_t last) {
    LineSet lines;
    std::uint64_t old_next = 1;
    std::uint64_t new_next = 1;
    // Adds what was seen of the equal lines [old_next, old_end).
    const auto keep = [&](std::uint64_t old_end) {
        for (const LineRange& range : seen.ranges()) {
            const std::uint64_t start = std::max(range.start, old_next);
            const std::uint64_t end = std::min(range.end, old_end - 1);
            if (start <= end) lines.add({start - old_next + new_next, end - old_next + new_next});
        }
    };
    for (const LineChange& change : changes) {
        keep(change.old_start);
        if (change.new_count > 0)
            lines.add({change.new_start, change.new_start + change.new_count - 1});
        old_next = change.old_start + change.old_count;
        new_next = change.new_start + change.new_count;
    }
    if (new_next <= last) keep(last - new_next + old_next + 1);
    return lines;
}

}  // namespace

void LineSet::add(LineRange range) {
    if (range.start < 1 || range.end < range.start) return;
    std::vector<LineRange> merged;
    for (const LineRange& known : ranges_) {
        const bool apart = known.end < range.start - 1 || known.start - 1 > range.end;
        if (apart) {
            merged.push_back(known);
        } else {
            range = {std::min(range.start, known.start), std::max(range.end, known.end)};
        }
    }
    const auto place = std::find_if(merged.begin(), merged.end(), [&](const LineRange& known) {
        return known.start > range.start;
    });
    merged.insert(place, range);
    ranges_ = std::move(merged);
}

bool LineSet::contains(std::uint64_t line) const {
    return std::any_of(ranges_.begin(), ranges_.end(), [line](const LineRange& range) {
        return range.start <= line && line <= range.end;
    });
}

void Observed::put(const std::string& session, const std::string& path, const Content& content,
                   LineSet lines, const std::string& mark) {
    if (lines.ranges().empty()) {
        sessions_[session].erase(path);
        return;
    }
    const std::uint64_t first = lines.ranges().front().start;
    sessions_[session][path] = {content.hash, digest_of(above(content.bytes, first)),
                                std::move(lines), mark};
}

void Observed::read(const std::string& session, const std::string& path, std::string_view bytes,
                    LineRange lines, const std::string& mark) {
    const Content content = Content::of(bytes);
    LineSet seen;
    const Seen* const known = find(session, path);
    if (known != nullptr && known->mark == mark && known->whole == content.hash)
        seen = known->lines;
    lines.end = std::min(lines.end, last_line(bytes));
    seen.add(lines);
    put(session, path, content, std::move(seen), mark);
}

void Observed::read_all(const std::string& session, const std::string& path, std::string_view bytes,
                        const std::string& mark) {
    LineSet lines;
    lines.add({1, last_line(bytes)});
    put(session, path, Content::of(bytes), std::move(lines), mark);
}

Result<> Observed::edited(const std::string& session, const std::string& path,
                          const Content& before, const Content& after, const std::string& mark) {
    const Seen* const known = find(session, path);
    const bool knew = known != nullptr && known->whole == before.hash;
    const LineSet seen = knew ? known->lines : LineSet{};
    forget(path);
    // Whether lines are the same is asked of the text, not of its line endings.
    const CanonicalView now(after.bytes);
    TRY_ASSIGN(const auto changes, line_changes(CanonicalView(before.bytes).text(), now.text()));
    LineSet lines = moved(seen, changes, now.line_count());
    if (now.line_count() == 0) lines.add({1, 1});
    put(session, path, after, std::move(lines), mark);
    return {};
}

void Observed::put_back(const std::string& session, const std::string& path,
                        const std::string& mark) {
    Paths& paths = sessions_[session];
    if (const auto known = paths.find(path); known != paths.end()) known->second.mark = mark;
}

void Observed::forget(const std::string& path) {
    for (auto& [session, paths] : sessions_)
        std::erase_if(paths, [&](const auto& entry) { return is_at_or_below(entry.first, path); });
}

void Observed::forget_for_others(const std::string& session, const std::string& path) {
    for (auto& [other, paths] : sessions_) {
        if (other == session) continue;
        std::erase_if(paths, [&](const auto& entry) { return is_at_or_below(entry.first, path); });
    }
}

void Observed::forget_all() {
    sessions_.clear();
}

void Observed::end_session(const std::string& session) {
    sessions_.erase(session);
}

const Observed::Seen* Observed::find(const std::string& session, const std::string& path) const {
    const auto paths = sessions_.find(session);
    if (paths == sessions_.end()) return nullptr;
    const auto known = paths->second.find(path);
    return known == paths->second.end() ? nullptr : &known->second;
}

Result<> Observed::check(const std::string& session, const std::string& path,
                         std::string_view bytes, const std::string& mark) const {
    const Seen* const seen = find(session, path);
    if (seen == nullptr) return stale(kNotRead);
    if (digest_of(bytes) != seen->whole) {
        const std::uint64_t first = seen->lines.ranges().front().start;
        if (digest_of(above(bytes, first)) != seen->above)
            return stale("Content above line " + std::to_string(first) +
                         " changed since last read (lines may have shifted)");
        return stale(kChanged);
    }
    return mark == seen->mark ? Result<>{} : Result<>{stale(kNotRead)};
}

Result<> Observed::check_lines(const std::string& session, const std::string& path,
                               const std::vector<std::uint64_t>& lines) const {
    const Seen* const seen = find(session, path);
    if (seen == nullptr) return stale(kNotRead);
    for (const std::uint64_t line : lines) {
        if (!seen->lines.contains(line))
            return stale("Edit targets line " + std::to_string(line) + " but only lines " +
                         ranges_text(seen->lines.ranges()) + " were read");
    }
    return {};
}

}  // namespace unwrite::edit
