#include <algorithm>
#include <cerrno>
#include <charconv>

#include "edit/line_changes.h"
#include "edit/unified_names.h"
#include "edit/unified_patch.h"

namespace unwrite::edit {

namespace {

constexpr std::uint64_t kMostLines = 1ULL << 31;

// What the header lines of one file have said so far.
struct Header {
    bool git = false;
    bool labelled = false;
    bool changes_metadata = false;
    bool from = false;        // a rename or copy says from where
    bool to = false;          // and to where
    bool old_absent = false;  // diff(1) has the date of an absent file
    bool new_absent = false;
    bool creates = false;
    bool deletes = false;
    bool renames = false;
    FilePatch file{};
};

struct Range {
    std::uint64_t start = 0;
    std::uint64_t count = 1;
};

bool take_number(std::string_view& text, std::uint64_t& number) {
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc{} || number > kMostLines) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

bool take(std::string_view& text, std::string_view expected) {
    if (!text.starts_with(expected)) return false;
    text.remove_prefix(expected.size());
    return true;
}

bool take_range(std::string_view& text, Range& range) {
    if (!take_number(text, range.start)) return false;
    return !take(text, ",") || take_number(text, range.count);
}

bool take_hunk_header(std::string_view text, Range& older, Range& newer) {
    return take(text, "@@ -") && take_range(text, older) && take(text, " +") &&
           take_range(text, newer) && take(text, " @@");
}

class Parser {
 public:
    Parser(std::string_view patch, unsigned strip) : lines_(split_lines(patch)), strip_(strip) {}

    Result<std::vector<FilePatch>> parse();
    std::uint64_t line_number() const {
        return std::min(at_ + 1, std::max<std::size_t>(lines_.size(), 1));
    }

 private:
    // Without its ending.
    std::string_view header_line(std::size_t at) const;
    bool at_labels() const;
    static Error failed(const std::string& reason);

    Result<> one_line();
    Result<> git_header(std::string_view names);
    Result<bool> extended_header(std::string_view line);
    Result<> mode(std::string_view text, bool wanted);
    Result<> name(std::string_view text, std::optional<std::string>& path);
    Result<> labels();
    Result<> hunk();
    Result<> hunk_lines(Hunk& hunk, std::uint64_t older, std::uint64_t newer);
    Result<> after_hunk() const;
    Result<> finish_file();

