// What a person decides about parts of a task: read from a script or from answers, said in words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/render.h"
#include "cli/workspace.h"

namespace unwrite::cli {

enum class Verdict { kOpen, kAccept, kReject, kParts };

/// One line of a review's script.
struct Judgement {
    Verdict verdict = Verdict::kOpen;
    std::string path{};                  ///< as it was written
    std::vector<std::uint64_t> hunks{};  ///< kParts: those that are kept
};

/// "accept PATH", "reject PATH", "accept-hunks 1,3 PATH", a line each; a path is the rest of the
/// line, in double quotes with git's escapes where it must be. Empty lines and those that begin
/// with # say nothing. kUsage names the line.
Result<std::vector<Judgement>> parse_judgements(std::string_view text);

/// A changed file, and what was said of it.
struct Judged {
    overlay::Change change{};
    Verdict verdict = Verdict::kOpen;
    std::vector<std::uint64_t> hunks{};
    std::string seen{};  ///< to_text() of the digest of what was shown; may be empty
};

/// The decision that the verdicts make. Where all of a directory that was made in the task is
/// rejected, the directory goes, too; a rejected renaming is taken back at both names. `changes`
/// are those of the whole task, with directories folded.
overlay::Decision decision_of(const std::vector<Judged>& judged,
                              const std::vector<overlay::Change>& changes);

enum class Saying { kDone, kForeseen };
/// What was decided, or would be, in lines. kDone leaves long lists out.
std::string decided_words(const overlay::Decided& decided, Saying saying, Colour colour);
/// What was decided, or would be: as JSON or as text.
void print_decided(Context& context, const overlay::Decided& decided, bool dry_run);

}  // namespace unwrite::cli
