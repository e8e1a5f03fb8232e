// The content of a file as it was, from the images of several deltas.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "journal/delta_log.h"

namespace unwrite::overlay {

/// Lays ranges of older deltas first; what is covered already stays. The result does not overlap.
class Ranged {
 public:
    Ranged(journal::ObjectImage& image, std::vector<journal::DeltaNumber>& data)
        : image_(image), data_(data) {}

    void add(const journal::ContentImage& range, journal::DeltaNumber delta) {
        std::uint64_t at = range.offset;
        const std::uint64_t end = std::min(range.offset + range.length, *image_.size);
        auto next = covered_.upper_bound(at);
        if (next != covered_.begin()) at = std::max(at, std::prev(next)->second);
        std::vector<std::pair<std::uint64_t, std::uint64_t>> free;
        while (at < end) {
            const std::uint64_t stop = next == covered_.end() ? end : std::min(end, next->first);
            if (at < stop) free.emplace_back(at, stop);
            if (next == covered_.end()) break;
            at = std::max(at, next->second);
            ++next;
        }
        for (const auto& [begin, stop] : free) {
            const bool hole = range.position == journal::ContentImage::kHole;
            image_.content.push_back(
                {begin, stop - begin,
                 hole ? range.position : range.position + (begin - range.offset)});
            data_.push_back(delta);
            covered_.emplace(begin, stop);
        }
    }

 private:
    journal::ObjectImage& image_;
    std::vector<journal::DeltaNumber>& data_;
    std::map<std::uint64_t, std::uint64_t> covered_;
};

}  // namespace unwrite::overlay
