// CRC-32C (Castagnoli, polynomial 0x1EDC6F41, reflected), as in RFC 3720 appendix B.4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace unwrite {

/// The checksum of `data`, continuing from `crc` (0 to begin).
std::uint32_t crc32c(std::span<const std::byte> data, std::uint32_t crc = 0);
/// The same without the processor's instruction for it (for comparison).
std::uint32_t crc32c_by_table(std::span<const std::byte> data, std::uint32_t crc = 0);

}  // namespace unwrite
