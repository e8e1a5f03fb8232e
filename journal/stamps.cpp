#include "journal/stamps.h"

#include "base/crash_point.h"
#include "journal/codec.h"
#include "journal/frames.h"

namespace unwrite::journal {

namespace {

constexpr const char* kFile = "stamps";
constexpr std::string_view kMagic = "UNWRSTM\n";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint8_t kStamp = 1;

std::string make_record(const ObjectKey& key, const Stamp& stamp) {
    Encoder out;
    out.put(key);
    out.put(static_cast<std::uint64_t>(stamp.size));
    out.put(static_cast<std::uint64_t>(stamp.mtime_ns));
    return make_frame(kStamp, out.text());
}

std::optional<std::pair<ObjectKey, Stamp>> parse_record(const Frame& frame) {
    Decoder in(frame.payload);
    const ObjectKey key = in.get_key();
    Stamp stamp;
    stamp.size = static_cast<std::int64_t>(in.get<std::uint64_t>());
    stamp.mtime_ns = static_cast<std::int64_t>(in.get<std::uint64_t>());
    if (frame.type != kStamp || !in.complete()) return std::nullopt;
    return std::pair{key, stamp};
}

}  // namespace

Result<> leave_stamps(int state, const Stamps& stamps) {
    if (stamps.empty()) return remove_whole(state, kFile);
    std::string text = make_file_header(kMagic, kVersion);
    for (const auto& [key, stamp] : stamps)
        text += make_record(key, stamp);
    return sys::replace_file_at(state, kFile, text, 0600);
}

Result<Stamps> take_stamps(int state) {
    TRY_ASSIGN(const std::string text, read_whole(state, kFile));
    Stamps stamps;
    if (parse_file_header(kMagic, text) == kVersion) {
        FrameReader reader(std::as_bytes(std::span(text)), kFileHeader);
        while (reader.next() == FrameReader::Status::kFrame) {
            if (const auto record = parse_record(reader.frame())) stamps.insert(*record);
        }
    }
    crash_point("stamps.read");
    TRY(remove_whole(state, kFile));
    return stamps;
}

}  // namespace unwrite::journal
