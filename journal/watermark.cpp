#include "journal/watermark.h"

#include <fcntl.h>

#include <cerrno>

#include "base/crc32c.h"
#include "journal/codec.h"
#include "journal/frames.h"

namespace unwrite::journal {

namespace {

constexpr const char* kFile = "watermark";
constexpr std::string_view kMagic = "UNWRMRK\n";
constexpr std::uint32_t kVersion = 1;
// A sector each: one is not written over with the other.
constexpr std::size_t kHalf = 512;

std::string encode(const Watermark& mark) {
    Encoder out;
    out.put_bytes(kMagic);
    out.put(kVersion);
    out.put(static_cast<std::uint32_t>(mark.ended ? 1 : 0));
    out.put(mark.sequence);
    out.put(static_cast<std::uint64_t>(mark.time_ns));
    out.put(mark.delta);
    out.put(mark.log_end);
    out.put(mark.data_end);
    out.put(mark.node);
    out.put(crc32c(std::as_bytes(std::span(out.text()))));
    return out.text();
}

std::optional<Watermark> decode(std::string_view text) {
    const std::size_t size = encode({}).size();
    if (text.size() < size) return std::nullopt;
    Decoder in(std::as_bytes(std::span(text)).first(size));
    Watermark mark;
    in.get_bytes(kMagic.size());
    in.get<std::uint32_t>();
    mark.ended = in.get<std::uint32_t>() == 1;
    mark.sequence = in.get<std::uint64_t>();
    mark.time_ns = static_cast<std::int64_t>(in.get<std::uint64_t>());
    mark.delta = in.get<std::uint64_t>();
    mark.log_end = in.get<std::uint64_t>();
    mark.data_end = in.get<std::uint64_t>();
    mark.node = in.get<std::uint64_t>();
    if (text.substr(0, size) != encode(mark)) return std::nullopt;
    return mark;
}

}  // namespace

Result<std::optional<Watermark>> read_watermark(int state) {
    TRY_ASSIGN(const std::string text, read_whole(state, kFile));
    std::optional<Watermark> newest;
    for (const std::size_t at : {std::size_t{0}, kHalf}) {
        if (text.size() <= at) continue;
        const auto mark = decode(std::string_view(text).substr(at));
        if (mark && (!newest || mark->sequence > newest->sequence)) newest = mark;
    }
    return newest;
}

Result<> write_watermark(int state, const Watermark& mark) {
    const bool fresh = !sys::stat_at(state, kFile).ok();
    TRY_ASSIGN(const UniqueFd file, sys::open_at(state, kFile, O_WRONLY | O_CREAT, 0600));
    const std::string text = encode(mark);
    const std::uint64_t at = mark.sequence % 2 == 0 ? 0 : kHalf;
    TRY(sys::write_all_at(file.get(), std::as_bytes(std::span(text)), at));
    TRY(sys::sync_data(file.get()));
    return fresh ? sys::sync(state) : Result<>();
}

Result<> remove_watermark(int state) {
    if (!sys::stat_at(state, kFile).ok()) return {};
    TRY(remove_whole(state, kFile));
    return sys::sync(state);
}

}  // namespace unwrite::journal
