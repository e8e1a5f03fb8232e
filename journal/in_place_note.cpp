#include "journal/in_place_note.h"

#include <fcntl.h>

#include <algorithm>

#include "base/crc32c.h"
#include "journal/codec.h"
#include "journal/frames.h"

namespace unwrite::journal {

namespace {

constexpr const char* kFile = "in-place";
constexpr std::string_view kMagic = "UNWRINP\n";
constexpr std::uint32_t kVersion = 1;

}  // namespace

Result<> note_in_place(int state, const InPlace& note, sys::Durable durable) {
    Encoder out;
    out.put(note.key);
    out.put(static_cast<std::uint64_t>(note.before.size()));
    out.put(static_cast<std::uint64_t>(note.after.size()));
    std::string text = make_file_header(kMagic, kVersion) + out.text() + note.before + note.after;
    Encoder sum;
    sum.put(crc32c(std::as_bytes(std::span(text))));
    text += sum.text();
    return sys::replace_file_at(state, kFile, text, 0600, durable);
}

Result<std::optional<InPlace>> noted_in_place(int state) {
    constexpr std::size_t kSum = sizeof(std::uint32_t);
    TRY_ASSIGN(const std::string text, read_whole(state, kFile));
    if (parse_file_header(kMagic, text) != kVersion || text.size() < kFileHeader + kSum)
        return std::optional<InPlace>();
    const auto bytes = std::as_bytes(std::span(text));
    const auto covered = bytes.first(bytes.size() - kSum);
    if (Decoder(bytes.last(kSum)).get<std::uint32_t>() != crc32c(covered))
        return std::optional<InPlace>();
    Decoder in(covered.subspan(kFileHeader));
    InPlace note;
    note.key = in.get_key();
    const auto before = in.get<std::uint64_t>();
    const auto after = in.get<std::uint64_t>();
    note.before = in.get_bytes(before);
    note.after = in.get_bytes(after);
    return in.complete() ? std::optional(std::move(note)) : std::nullopt;
}

Result<> forget_in_place(int state) {
    return remove_whole(state, kFile);
}

std::optional<std::size_t> written_in_place(const InPlace& note, std::string_view now) {
    const std::string& after = note.after;
    const auto [end, other] = std::mismatch(after.begin(), after.end(), now.begin(), now.end());
    const auto common = static_cast<std::size_t>(end - after.begin());
    // The longest beginning that both have; what was there before may agree with it further on.
    const std::size_t size = std::max(common, note.before.size());
    const bool is_whole = common == after.size() && now.size() == common;
    if (is_whole) return common;
    if (now.size() != size || common > now.size()) return std::nullopt;
    const std::string_view rest =
        std::string_view(note.before).substr(std::min(common, note.before.size()));
    return now.substr(common) == rest ? std::optional(common) : std::nullopt;
}

}  // namespace unwrite::journal
