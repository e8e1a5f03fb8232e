// A delta that says less than another one: for what is decided and never to be taken back.
#include <cerrno>

#include "base/crash_point.h"
#include "journal/codec.h"
#include "journal/delta_format.h"
#include "journal/delta_log.h"
#include "journal/frames.h"

namespace unwrite::journal {

namespace {

constexpr std::size_t kObjectOfName = 1 + 16 + 4;  // a flag, the object's key and its type

// Every record of a name ends with it, after the origin; a touch has no object.
NameKey name_of(Decoder in, bool touch) {
    NameKey at{in.get_key(), {}};
    if (!touch) in.get_bytes(kObjectOfName);
    in.get<std::uint64_t>();
    at.name = in.get_name();
    return at;
}

bool is_left_out(const Frame& frame, const LeftOut& left_out) {
    switch (static_cast<DeltaRecord>(frame.type)) {
        case DeltaRecord::kName:
            return left_out.names.contains(name_of(Decoder(frame.payload), false));
        case DeltaRecord::kTouchName:
            return left_out.names.contains(name_of(Decoder(frame.payload), true));
        case DeltaRecord::kAttributes:
        case DeltaRecord::kSize:
        case DeltaRecord::kContent:
        case DeltaRecord::kTouchObject:
            return left_out.objects.contains(Decoder(frame.payload).get_key());
    }
    return false;
}

// In the order of open_delta_data(), for the bytes may be compressed at this moment.
Result<> share_data(int deltas, DeltaNumber from, DeltaNumber to) {
    Result<> shared = sys::link(deltas, delta_data_name(from), deltas, delta_data_name(to));
    if (shared || shared.error().number() != ENOENT) return shared;
    shared = sys::link(deltas, packed_data_name(from), deltas, packed_data_name(to));
    if (!shared && shared.error().number() == ENOENT) return {};
    return shared;
}

}  // namespace

Result<> derive_delta(int deltas, DeltaNumber from, DeltaNumber to, const LeftOut& left_out,
                      const std::vector<NameKey>& absent) {
    TRY_ASSIGN(const std::string text, read_whole(deltas, delta_log_name(from)));
    const sys::ConstBytes bytes = std::as_bytes(std::span(text));
    TRY_ASSIGN(const ParsedDelta parsed, parse_delta(bytes, from));
    const std::string header = encode_delta_header(to);
    std::string written = header;
    for (const NameKey& at : absent) {
        written += make_frame(static_cast<std::uint8_t>(DeltaRecord::kName),
                              encode_name({at, std::nullopt, 0}, 0));
    }
    if (parsed.records > 0) {
        FrameReader reader(bytes.first(parsed.end), kDeltaHeader);
        while (reader.next() == FrameReader::Status::kFrame) {
            const Frame& frame = reader.frame();
            if (is_left_out(frame, left_out)) continue;
            written += make_frame(frame.type, {reinterpret_cast<const char*>(frame.payload.data()),
                                               frame.payload.size()});
        }
    }
    // After a power cut the store may hand out a number whose files were there already.
    TRY(remove_delta(deltas, to));
    if (written == header) return {};
    // Nothing is ever written again into the bytes of a sealed delta, so both may have them.
    crash_point("delta.derive.before");
    TRY(share_data(deltas, from, to));
    crash_point("delta.derive.shared");
    TRY(sys::replace_file_at(deltas, delta_log_name(to), written, 0600, sys::Durable::kYes));
    crash_point("delta.derive.after");
    return {};
}

}  // namespace unwrite::journal
