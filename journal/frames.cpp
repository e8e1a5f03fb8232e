#include "journal/frames.h"

#include <cerrno>

#include "base/crc32c.h"
#include "journal/codec.h"

namespace unwrite::journal {

namespace {

std::uint32_t frame_crc(sys::ConstBytes length, sys::ConstBytes body) {
    return crc32c(body, crc32c(length));
}

}  // namespace

std::string make_frame(std::uint8_t type, std::string_view payload) {
    Encoder body;
    body.put(type);
    body.put_bytes(payload);
    Encoder frame;
    frame.put(static_cast<std::uint32_t>(body.text().size()));
    const std::string length = frame.text();
    frame.put(frame_crc(std::as_bytes(std::span(length)), std::as_bytes(std::span(body.text()))));
    frame.put_bytes(body.text());
    return frame.text();
}

std::string make_file_header(std::string_view magic, std::uint32_t version) {
    Encoder out;
    out.put_bytes(magic);
    out.put(version);
    out.put(crc32c(std::as_bytes(std::span(out.text()))));
    return out.text();
}

std::optional<std::uint32_t> parse_file_header(std::string_view magic, std::string_view text) {
    if (text.size() < kFileHeader || !text.starts_with(magic)) return std::nullopt;
    Decoder in(std::as_bytes(std::span(text)).subspan(magic.size()));
    const auto version = in.get<std::uint32_t>();
    if (text.substr(0, kFileHeader) != make_file_header(magic, version)) return std::nullopt;
    return version;
}

bool FrameReader::parse(std::size_t at) {
    const sys::ConstBytes rest = bytes_.subspan(at);
    if (rest.size() <= kFrameHeader) return false;
    Decoder header(rest.first(kFrameHeader));
    const std::size_t length = header.get<std::uint32_t>();
    const auto crc = header.get<std::uint32_t>();
    if (length == 0 || length > kMaxFrame || length > rest.size() - kFrameHeader) return false;
    const sys::ConstBytes body = rest.subspan(kFrameHeader, length);
    if (frame_crc(rest.first(4), body) != crc) return false;
    frame_ = {std::to_integer<std::uint8_t>(body[0]), body.subspan(1), at};
    return true;
}

FrameReader::Status FrameReader::next() {
    if (position_ >= bytes_.size()) return Status::kEnd;
    if (parse(position_)) {
        position_ += kFrameHeader + 1 + frame_.payload.size();
        return Status::kFrame;
    }
    for (resume_ = position_ + 1; resume_ < bytes_.size(); ++resume_) {
        if (parse(resume_)) return Status::kDamaged;
    }
    return Status::kTorn;
}

Result<std::string> read_whole(int dir, const std::string& name) {
    auto text = sys::read_file_at(dir, name);
    if (!text && text.error().number() == ENOENT) return std::string();
    return text;
}

Result<std::string> read_from(int dir, const std::string& name, std::uint64_t position) {
    auto fd = sys::open_at(dir, name, O_RDONLY);
    if (!fd && fd.error().number() == ENOENT) return std::string();
    if (!fd) return std::move(fd).error();
    TRY_ASSIGN(const struct stat st, sys::stat_fd(fd->get()));
    const auto size = static_cast<std::uint64_t>(st.st_size);
    std::string text(size > position ? size - position : 0, '\0');
    TRY_ASSIGN(const std::size_t got,
               sys::read_at(fd->get(), std::as_writable_bytes(std::span(text)), position));
    text.resize(got);
    return text;
}

Result<> remove_whole(int dir, const std::string& name) {
    const auto removed = sys::unlink(dir, name);
    if (!removed && removed.error().number() != ENOENT) return removed;
    return {};
}

}  // namespace unwrite::journal
