// Lines of a text that look like the one that was looked for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edit/newlines.h"
#include "edit/response.h"

namespace unwrite::edit {

/// The same for lines that come one by one. Lines are without their endings.
class SimilarLines {
 public:
    explicit SimilarLines(std::string_view snippet);
    void look_at(std::uint64_t number, std::string_view line);
    std::vector<Candidate> best() && { return std::move(best_); }

 private:
    std::string wanted_;
    std::vector<std::uint16_t> pairs_;
    std::vector<Candidate> best_;
};

/// At most kMaxCandidates lines like the first line of `snippet` that is not blank, the best
/// first, then by number. Equal but for white space scores 1; lines that score below one half are
/// not listed. Takes time in proportion to the text.
std::vector<Candidate> similar_lines(const CanonicalView& view, std::string_view snippet);

/// The line with its score; the preview is cut between two characters of UTF-8.
Candidate candidate_of(std::uint64_t number, std::string_view line, double score);
Candidate candidate_at(const CanonicalView& view, std::uint64_t line, double score);

}  // namespace unwrite::edit
