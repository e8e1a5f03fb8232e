// A delta that speaks of other objects than before: for directories that had to be made anew.
#include "base/crash_point.h"
#include "base/crc32c.h"
#include "journal/codec.h"
#include "journal/data_file.h"
#include "journal/delta_format.h"
#include "journal/delta_log.h"
#include "journal/frames.h"

namespace unwrite::journal {

namespace {

constexpr std::size_t kKey = 16;                 // bytes of an object key
constexpr std::size_t kObjectOfName = kKey + 1;  // after the parent's key and a flag

/// Every record begins with a key; a name's has a second one.
bool replace_key(std::string& payload, std::size_t at, const ReplacedObjects& replaced) {
    if (payload.size() < at + kKey) return false;
    Decoder in(std::as_bytes(std::span(payload)).subspan(at, kKey));
    const auto found = replaced.find(in.get_key());
    if (found == replaced.end()) return false;
    Encoder out;
    out.put(found->second);
    payload.replace(at, kKey, out.text());
    return true;
}

struct Whole {
    std::string text;
    ParsedDelta parsed;
};

Result<Whole> read_all(int deltas, DeltaNumber number) {
    Whole whole;
    TRY_ASSIGN(whole.text, read_whole(deltas, delta_log_name(number)));
    TRY_ASSIGN(whole.parsed, parse_delta(std::as_bytes(std::span(whole.text)), number));
    return whole;
}

// So rare that it may be safe from a power cut in any case.
Result<> write_all(int deltas, DeltaNumber number, const std::string& text, const NoteSeal& note) {
    TRY_ASSIGN(const std::uint64_t data, delta_data_size(deltas, number));
    TRY(note({number, text.size(), crc32c(std::as_bytes(std::span(text))), data}));
    crash_point("delta.replace.before");
    TRY(sys::replace_file_at(deltas, delta_log_name(number), text, 0600, sys::Durable::kYes));
    crash_point("delta.replace.after");
    return {};
}

}  // namespace

Result<> replace_objects(int deltas, DeltaNumber number, const ReplacedObjects& replaced,
                         const NoteSeal& note) {
    TRY_ASSIGN(const Whole whole, read_all(deltas, number));
    if (whole.parsed.records == 0) return {};
    const sys::ConstBytes bytes = std::as_bytes(std::span(whole.text));
    std::string written = whole.text.substr(0, kDeltaHeader);
    bool any = false;
    FrameReader reader(bytes.first(whole.parsed.end), kDeltaHeader);
    while (reader.next() == FrameReader::Status::kFrame) {
        const Frame& frame = reader.frame();
        std::string payload(reinterpret_cast<const char*>(frame.payload.data()),
                            frame.payload.size());
        any |= replace_key(payload, 0, replaced);
        if (static_cast<DeltaRecord>(frame.type) == DeltaRecord::kName)
            any |= replace_key(payload, kObjectOfName, replaced);
        written += make_frame(frame.type, payload);
    }
    return any ? write_all(deltas, number, written, note) : Result<>();
}

Result<> put_first(int deltas, DeltaNumber number, const NameImage& image,
                   const std::optional<Attributes>& parent, const NoteSeal& note) {
    TRY_ASSIGN(const Whole whole, read_all(deltas, number));
    std::string written = encode_delta_header(number);
    written += make_frame(static_cast<std::uint8_t>(DeltaRecord::kName), encode_name(image, 0));
    if (whole.parsed.records > 0)
        written += whole.text.substr(kDeltaHeader, whole.parsed.end - kDeltaHeader);
    // What the delta said of the name until now is still an object of somebody's.
    const auto before = whole.parsed.delta.names.find(image.at);
    if (before != whole.parsed.delta.names.end() && before->second.image.object) {
        written += make_frame(static_cast<std::uint8_t>(DeltaRecord::kTouchObject),
                              encode_touch_object(*before->second.image.object, 0));
    }
    if (parent) {
        written += make_frame(static_cast<std::uint8_t>(DeltaRecord::kAttributes),
                              encode_attributes(image.at.parent, *parent, 0));
    }
    return write_all(deltas, number, written, note);
}

}  // namespace unwrite::journal
