#include "base/near_words.h"

#include <algorithm>
#include <utility>

namespace unwrite {

namespace {

constexpr std::size_t kMost = 3;

/// The dashes of an option make it no more alike.
std::size_t letters(std::string_view word) {
    return word.size() - std::min(word.find_first_not_of('-'), word.size());
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> steps(a.size() + 1,
                                                std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                steps[i][j] = i + j;
                continue;
            }
            const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
            std::size_t least =
                std::min({steps[i - 1][j] + 1, steps[i][j - 1] + 1, steps[i - 1][j - 1] + change});
            const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (exchanged) least = std::min(least, steps[i - 2][j - 2] + 1);
            steps[i][j] = least;
        }
    }
    return steps[a.size()][b.size()];
}

std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
    // Nobody compares long lines with commands.
    if (word.empty() || word.size() > 64) return {};
    std::vector<std::pair<std::size_t, std::string>> found;
    for (const std::string& one : known) {
        const std::size_t distance = edit_distance(word, one);
        const bool begins = word.size() >= 3 && one.starts_with(word);
        const std::size_t shorter = std::min(letters(word), letters(one));
        if (begins || distance <= std::max<std::size_t>(1, shorter / 3))
            found.emplace_back(begins ? 0 : distance, one);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> words;
    for (const auto& [distance, one] : found) {
        if (words.size() < kMost && distance <= found.front().first + 1) words.push_back(one);
    }
    return words;
}

std::string did_you_mean(const std::vector<std::string>& words) {
    if (words.empty()) return "";
    std::string text = " Did you mean ";
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
        text += '"' + words[i] + '"';
    }
    return text + '?';
}

}  // namespace unwrite
