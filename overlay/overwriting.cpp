#include "overlay/overwriting.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

namespace unwrite::overlay {

namespace {

// What a mapping's store changes, as far as anybody can tell, and what databases write.
constexpr std::size_t kPage = 4096;
// The longer, the later is written what was compared.
constexpr std::size_t kPiece = 8 * kPage;

/// Where a piece that begins at `offset` ends: at the border of a page.
std::size_t piece_at(std::uint64_t offset, std::uint64_t end) {
    return static_cast<std::size_t>(std::min<std::uint64_t>(end - offset, kPiece - offset % kPage));
}

}  // namespace

Overwriting::Overwriting(int fd, const Content& was)
    : fd_(fd), was_(was), now_(kPiece), then_(kPiece), wanted_(kPiece) {}

Result<std::uint64_t> Overwriting::size() const {
    TRY_ASSIGN(const struct stat st, sys::stat_fd(fd_));
    return static_cast<std::uint64_t>(st.st_size);
}

// Behind the end of either there are zeros.
Result<> Overwriting::look(std::uint64_t offset, std::size_t length) {
    std::ranges::fill(now_, std::byte{0});
    std::ranges::fill(then_, std::byte{0});
    if (offset < was_.size()) TRY(was_.read(sys::Bytes(then_).first(length), offset));
    TRY(sys::read_at(fd_, sys::Bytes(now_).first(length), offset));
    return {};
}

bool Overwriting::is_as_it_was(std::size_t at, std::size_t length) const {
    return std::memcmp(now_.data() + at, then_.data() + at, length) == 0;
}

/// What is in no earlier range; it is in one from now on.
Ranges Overwriting::take(std::uint64_t begin, std::uint64_t end) {
    Ranges free;
    auto next = taken_.upper_bound(begin);
    if (next != taken_.begin() && std::prev(next)->second > begin) --next;
    for (std::uint64_t at = begin; at < end;) {
        const bool is_taken = next != taken_.end() && next->first <= at;
        if (is_taken) {
            at = next->second;
            ++next;
            continue;
        }
        const std::uint64_t stop = next == taken_.end() ? end : std::min(end, next->first);
        free.emplace_back(at, stop);
        at = stop;
    }
    for (const auto& [first, last] : free)
        taken_.emplace(first, last);
    return free;
}

Result<> Overwriting::write(std::uint64_t offset, std::uint64_t length, Source source,
                            std::uint64_t position) {
    for (const auto& [first, last] : take(offset, offset + length))
        TRY(write_range(first, last, source, position + (first - offset)));
    return {};
}

Result<> Overwriting::write_range(std::uint64_t offset, std::uint64_t end, Source source,
                                  std::uint64_t position) {
    while (offset < end) {
        const std::size_t piece = piece_at(offset, end);
        TRY(write_piece(offset, piece, source, position));
        offset += piece;
        position += piece;
    }
    return {};
}

Result<> Overwriting::write_piece(std::uint64_t offset, std::size_t length, Source source,
                                  std::uint64_t position) {
    std::ranges::fill(wanted_, std::byte{0});
    if (source != nullptr) TRY(source->read_exactly(sys::Bytes(wanted_).first(length), position));
    TRY(look(offset, length));
    for (std::size_t at = 0; at < length;) {
        const std::size_t page = std::min<std::size_t>(length - at, kPage - (offset + at) % kPage);
        const bool stays = !is_as_it_was(at, page) ||
                           std::memcmp(now_.data() + at, wanted_.data() + at, page) == 0;
        if (!stays && source == nullptr) TRY(sys::write_zeros(fd_, offset + at, page));
        if (!stays && source != nullptr)
            TRY(sys::write_all_at(fd_, sys::ConstBytes(wanted_).subspan(at, page), offset + at));
        at += page;
    }
    return {};
}

Result<> Overwriting::clear(std::uint64_t begin, std::uint64_t end) {
    return write_range(begin, end, nullptr, 0);
}

// From the end on, piece by piece, so that not much can be changed between the look and the cut.
Result<> Overwriting::end_at(std::uint64_t wanted) {
    TRY_ASSIGN(std::uint64_t end, size());
    if (end < wanted) return sys::truncate(fd_, wanted);
    while (end > wanted) {
        const std::uint64_t begin = std::max(wanted, (end - 1) / kPiece * kPiece);
        const auto length = static_cast<std::size_t>(end - begin);
        TRY(look(begin, length));
        TRY_ASSIGN(const std::uint64_t now, size());
        const bool changed = now != end || end > was_.size() || !is_as_it_was(0, length);
        if (changed) return clear(wanted, std::min(now, was_.size()));
        TRY(sys::truncate(fd_, begin));
        end = begin;
    }
    return {};
}

}  // namespace unwrite::overlay
