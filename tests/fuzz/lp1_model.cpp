#include "tests/fuzz/lp1_model.h"

namespace unwrite::fuzz {

namespace {

using edit::Lp1Command;
using edit::Lp1Operation;
using edit::Random;

struct Line {
    std::string text;
    std::string ending;  // empty: it gets the majority
};

struct File {
    std::vector<Line> lines{};
    bool final_newline = false;
    std::string majority = "\n";
};

File file_of(const std::string& bytes) {
    File file;
    std::size_t lf = 0;
    std::size_t crlf = 0;
    Line line;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        const bool is_crlf = bytes.compare(at, 2, "\r\n") == 0;
        if (!is_crlf && bytes[at] != '\n') {
            line.text += bytes[at];
            continue;
        }
        line.ending = is_crlf ? "\r\n" : "\n";
        (is_crlf ? crlf : lf) += 1;
        at += is_crlf ? 1 : 0;
        file.lines.push_back(line);
        line = {};
    }
    file.final_newline = !bytes.empty() && bytes.back() == '\n';
    if (!line.text.empty()) file.lines.push_back(line);
    if (crlf > lf) file.majority = "\r\n";
    return file;
}

std::string bytes_of(const File& file) {
    std::string bytes;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
        bytes += file.lines[i].text;
        if (i + 1 == file.lines.size() && !file.final_newline) break;
        bytes += file.lines[i].ending.empty() ? file.majority : file.lines[i].ending;
    }
    return bytes;
}

std::vector<Line> new_lines(const std::vector<std::string>& rows) {
    std::vector<Line> lines;
    for (const std::string& row : rows)
        lines.push_back({row, ""});
    return lines;
}

void put(File& file, std::size_t at, const std::vector<std::string>& rows) {
    const auto lines = new_lines(rows);
    file.lines.insert(file.lines.begin() + static_cast<std::ptrdiff_t>(at), lines.begin(),
                      lines.end());
}

void drop(File& file, std::size_t at, std::size_t count) {
    const auto first = file.lines.begin() + static_cast<std::ptrdiff_t>(at);
    file.lines.erase(first, first + static_cast<std::ptrdiff_t>(count));
    if (file.lines.empty()) file.final_newline = false;
}

bool stands_at(const File& file, std::size_t at, const std::vector<std::string>& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (at + i >= file.lines.size() || file.lines[at + i].text != rows[i]) return false;
    }
    return true;
}

std::string find(const File& file, const Lp1Operation& operation, std::size_t& place) {
    if (operation.find.empty()) {
        if (!operation.occurrence) return "Empty match requires occurrence";
        if (*operation.occurrence > file.lines.size() + 1) return "Occurrence out of range";
        place = *operation.occurrence - 1;
        return "";
    }
    std::vector<std::size_t> places;
    for (std::size_t at = 0; at < file.lines.size(); ++at) {
        if (stands_at(file, at, operation.find)) places.push_back(at);
    }
    if (operation.occurrence && *operation.occurrence > places.size())
        return "Occurrence out of range";
    if (places.empty()) return "Match not found";
    if (!operation.occurrence && places.size() > 1) return "Match is not unique";
    place = places[operation.occurrence.value_or(1) - 1];
    return "";
}

void set_final_newline(File& file, bool wanted) {
    if (wanted) {
        if (file.lines.empty()) file.lines.push_back({});
    } else if (file.final_newline && file.lines.size() == 1 && file.lines[0].text.empty()) {
        file.lines.clear();
    }
    file.final_newline = wanted;
}

std::string carry_out(File& file, const Lp1Operation& operation) {
    std::size_t at = 0;
    switch (operation.command) {
        case Lp1Command::kAppend:
            put(file, file.lines.size(), operation.content);
            return "";
        case Lp1Command::kPrepend:
            put(file, 0, operation.content);
            return "";
        case Lp1Command::kFinalNewline:
            set_final_newline(file, operation.newline);
            return "";
        default:
            break;
    }
    if (std::string error = find(file, operation, at); !error.empty()) return error;
    if (operation.command == Lp1Command::kInsertAfter) at += operation.find.size();
    const bool erases =
        operation.command == Lp1Command::kReplace || operation.command == Lp1Command::kErase;
    if (operation.command != Lp1Command::kErase)
        put(file, erases ? at + operation.find.size() : at, operation.content);
    if (erases) drop(file, at, operation.find.size());
    return "";
}

std::string blanks(Random& random) {
    return random.chance(4) ? std::string(random.below(3) + 1, random.chance(2) ? ' ' : '\t') : "";
}

class Renderer {
 public:
    explicit Renderer(Random& random) : random_(random), crlf_(random.chance(4)) {}

    void command(const std::string& text) {
        while (random_.chance(6))
            end(random_.chance(2) ? blanks(random_) : blanks(random_) + "# END F x .");
        end(blanks(random_) + text + blanks(random_));
    }
    void block(const std::vector<std::string>& rows) {
        for (const std::string& row : rows)
            end((row.starts_with('.') ? "." : "") + row);
        end("." + blanks(random_));
    }
    void last(const std::string& text) {
        command(text);
        if (random_.chance(3)) patch_.erase(patch_.size() - (crlf_ ? 2 : 1));
    }
    std::string patch() && { return std::move(patch_); }

