#include "edit/text_file.h"

#include <cerrno>

#include "edit/text_safety.h"

namespace unwrite::edit {

namespace {

Error unreadable(const char* reason) {
    return {ErrorKind::kUsage, EINVAL, reason};
}

Newline majority_of(const NewlineCounts& counts) {
    return counts.crlf > counts.lf ? Newline::kCrlf : Newline::kLf;
}

}  // namespace

Result<TextFile> read_text(std::string_view bytes, MixedEndings mode) {
    if (!is_utf8(bytes)) return unreadable("Invalid UTF-8 in file");
    const NewlineCounts counts = count_newlines(bytes);
    if (counts.cr > 0) return unreadable("Bare CR in file");
    if (mode == MixedEndings::kStrict && counts.lf > 0 && counts.crlf > 0)
        return unreadable("Mixed EOL detected");
    TextFile file;
    file.majority = majority_of(counts);
    while (!bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        TextLine line;
        line.number = file.lines.size() + 1;
        if (end == std::string_view::npos) {
            line.text = bytes;
            bytes = {};
        } else {
            const bool crlf = end > 0 && bytes[end - 1] == '\r';
            line.text = bytes.substr(0, crlf ? end - 1 : end);
            line.ending = crlf ? Newline::kCrlf : Newline::kLf;
            if (mode == MixedEndings::kNormalize) line.ending = file.majority;
            file.final_newline = end + 1 == bytes.size();
            bytes.remove_prefix(end + 1);
        }
        file.lines.push_back(std::move(line));
    }
    return file;
}

std::string written(const TextFile& file) {
    std::string bytes;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
        const TextLine& line = file.lines[i];
        bytes += line.text;
        if (i + 1 == file.lines.size() && !file.final_newline) break;
        bytes += bytes_of(line.ending == Newline::kNone ? file.majority : line.ending);
    }
    return bytes;
}

}  // namespace unwrite::edit
