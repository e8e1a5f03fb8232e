#include "overlay/content.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace unwrite::overlay {

using journal::ContentImage;
using journal::ObjectImage;

Result<Content> Content::open(HandlePtr live, const ObjectKey& key,
                              const std::vector<LayerPtr>& layers) {
    Content content;
    TRY_ASSIGN(const struct stat st, sys::stat_fd(live->fd.get()));
    content.live_ = std::move(live);
    content.live_size_ = static_cast<std::uint64_t>(st.st_size);
    content.size_ = content.live_size_;
    for (const LayerPtr& layer : layers) {
        const journal::ObjectImage* image = layer->object(key);
        if (image == nullptr || (!image->size && image->content.empty())) continue;
        content.parts_.push_back({layer, image->size, &image->content});
        if (image->size) content.size_ = *image->size;
    }
    return content;
}

// From the newest crossing back: what a layer captured covers everything before it, and what was
// beyond the size it had is zero.
Content::Source Content::source(std::uint64_t offset) const {
    std::uint64_t end = size_;
    for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
        if (part->size) {
            if (offset >= *part->size) return {end};
            end = std::min(end, *part->size);
        }
        const auto& ranges = *part->ranges;
        const auto next = std::upper_bound(
            ranges.begin(), ranges.end(), offset,
            [](std::uint64_t at, const ContentImage& range) { return at < range.offset; });
        if (next != ranges.begin()) {
            const ContentImage& range = *std::prev(next);
            if (offset < range.offset + range.length) {
                end = std::min(end, range.offset + range.length);
                if (range.position == ContentImage::kHole) return {end};
                return {end, false, range.position + (offset - range.offset), part->layer.get()};
            }
        }
        if (next != ranges.end()) end = std::min(end, next->offset);
    }
    if (offset >= live_size_) return {end};
    end = std::min(end, live_size_);
    const sys::DataRun run = sys::next_data(live_->fd.get(), offset, end);
    if (run.begin > offset) return {run.begin};
    return {std::max(run.finish, offset + 1), false, offset};
}

Content::Segment Content::segment(std::uint64_t offset) const {
    const Source found = source(offset);
    return {offset, found.end, found.hole};
}

// A live file that shrank meanwhile reads as zeros where its bytes were; what was captured is there
// whole.
Result<std::size_t> Content::read_from(const Source& source, sys::Bytes out) const {
    if (source.hole) return 0;
    if (source.layer == nullptr) return sys::read_at(live_->fd.get(), out, source.position);
    const journal::DeltaNumber number = source.layer->number;
    if (!source.layer->data) return journal::captured_bytes_missing(number);
    TRY_ASSIGN(const journal::OpenData data, source.layer->data->open());
    TRY_ASSIGN(const std::size_t got, data->read(out, source.position));
    if (got != out.size()) return journal::captured_bytes_missing(number);
    return got;
}

Result<std::size_t> Content::read(sys::Bytes out, std::uint64_t offset) const {
    std::size_t done = 0;
    while (done < out.size() && offset + done < size_) {
        const Source found = source(offset + done);
        const std::uint64_t known = found.end - (offset + done);
        const sys::Bytes part = out.subspan(
            done, static_cast<std::size_t>(std::min<std::uint64_t>(known, out.size() - done)));
        TRY_ASSIGN(const std::size_t got, read_from(found, part));
        std::memset(part.data() + got, 0, part.size() - got);
        done += part.size();
    }
    return done;
}

Result<std::string> Content::read_all() const {
    std::string text(static_cast<std::size_t>(size_), '\0');
    TRY_ASSIGN(const std::size_t got, read(std::as_writable_bytes(std::span(text)), 0));
    text.resize(got);
    return text;
}

bool is_whole(const ObjectImage& image) {
    if (!image.size) return false;
    std::uint64_t bytes = 0;
    for (const ContentImage& piece : image.content)
        bytes +=
            piece.offset < *image.size ? std::min(piece.length, *image.size - piece.offset) : 0;
    return bytes == *image.size;
}

namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10;

Result<bool> equal_pieces(const Content& a, const Content& b, std::uint64_t begin,
                          std::uint64_t end, std::vector<std::byte>& buffer) {
    if (begin >= end) return true;
    const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, end - begin));
    // Not more than is needed: most files are small, and all of it is cleared first.
    if (buffer.size() < 2 * piece) buffer.resize(2 * piece);
    const sys::Bytes all(buffer);
    while (begin < end) {
        const auto first = a.segment(begin);
        const auto second = b.segment(begin);
        if (first.hole && second.hole) {
            begin = std::min(first.end, second.end);
            continue;
        }
        const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(piece, end - begin));
        TRY_ASSIGN(const std::size_t one, a.read(all.first(length), begin));
        TRY_ASSIGN(const std::size_t two, b.read(all.subspan(piece, length), begin));
        if (one != two || std::memcmp(buffer.data(), buffer.data() + piece, one) != 0) return false;
        if (one == 0) break;
        begin += one;
    }
    return true;
}

}  // namespace

Result<bool> equal_in(const Content& a, const Content& b, const Ranges& ranges) {
    std::vector<std::byte> buffer;
    for (const auto& [begin, end] : ranges) {
        TRY_ASSIGN(const bool equal,
                   equal_pieces(a, b, begin, std::min({end, a.size(), b.size()}), buffer));
        if (!equal) return false;
    }
    return true;
}

}  // namespace unwrite::overlay
