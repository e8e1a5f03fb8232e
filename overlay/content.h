// Content: the bytes of one object as they were at a node: the live bytes (of now), then for each
// layer on the way the size it had and the ranges that were captured. Nothing is loaded but what is
// asked for, and holes stay holes. Reading is thread-safe. It holds the object's descriptor and the
// layers' data open.
#pragma once

#include <optional>

#include "overlay/layers.h"
#include "overlay/objects.h"

namespace unwrite::overlay {

class Content {
 public:
    /// `layers` in the order of crossing; `live` is open for reading.
    static Result<Content> open(HandlePtr live, const ObjectKey& key,
                                const std::vector<LayerPtr>& layers);

    std::uint64_t size() const { return size_; }

    /// A run of bytes that come from one place.
    struct Segment {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        bool hole = false;
    };
    /// The segment that begins at `offset`, which is below size(). Neighbours may be of the same
    /// kind.
    Segment segment(std::uint64_t offset) const;
    /// Fills `out` from `offset` on, as far as size() reaches; returns how much that was.
    Result<std::size_t> read(sys::Bytes out, std::uint64_t offset) const;
    /// All bytes; the caller looked at size() first.
    Result<std::string> read_all() const;

 private:
    struct Part {
        LayerPtr layer;
        std::optional<std::uint64_t> size;
        const std::vector<journal::ContentImage>* ranges;
    };
    struct Source {
        std::uint64_t end = 0;
        const journal::DeltaData* data = nullptr;  // of a layer
        bool live = false;                         // with neither it is a hole
        std::uint64_t position = 0;
        bool hole() const { return data == nullptr && !live; }
    };
    Source source(std::uint64_t offset) const;

    HandlePtr live_;
    std::uint64_t live_size_ = 0;
    std::uint64_t size_ = 0;
    std::vector<Part> parts_;  // in the order of crossing: a later one covers an earlier one
};

/// Ranges of bytes, [first, second).
using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
/// True when the two agree in these ranges (cut at the sizes, which are equal).
Result<bool> equal_in(const Content& a, const Content& b, const Ranges& ranges);

}  // namespace unwrite::overlay
