#include <algorithm>
#include <cerrno>
#include <charconv>

#include "edit/lp1.h"
#include "edit/text_safety.h"

namespace unwrite::edit {

namespace {

constexpr std::string_view kBlanks = " \t";
constexpr const char* kExpectedSection = "Expected file section (F <path>)";
constexpr const char* kUnknownOperation = "Unknown LP1 operation";
constexpr const char* kInvalidOccurrence = "Invalid occurrence";

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// A command line: its first word and what follows it.
struct Words {
    std::string_view first;
    std::string_view rest;
};

Words words_of(std::string_view line) {
    line = trimmed(line);
    const std::size_t end = std::min(line.find_first_of(kBlanks), line.size());
    return {line.substr(0, end), trimmed(line.substr(end))};
}

class Parser {
 public:
    explicit Parser(std::string_view patch) : rest_(patch) {}

    Result<std::vector<Lp1Section>> parse();
    std::uint64_t line_number() const { return number_; }

 private:
    // The next line without its ending, which is LF or CRLF; false at the end.
    bool next();
    // The next line that is neither blank nor a comment.
    bool next_command();
    static Error failed(const char* reason);

    Result<> parse_header();
    Result<> parse_end();
    static Result<std::string> parse_path(std::string_view text);
    static Result<std::string> parse_quoted(std::string_view text);
    Result<Lp1Operation> parse_operation(const Words& words);
    static Result<std::optional<std::uint64_t>> parse_occurrence(std::string_view text);
    static Result<bool> parse_newline_flag(std::string_view text);
    Result<std::vector<std::string>> parse_block();

    std::string_view rest_;
    std::string_view line_;
    std::uint64_t number_ = 0;
};

bool Parser::next() {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (end != std::string_view::npos && line_.ends_with('\r')) line_.remove_suffix(1);
    ++number_;
    return true;
}

bool Parser::next_command() {
    while (next()) {
        const std::string_view text = trimmed(line_);
        if (!text.empty() && text.front() != '#') return true;
    }
    return false;
}

Error Parser::failed(const char* reason) {
    return {ErrorKind::kUsage, EINVAL, reason};
}

Result<> Parser::parse_header() {
    if (!next_command()) return failed("Missing LP1 header");
    if (trimmed(line_) != "LP1") return failed("Invalid LP1 header");
    return {};
}

Result<> Parser::parse_end() {
    while (next()) {
        if (!trimmed(line_).empty()) return failed(kTextAfterEnd);
    }
    return {};
}

Result<std::string> Parser::parse_quoted(std::string_view text) {
    std::string path;
    for (std::size_t at = 1; at < text.size(); ++at) {
        if (text[at] == '"') {
            if (at + 1 != text.size()) return failed("Invalid quoted path");
            if (path.empty()) return failed("Missing file path");
            return path;
        }
        if (text[at] == '\r') return failed("Invalid quoted path");
        if (text[at] == '\\') {
            ++at;
            if (at == text.size()) break;
            if (text[at] != '"' && text[at] != '\\') return failed("Invalid escape in quoted path");
        }
        path += text[at];
    }
    return failed("Unterminated quoted path");
}

Result<std::string> Parser::parse_path(std::string_view text) {
    if (text.empty()) return failed("Missing file path");
    if (text.front() == '"') return parse_quoted(text);
    if (text.find('"') != std::string_view::npos) return failed("Invalid quoted path");
    if (text.find_first_of(" \t\r\v\f") != std::string_view::npos) return failed(kExpectedSection);
    return std::string(text);
}

Result<std::optional<std::uint64_t>> Parser::parse_occurrence(std::string_view text) {
    if (text.empty()) return std::optional<std::uint64_t>{};
    if (text == "0") return failed("Occurrence must be >= 1");
    std::uint64_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc{} || end != text.data() + text.size() || text.front() == '0')
        return failed(kInvalidOccurrence);
    return std::optional<std::uint64_t>{number};
}

Result<bool> Parser::parse_newline_flag(std::string_view text) {
    if (text != "+" && text != "-") return failed("Invalid N flag; expected + or -");
    return text == "+";
}

Result<std::vector<std::string>> Parser::parse_block() {
    std::vector<std::string> rows;
    while (next()) {
        std::string_view row = line_;
        if (row.starts_with('.')) {
            if (trimmed(row) == ".") return rows;
            if (!row.starts_with("..")) return failed("Dot-stuffed line must start with '..'");
            row.remove_prefix(1);
        }
        // A file with either of these could never be patched again.
        if (row.find('\r') != std::string_view::npos) return failed("Bare CR in patch");
        if (!is_utf8(row)) return failed("Invalid UTF-8 in patch");
        rows.emplace_back(row);
    }
    return failed("Unterminated LP1 block");
}

Result<Lp1Operation> Parser::parse_operation(const Words& words) {
    if (words.first.front() == 'N') {
        if (words.first != "N") return failed("Invalid N flag; expected + or -");
        Lp1Operation operation{Lp1Command::kFinalNewline};
        operation.patch_line = number_;
        TRY_ASSIGN(operation.newline, parse_newline_flag(words.rest));
        return operation;
    }
    if (words.first.size() != 1 ||
        std::string_view("RIPETB").find(words.first.front()) == std::string_view::npos)
        return failed(kUnknownOperation);
    Lp1Operation operation{static_cast<Lp1Command>(words.first.front())};
    operation.patch_line = number_;
    if (operation.command == Lp1Command::kAppend || operation.command == Lp1Command::kPrepend) {
        if (!words.rest.empty()) return failed(kUnknownOperation);
    } else {
        TRY_ASSIGN(operation.occurrence, parse_occurrence(words.rest));
        TRY_ASSIGN(operation.find, parse_block());
    }
    if (operation.command != Lp1Command::kErase) {
        TRY_ASSIGN(operation.content, parse_block());
    }
    return operation;
}

Result<std::vector<Lp1Section>> Parser::parse() {
    std::vector<Lp1Section> sections;
    TRY(parse_header());
    while (next_command()) {
        const Words words = words_of(line_);
        if (words.first == "END" && words.rest.empty()) {
            TRY(parse_end());
            return sections;
        }
        if (words.first == "F") {
            Lp1Section section;
            section.patch_line = number_;
            TRY_ASSIGN(section.path, parse_path(words.rest));
            sections.push_back(std::move(section));
        } else if (sections.empty()) {
            return failed(kExpectedSection);
        } else {
            TRY_ASSIGN(Lp1Operation operation, parse_operation(words));
            sections.back().operations.push_back(std::move(operation));
        }
    }
    return failed("Missing END footer");
}

}  // namespace

Result<std::vector<Lp1Section>> parse_lp1(std::string_view patch, std::uint64_t* failed_line) {
    Parser parser(patch);
    auto sections = parser.parse();
    if (!sections && failed_line != nullptr) *failed_line = parser.line_number();
    return sections;
}

}  // namespace unwrite::edit
