// A file as LP1 sees it: lines without their endings, and whether the last one is complete. Only
// UTF-8 with LF and CRLF endings can be read so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "edit/newlines.h"
#include "edit/settings.h"

namespace unwrite::edit {

struct TextLine {
    std::string text{};
    Newline ending = Newline::kNone;  ///< kNone: not decided, it gets the file's majority
    std::uint64_t number = 0;         ///< in the file as it was read, from 1; 0: a new line
};

struct TextFile {
    std::vector<TextLine> lines{};
    bool final_newline = false;
    Newline majority = Newline::kLf;  ///< LF on a tie and when there is no ending
};

/// Errors (kUsage): "Invalid UTF-8 in file", "Bare CR in file", and with kStrict "Mixed EOL
/// detected".
Result<TextFile> read_text(std::string_view bytes, MixedEndings mode);

/// With kPreserve the inverse of read_text(). One single line that is empty and incomplete is no
/// byte.
std::string written(const TextFile& file);

}  // namespace unwrite::edit
