#include "edit/similar_lines.h"

#include <algorithm>
#include <cstdint>

namespace unwrite::edit {

namespace {

// More of a line says little about it and costs time.
constexpr std::size_t kCompared = 256;
constexpr double kLeastScore = 0.5;

bool is_blank(char byte) {
    return byte == ' ' || byte == '\t' || byte == '\v' || byte == '\f';
}

// Runs of white space as one space, none at the ends.
std::string squeezed(std::string_view line) {
    std::string text;
    for (const char byte : line) {
        if (text.size() > kCompared) break;
        if (!is_blank(byte)) {
            text += byte;
        } else if (!text.empty() && text.back() != ' ') {
            text += ' ';
        }
    }
    if (!text.empty() && text.back() == ' ') text.pop_back();
    return text;
}

using Pairs = std::vector<std::uint16_t>;

Pairs pairs_of(std::string_view text) {
    Pairs pairs;
    for (std::size_t at = 0; at + 1 < text.size(); ++at) {
        pairs.push_back(static_cast<std::uint16_t>(static_cast<unsigned char>(text[at]) * 256 +
                                                   static_cast<unsigned char>(text[at + 1])));
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

// How many pairs of neighbouring bytes two lines share (Dice's coefficient).
double likeness(const Pairs& one, const Pairs& other) {
    if (one.empty() || other.empty()) return 0;
    std::size_t shared = 0;
    auto a = one.begin();
    auto b = other.begin();
    while (a != one.end() && b != other.end()) {
        if (*a == *b) ++shared;
        const bool step_a = *a <= *b;
        const bool step_b = *b <= *a;
        if (step_a) ++a;
        if (step_b) ++b;
    }
    return 2.0 * static_cast<double>(shared) / static_cast<double>(one.size() + other.size());
}

std::string first_line_of(std::string_view snippet) {
    while (!snippet.empty()) {
        const std::size_t end = std::min(snippet.find('\n'), snippet.size());
        std::string line = squeezed(snippet.substr(0, end));
        if (!line.empty()) return line;
        snippet.remove_prefix(std::min(end + 1, snippet.size()));
    }
    return {};
}

std::string preview_of(std::string_view line) {
    if (line.size() <= kMaxPreview) return std::string(line);
    std::size_t end = kMaxPreview;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80)
        --end;
    return std::string(line.substr(0, end));
}

bool better(const Candidate& one, const Candidate& other) {
    return one.score != other.score ? one.score > other.score : one.line < other.line;
}

void keep(std::vector<Candidate>& best, Candidate found) {
    best.insert(std::upper_bound(best.begin(), best.end(), found, better), std::move(found));
    if (best.size() > kMaxCandidates) best.pop_back();
}

}  // namespace

Candidate candidate_of(std::uint64_t number, std::string_view line, double score) {
    return {number, preview_of(line), score};
}

Candidate candidate_at(const CanonicalView& view, std::uint64_t line, double score) {
    return candidate_of(line, view.line(line), score);
}

SimilarLines::SimilarLines(std::string_view snippet)
    : wanted_(first_line_of(snippet)), pairs_(pairs_of(wanted_)) {}

void SimilarLines::look_at(std::uint64_t number, std::string_view line) {
    if (wanted_.empty()) return;
    const std::string text = squeezed(line);
    const double score = text == wanted_ ? 1.0 : likeness(pairs_of(text), pairs_) * 0.99;
    if (score < kLeastScore) return;
    if (best_.size() == kMaxCandidates && score <= best_.back().score) return;
    keep(best_, candidate_of(number, line, score));
}

std::vector<Candidate> similar_lines(const CanonicalView& view, std::string_view snippet) {
    SimilarLines similar(snippet);
    for (std::size_t line = 1; line <= view.line_count(); ++line)
        similar.look_at(line, view.line(line));
    return std::move(similar).best();
}

}  // namespace unwrite::edit
