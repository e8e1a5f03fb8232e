// A delta that speaks of other objects than before: for directories that had to be made anew.
#include "base/crash_point.h"
#include "journal/codec.h"
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

}  // namespace

Result<> replace_objects(int deltas, DeltaNumber number, const ReplacedObjects& replaced) {
    TRY_ASSIGN(const std::string text, read_whole(deltas, delta_log_name(number)));
    const sys::ConstBytes bytes = std::as_bytes(std::span(text));
    TRY_ASSIGN(const ParsedDelta parsed, parse_delta(bytes, number));
    if (parsed.records == 0) return {};
    std::string written = text.substr(0, kDeltaHeader);
    bool any = false;
    FrameReader reader(bytes.first(parsed.end), kDeltaHeader);
    while (reader.next() == FrameReader::Status::kFrame) {
        const Frame& frame = reader.frame();
        std::string payload(reinterpret_cast<const char*>(frame.payload.data()),
                            frame.payload.size());
        any |= replace_key(payload, 0, replaced);
        if (static_cast<DeltaRecord>(frame.type) == DeltaRecord::kName)
            any |= replace_key(payload, kObjectOfName, replaced);
        written += make_frame(frame.type, payload);
    }
    if (!any) return {};
    crash_point("delta.replace.before");
    // So rare that it may be safe from a power cut in any case.
    TRY(sys::replace_file_at(deltas, delta_log_name(number), written, 0600, sys::Durable::kYes));
    crash_point("delta.replace.after");
    return {};
}

}  // namespace unwrite::journal
