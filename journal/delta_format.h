// How the records of a delta are written as bytes (docs/journal-format.md).
#pragma once

#include "journal/images.h"

namespace unwrite::journal {

inline constexpr std::size_t kDeltaHeader = 28;

enum class DeltaRecord : std::uint8_t {
    kName = 1,
    kAttributes = 2,
    kSize = 3,
    kContent = 4,
    kTouchName = 5,
    kTouchObject = 6,
};

std::string delta_log_name(DeltaNumber number);
std::string delta_data_name(DeltaNumber number);
std::string packed_data_name(DeltaNumber number);      ///< the same, compressed
std::string unfinished_pack_name(DeltaNumber number);  ///< while it is written

std::string encode_delta_header(DeltaNumber number);
std::string encode_name(const NameImage& image, OriginNumber origin);
std::string encode_attributes(const ObjectKey& object, const Attributes& image,
                              OriginNumber origin);
std::string encode_size(const ObjectKey& object, std::uint64_t size, OriginNumber origin);
std::string encode_content(const ObjectKey& object, const ContentImage& image);
std::string encode_touch_name(const NameKey& name, OriginNumber origin);
std::string encode_touch_object(const ObjectKey& object, OriginNumber origin);

/// The bytes of a .log file as far as they are whole. `end` is where the next record goes: 0 when
/// not even the header is complete.
struct ParsedDelta {
    Delta delta;
    std::uint64_t records = 0;
    std::uint64_t end = 0;
};
/// kCorrupt with the position of the damage, kRecovery for a newer version.
Result<ParsedDelta> parse_delta(sys::ConstBytes bytes, DeltaNumber number);

}  // namespace unwrite::journal
