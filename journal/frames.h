// The frames of the journal's append-only files: length u32, CRC-32C u32, type u8, payload;
// little-endian. The length counts the type and the payload; the checksum covers the length, the
// type and the payload.
#pragma once

#include <optional>

#include "base/syscalls.h"

namespace unwrite::journal {

inline constexpr std::size_t kFrameHeader = 8;
inline constexpr std::size_t kMaxFrame = std::size_t{16} << 20;

/// The bytes of one frame. `payload` must be shorter than kMaxFrame.
std::string make_frame(std::uint8_t type, std::string_view payload);

struct Frame {
    std::uint8_t type = 0;
    sys::ConstBytes payload;
    std::size_t position = 0;
};

/// What a file of frames may begin with: 8 bytes that tell what it is, version u32, CRC-32C of
/// both.
inline constexpr std::size_t kFileHeader = 16;
std::string make_file_header(std::string_view magic, std::uint32_t version);
/// The version of a whole header, else nothing.
std::optional<std::uint32_t> parse_file_header(std::string_view magic, std::string_view text);

/// Walks over the frames of a file that is in memory.
class FrameReader {
 public:
    FrameReader(sys::ConstBytes bytes, std::size_t start) : bytes_(bytes), position_(start) {}

    enum class Status {
        kFrame,  ///< frame() is the next one
        kEnd,    ///< the file ends where a frame ended
        kTorn,  ///< what is left is no frame, and none comes after it: an append that was cut short
        kDamaged,  ///< what is here is no frame, but there are some after it
    };
    Status next();
    /// After kDamaged: go on with the next frame that is whole.
    void skip_damage() { position_ = resume_; }

    const Frame& frame() const { return frame_; }
    /// Where the next frame begins or should begin.
    std::size_t position() const { return position_; }

 private:
    bool parse(std::size_t at);
    sys::ConstBytes bytes_;
    std::size_t position_;
    std::size_t resume_ = 0;
    Frame frame_;
};

/// A whole file of the state directory; empty when it is absent.
Result<std::string> read_whole(int dir, const std::string& name);
/// The same from byte `position` on.
Result<std::string> read_from(int dir, const std::string& name, std::uint64_t position);
/// Removes such a file; an absent one is as good.
Result<> remove_whole(int dir, const std::string& name);

}  // namespace unwrite::journal