    std::vector<std::string_view> lines_;
    unsigned strip_;
    std::size_t at_ = 0;
    std::optional<Header> open_{};
    std::vector<FilePatch> files_{};
};

std::string_view Parser::header_line(std::size_t at) const {
    if (at >= lines_.size()) return {};
    std::string_view line = lines_[at];
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

bool Parser::at_labels() const {
    return header_line(at_).starts_with("--- ") && header_line(at_ + 1).starts_with("+++ ");
}

Error Parser::failed(const std::string& reason) {
    return {ErrorKind::kUsage, EINVAL, reason};
}

Result<> Parser::finish_file() {
    if (!open_) return {};
    FilePatch& file = open_->file;
    if (open_->from != open_->to) return failed("A rename or copy is cut off");
    // diff -N compares with a file that is not there, and says so by its date alone.
    if (open_->old_absent && file.hunks.size() == 1 && file.hunks[0].of_nothing)
        open_->creates = true;
    if (open_->new_absent && file.hunks.size() == 1 && file.hunks[0].to_nothing)
        open_->deletes = true;
    if (open_->creates) file.old_path.reset();
    if (open_->deletes) file.new_path.reset();
    if (!file.old_path && !file.new_path) return failed("A file without a name");
    if (file.old_path && file.new_path && *file.old_path != *file.new_path && !open_->renames)
        return failed("The names of a file differ, but it is not renamed");
    const bool says_enough =
        open_->changes_metadata || open_->creates || open_->deletes || open_->renames;
    if (file.hunks.empty() && (open_->labelled || !says_enough))
        return failed("The patch of a file is cut off: it has no hunk");
    files_.push_back(std::move(file));
    open_.reset();
    return {};
}

Result<> Parser::git_header(std::string_view names) {
    TRY(finish_file());
    open_.emplace();
    open_->git = true;
    open_->file.patch_line = at_ + 1;
    if (auto both = git_names(names, strip_)) {
        open_->file.old_path = std::move(both->older);
        open_->file.new_path = std::move(both->newer);
    }
    ++at_;
    return {};
}

Result<> Parser::mode(std::string_view text, bool wanted) {
    if (text == "120000") return failed("Symbolic links cannot be patched");
    if (text == "160000") return failed("Submodules cannot be patched");
    if (text != "100644" && text != "100755") return failed("Unknown file mode");
    open_->changes_metadata = open_->changes_metadata || wanted;
    if (wanted) open_->file.executable = text == "100755";
    return {};
}

Result<> Parser::name(std::string_view text, std::optional<std::string>& path) {
    open_->renames = true;
    path = label_name(text);
    return path && !path->empty() ? Result<>{} : failed("Invalid file name");
}

// The lines between "diff --git" and the labels; false for any other line.
Result<bool> Parser::extended_header(std::string_view line) {
    FilePatch& file = open_->file;
    Result<> done;
    if (take(line, "new file mode ")) {
        open_->creates = true;
        done = mode(line, true);
    } else if (take(line, "deleted file mode ")) {
        open_->deletes = true;
        done = mode(line, false);
    } else if (take(line, "old mode ")) {
        done = mode(line, false);
    } else if (take(line, "new mode ")) {
        done = mode(line, true);
    } else if (take(line, "rename from ")) {
        open_->from = true;
        done = name(line, file.old_path);
    } else if (take(line, "rename to ")) {
        open_->to = true;
        done = name(line, file.new_path);
    } else if (take(line, "copy from ")) {
        file.copies = true;
        open_->from = true;
        done = name(line, file.old_path);
    } else if (take(line, "copy to ")) {
        open_->to = true;
        done = name(line, file.new_path);
    } else if (line == "GIT binary patch" ||
               (line.starts_with("Binary files ") && line.ends_with(" differ"))) {
        return failed("Binary files cannot be patched");
    } else {
        return false;
    }
    TRY(std::move(done));
    return true;
}

// "---" and "+++": they name the files, unless a rename has.
Result<> Parser::labels() {
    if (!open_ || !open_->git || !open_->file.hunks.empty()) {
        TRY(finish_file());
        open_.emplace();
        open_->file.patch_line = at_ + 1;
    }
    open_->labelled = true;
    open_->old_absent = is_dated_absent(header_line(at_));
    open_->new_absent = is_dated_absent(header_line(at_ + 1));
    const auto older = label_name(header_line(at_).substr(4));
    const auto newer = label_name(header_line(at_ + 1).substr(4));
    if (!older || !newer) return failed("Invalid file name");
    open_->creates = open_->creates || *older == "/dev/null";
    open_->deletes = open_->deletes || *newer == "/dev/null";
    FilePatch& file = open_->file;
    if (!open_->renames) {
        if (!open_->creates) file.old_path = stripped(*older, strip_);
        if (!open_->deletes) file.new_path = stripped(*newer, strip_);
        if ((!open_->creates && !file.old_path) || (!open_->deletes && !file.new_path))
            return failed("A name has too few components to drop " + std::to_string(strip_));
        // diff(1) was told two names, such as "x.orig" and "x"; the second is the one to change.
        if (!open_->git && file.old_path && file.new_path) file.old_path = file.new_path;
    }
    at_ += 2;
    return {};
}

// A hunk that has more lines than it says would lose them silently.
Result<> Parser::after_hunk() const {
    const std::string_view line = header_line(at_);
    if (line.empty() || at_labels() || line == "-- ") return {};
    if (line.front() == ' ' || line.front() == '+' || line.front() == '-')
        return failed("A hunk has more lines than it says");
    return {};
}

Result<> Parser::hunk_lines(Hunk& hunk, std::uint64_t older, std::uint64_t newer) {
    while (older > 0 || newer > 0 || header_line(at_).starts_with('\\')) {
        if (at_ == lines_.size()) return failed("A hunk is cut off");
        std::string_view line = lines_[at_];
        if (line.starts_with('\\')) {
            if (hunk.lines.empty() || !hunk.lines.back().text.ends_with('\n'))
                return failed("A hunk is damaged");
            hunk.lines.back().text.pop_back();
            ++at_;
            continue;
        }
        // Some programs drop the blank of an empty line.
        const char origin = header_line(at_).empty() ? ' ' : line.front();
        if (!header_line(at_).empty()) line.remove_prefix(1);
        const bool in_older = origin == ' ' || origin == '-';
        const bool in_newer = origin == ' ' || origin == '+';
        if ((!in_older && !in_newer) || (in_older && older == 0) || (in_newer && newer == 0))
            return failed("A hunk is damaged");
        older -= in_older ? 1 : 0;
        newer -= in_newer ? 1 : 0;
        hunk.lines.push_back({origin, std::string(line) + (line.ends_with('\n') ? "" : "\n")});
        ++at_;
    }
    return {};
}

Result<> Parser::hunk() {
    if (!open_) return failed("A hunk without a file");
    Range older;
    Range newer;
    if (!take_hunk_header(header_line(at_), older, newer)) return failed("Invalid hunk header");
    if (older.start == 0 && older.count > 0) return failed("Invalid hunk header");
    Hunk hunk;
    hunk.of_nothing = older.start == 0 && older.count == 0;
    hunk.to_nothing = newer.start == 0 && newer.count == 0;
    hunk.old_start = older.start;
    hunk.patch_line = at_ + 1;
    ++at_;
    TRY(hunk_lines(hunk, older.count, newer.count));
    open_->file.hunks.push_back(std::move(hunk));
    return after_hunk();
}

Result<> Parser::one_line() {
    std::string_view line = header_line(at_);
    if (at_labels()) return labels();
    if (take(line, "diff --git ")) return git_header(line);
    if (line.starts_with("@@@")) return failed("Combined diffs cannot be applied");
    if (line.starts_with("@@ -") || (open_ && line.starts_with("@@"))) return hunk();
    // Behind a header, a line that begins the names of the next file and does not end them.
    const bool is_last = at_ + 1 >= lines_.size();
    if (open_ && is_last && line.starts_with("--- ")) return failed("The patch is cut off");
    if (open_ && open_->git && open_->file.hunks.empty()) {
        TRY_ASSIGN(const bool known, extended_header(line));
        static_cast<void>(known);
    }
    ++at_;
    return {};
}

Result<std::vector<FilePatch>> Parser::parse() {
    while (at_ < lines_.size())
        TRY(one_line());
    TRY(finish_file());
    if (files_.empty()) return failed("No file in the patch");
    return std::move(files_);
}

}  // namespace

Result<std::vector<FilePatch>> parse_unified(std::string_view patch, unsigned strip,
                                             std::uint64_t* failed_line) {
    Parser parser(patch, strip);
    auto files = parser.parse();
    if (!files && failed_line != nullptr) *failed_line = parser.line_number();
    return files;
}

}  // namespace unwrite::edit
