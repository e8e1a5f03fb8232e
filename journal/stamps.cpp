#include "journal/stamps.h"

#include "base/crash_point.h"
#include "journal/codec.h"
#include "journal/frames.h"

namespace unwrite::journal {

namespace {

constexpr const char* kFile = "stamps";
constexpr std::string_view kMagic = "UNWRSTM\n";
constexpr std::uint32_t kVersion = 2;
constexpr std::uint32_t kOnlyStamps = 1;  // this version had no other records
enum Kind : std::uint8_t { kStamp = 1, kMade = 2, kMadeAndStamp = 3, kEnd = 4 };

std::string make_record(const ObjectKey& key, const Trace& trace) {
    Encoder out;
    out.put(key);
    if (trace.stamp) {
        out.put(static_cast<std::uint64_t>(trace.stamp->size));
        out.put(static_cast<std::uint64_t>(trace.stamp->mtime_ns));
    }
    if (!trace.made) return make_frame(kStamp, out.text());
    return make_frame(trace.stamp ? kMadeAndStamp : kMade, out.text());
}

std::optional<std::pair<ObjectKey, Trace>> parse_record(const Frame& frame) {
    if (frame.type < kStamp || frame.type > kMadeAndStamp) return std::nullopt;
    Decoder in(frame.payload);
    const ObjectKey key = in.get_key();
    Trace trace;
    trace.made = frame.type != kStamp;
    if (frame.type != kMade) {
        Stamp stamp;
        stamp.size = static_cast<std::int64_t>(in.get<std::uint64_t>());
        stamp.mtime_ns = static_cast<std::int64_t>(in.get<std::uint64_t>());
        trace.stamp = stamp;
    }
    if (!in.complete()) return std::nullopt;
    return std::pair{key, trace};
}

}  // namespace

Result<> leave_stamps(int state, const Traces& traces) {
    if (traces.empty()) return remove_whole(state, kFile);
    std::string text = make_file_header(kMagic, kVersion);
    for (const auto& [key, trace] : traces)
        text += make_record(key, trace);
    text += make_frame(kEnd, "");
    return sys::replace_file_at(state, kFile, text, 0600);
}

Result<LeftTraces> take_stamps(int state) {
    TRY_ASSIGN(const std::string text, read_whole(state, kFile));
    LeftTraces left;
    const auto version = parse_file_header(kMagic, text);
    if (version == kVersion || version == kOnlyStamps) {
        FrameReader reader(std::as_bytes(std::span(text)), kFileHeader);
        bool damaged = false;
        while (reader.next() == FrameReader::Status::kFrame) {
            if (reader.frame().type == kEnd) {
                left.has_all_made = !damaged;
            } else if (const auto record = parse_record(reader.frame())) {
                left.traces.insert(*record);
            } else {
                damaged = true;
            }
        }
    }
    crash_point("stamps.read");
    TRY(remove_whole(state, kFile));
    return left;
}

}  // namespace unwrite::journal
