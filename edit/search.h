// Finding a sequence in another one, matches that overlap included, in linear time whatever repeats
// in them (Knuth, Morris, Pratt).
#pragma once

#include <cstddef>
#include <vector>

namespace unwrite::edit {

/// Calls `found(position)` for each place of text[begin, end) where `part` (not empty) stands, in
/// order. Texts are indexed; their elements compare with ==.
template <class Text, class Part, class Found>
void find_all(const Text& text, std::size_t begin, std::size_t end, const Part& part, Found found) {
    const std::size_t size = part.size();
    std::vector<std::size_t> borders(size + 1, 0);
    for (std::size_t at = 1, matched = 0; at < size; ++at) {
        while (matched > 0 && !(part[at] == part[matched]))
            matched = borders[matched];
        if (part[at] == part[matched]) ++matched;
        borders[at + 1] = matched;
    }
    for (std::size_t at = begin, matched = 0; at < end; ++at) {
        while (matched > 0 && (matched == size || !(text[at] == part[matched])))
            matched = borders[matched];
        if (text[at] == part[matched]) ++matched;
        if (matched == size) found(at + 1 - size);
    }
}

}  // namespace unwrite::edit
