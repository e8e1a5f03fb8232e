// Overwriting: writes to a file that somebody may change at the same time without a request. What
// was changed since it was looked at came after the restore, so it stays: each page is compared
// with what the file was, and written only when it is that still. So no more than a change in the
// microseconds between the two is lost.
#pragma once

#include <map>
#include <vector>

#include "overlay/content.h"

namespace unwrite::overlay {

class Overwriting {
 public:
    /// `fd` is open for reading and writing; `was` outlives this.
    Overwriting(int fd, const Content& was);

    /// Bytes [offset, offset + length) become those of `source` from `position` on, or zero where
    /// there is none; but those that an earlier call was for stay. ENOSPC, EIO.
    using Source = const journal::DataFile*;
    Result<> write(std::uint64_t offset, std::uint64_t length, Source source,
                   std::uint64_t position);
    /// The file ends there, unless something behind it was changed: what was not is zero then.
    Result<> end_at(std::uint64_t size);

 private:
    Ranges take(std::uint64_t begin, std::uint64_t end);
    Result<> write_range(std::uint64_t offset, std::uint64_t end, Source source,
                         std::uint64_t position);
    Result<> write_piece(std::uint64_t offset, std::size_t length, Source source,
                         std::uint64_t position);
    Result<> clear(std::uint64_t begin, std::uint64_t end);
    Result<> look(std::uint64_t offset, std::size_t length);
    bool is_as_it_was(std::size_t at, std::size_t length) const;
    Result<std::uint64_t> size() const;

    int fd_;
    const Content& was_;
    std::map<std::uint64_t, std::uint64_t> taken_;  // by an earlier call: where it begins, and ends
    std::vector<std::byte> now_;
    std::vector<std::byte> then_;
    std::vector<std::byte> wanted_;
};

}  // namespace unwrite::overlay