 private:
    void end(const std::string& text) { patch_ += text + (crlf_ ? "\r\n" : "\n"); }

    Random& random_;
    const bool crlf_;
    std::string patch_{};
};

std::string in_grammar(Random& random, const std::string& path) {
    if (path.find_first_of(" \"\\") == std::string::npos && !random.chance(3)) return path;
    std::string quoted = "\"";
    for (const char byte : path) {
        if (byte == '"' || byte == '\\') quoted += '\\';
        quoted += byte;
    }
    return quoted + "\"";
}

std::vector<std::string> some_rows(Random& random, const std::string& bytes) {
    const File file = file_of(bytes);
    std::vector<std::string> rows;
    const std::size_t at = random.below(file.lines.size() + 1);
    for (std::size_t i = random.below(3); i > 0 && at + i <= file.lines.size(); --i)
        rows.insert(rows.begin(), file.lines[at + i - 1].text);
    if (random.chance(8)) rows.push_back(random.chance(2) ? "." : "other");
    return rows;
}

}  // namespace

ModelOutcome model_of(const std::vector<Lp1Operation>& operations, const std::string& bytes) {
    File file = file_of(bytes);
    for (const Lp1Operation& operation : operations) {
        if (std::string error = carry_out(file, operation); !error.empty()) return {"", error};
    }
    return {bytes_of(file), ""};
}

std::vector<Lp1Operation> random_operations(Random& random, const std::string& bytes) {
    std::vector<Lp1Operation> operations;
    for (std::size_t i = random.below(4); i > 0; --i) {
        Lp1Operation& one = operations.emplace_back();
        one.command = static_cast<Lp1Command>("RIPETBN"[random.below(7)]);
        one.newline = random.chance(2);
        if (one.command == Lp1Command::kFinalNewline) continue;
        const bool finds =
            one.command != Lp1Command::kAppend && one.command != Lp1Command::kPrepend;
        if (finds) one.find = some_rows(random, bytes);
        if (finds && random.chance(2)) one.occurrence = random.below(4) + 1;
        if (one.command != Lp1Command::kErase)
            one.content = some_rows(random, random.text(4, {"\n"}));
    }
    return operations;
}

std::string rendered(Random& random, const std::string& path,
                     const std::vector<Lp1Operation>& operations) {
    Renderer renderer(random);
    renderer.command("LP1");
    renderer.command("F " + blanks(random) + in_grammar(random, path));
    for (const Lp1Operation& one : operations) {
        std::string line(1, static_cast<char>(one.command));
        if (one.command == Lp1Command::kFinalNewline) line += one.newline ? " +" : " -";
        if (one.occurrence) line += " " + blanks(random) + std::to_string(*one.occurrence);
        renderer.command(line);
        if (one.command == Lp1Command::kFinalNewline) continue;
        const bool finds =
            one.command != Lp1Command::kAppend && one.command != Lp1Command::kPrepend;
        if (finds) renderer.block(one.find);
        if (one.command != Lp1Command::kErase) renderer.block(one.content);
    }
    renderer.last("END");
    return std::move(renderer).patch();
}

BrokenPatch broken(Random& random) {
    static const std::vector<BrokenPatch> kWrong = {
        {"r\n", "Unknown LP1 operation"},
        {"Q\n", "Unknown LP1 operation"},
        {"T x\na\n.\n", "Unknown LP1 operation"},
        {"R 0\na\n.\n.\n", "Occurrence must be >= 1"},
        {"R 01\na\n.\n.\n", "Invalid occurrence"},
        {"R -1\na\n.\n.\n", "Invalid occurrence"},
        {"E 1 2\na\n.\n", "Invalid occurrence"},
        {"E x\na\n.\n", "Invalid occurrence"},
        {"N\n", "Invalid N flag; expected + or -"},
        {"N x\n", "Invalid N flag; expected + or -"},
        {"N+\n", "Invalid N flag; expected + or -"},
        {"T\n.x\n.\n", "Dot-stuffed line must start with '..'"},
        {"T\na\rb\n.\n", "Bare CR in patch"},
        {"T\n\xff\n.\n", "Invalid UTF-8 in patch"},
        {"F\n", "Missing file path"},
        {"F \"\"\n", "Missing file path"},
        {"F \"a\n", "Unterminated quoted path"},
        {"F \"a\\n\"\n", "Invalid escape in quoted path"},
        {"F \"a\" b\n", "Invalid quoted path"},
        {"F a\"b\n", "Invalid quoted path"},
        {"F a b\n", "Expected file section (F <path>)"},
        {"T\nEND\nF x\n# .\n", "Unterminated LP1 block"},
        {"END\nF x\n", "Unexpected text after END"},
        {"\x01", ""},
    };
    const std::string text = random.text(5, {"\n"});
    const std::string good = rendered(random, "f", random_operations(random, text));
    // The end of a good patch, with and without its newline.
    const std::size_t end = good.rfind("END");
    const std::size_t begin = good.rfind('\n', end) + 1;
    const BrokenPatch& wrong = kWrong[random.below(kWrong.size())];
    if (wrong.error.empty()) return {good.substr(0, begin), "Missing END footer"};
    const bool is_open = wrong.error == "Unterminated LP1 block";
    return {good.substr(0, begin) + wrong.patch + (is_open ? "" : good.substr(begin)), wrong.error};
}

}  // namespace unwrite::fuzz
