#include "journal/annex.h"

#include <cerrno>

#include "base/crc32c.h"
#include "base/syscalls.h"
#include "journal/codec.h"
#include "journal/frames.h"

namespace unwrite::journal {

namespace {

constexpr const char* kFile = "annex";
constexpr std::string_view kMagic = "UNWANNX\n";
constexpr std::uint32_t kVersion = 1;

std::string encode(const Annex& annex) {
    Encoder out;
    out.put_bytes(kMagic);
    out.put(kVersion);
    out.put(annex.key);
    out.put_name(annex.path);
    out.put(crc32c(std::as_bytes(std::span(out.text()))));
    return out.text();
}

}  // namespace

Result<std::optional<Annex>> read_annex(int state) {
    if (!sys::stat_at(state, kFile)) return std::optional<Annex>();
    TRY_ASSIGN(const std::string text, read_whole(state, kFile));
    Decoder in(std::as_bytes(std::span(text)));
    in.get_bytes(kMagic.size());
    in.get<std::uint32_t>();
    Annex annex;
    annex.key = in.get_key();
    annex.path = in.get_name();
    if (!annex.path.starts_with('/') || encode(annex) != text) {
        return Error(ErrorKind::kCorrupt, EIO,
                     "the note of the repository outside the workspace is damaged (annex)");
    }
    return std::optional(std::move(annex));
}

Result<> write_annex(int state, const Annex& annex) {
    return sys::replace_file_at(state, kFile, encode(annex), 0600, sys::Durable::kYes);
}

}  // namespace unwrite::journal
