// LP1, a line-based patch language for models: a header, sections of operations on one file each,
// a footer. The parser is strict to the grammar; blank and comment lines may stand before the
// header as well.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "edit/response.h"
#include "edit/text_file.h"

namespace unwrite::edit {

/// The reason of parse_lp1() that has an advice of its own.
inline constexpr const char* kTextAfterEnd = "Unexpected text after END";

enum class Lp1Command : char {
    kReplace = 'R',
    kInsertAfter = 'I',
    kInsertBefore = 'P',
    kErase = 'E',
    kAppend = 'T',
    kPrepend = 'B',
    kFinalNewline = 'N',
};

struct Lp1Operation {
    Lp1Command command = Lp1Command::kAppend;
    std::optional<std::uint64_t> occurrence{};  ///< from 1; without it a match must be unique
    std::vector<std::string> find{};            ///< whole lines; R, I, P, E
    std::vector<std::string> content{};         ///< whole lines; R, I, P, T, B
    bool newline = false;                       ///< N: whether the file shall end in a newline
    std::uint64_t patch_line = 0;               ///< where its command stands in the patch, from 1
};

struct Lp1Section {
    std::string path{};  ///< as written, unquoted; not empty
    std::vector<Lp1Operation> operations{};
    std::uint64_t patch_line = 0;  ///< where the section begins in the patch, from 1
};

/// Errors are kUsage with the reason alone as text ("Missing LP1 header"...). `failed_line` is then
/// the line of the patch.
Result<std::vector<Lp1Section>> parse_lp1(std::string_view patch,
                                          std::uint64_t* failed_line = nullptr);

/// Whether an operation looks for lines, so that the file must exist.
bool needs_file(const Lp1Section& section);

/// Why a section could not be carried out.
struct Lp1Trouble {
    std::size_t operation = 0;            ///< the index of the one that failed
    std::vector<Candidate> candidates{};  ///< lines of the file that it may have meant
};

/// Carries the section out. After an error `file` is good for nothing. Returns the numbers of
/// the lines, of the file as it was read, that operations matched or stand at; sorted, each once.
/// Errors (kUsage): "Match not found" (kNotFound), "Match is not unique", "Occurrence out of
/// range", "Empty match requires occurrence", and "Patch needs too many steps" for one that would
/// take minutes.
Result<std::vector<std::uint64_t>> apply_lp1(const Lp1Section& section, TextFile& file,
                                             Lp1Trouble* trouble = nullptr);

}  // namespace unwrite::edit
