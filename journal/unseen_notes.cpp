#include "journal/unseen_notes.h"

#include <fcntl.h>

#include "journal/codec.h"
#include "journal/frames.h"

namespace unwrite::journal {

namespace {

constexpr const char* kFile = "unseen";
constexpr std::string_view kMagic = "UNWRUNS\n";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint8_t kNote = 1;

}  // namespace

Result<> note_unseen(int state, const ObjectKey& key) {
    TRY_ASSIGN(const UniqueFd file,
               sys::open_at(state, kFile, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
    TRY_ASSIGN(const struct stat st, sys::stat_fd(file.get()));
    const auto size = static_cast<std::uint64_t>(st.st_size);
    std::string text;
    if (size < kFileHeader) text = make_file_header(kMagic, kVersion);
    Encoder out;
    out.put(key);
    text += make_frame(kNote, out.text());
    const std::uint64_t at = size < kFileHeader ? 0 : size;
    const auto wrote = sys::write_all_at(file.get(), std::as_bytes(std::span(text)), at);
    // What comes after a torn one would not be read.
    if (!wrote) ignore(sys::truncate(file.get(), at), "then the file cannot be opened this way");
    return wrote;
}

Result<std::unordered_set<ObjectKey>> noted_unseen(int state) {
    TRY_ASSIGN(const std::string text, read_whole(state, kFile));
    std::unordered_set<ObjectKey> keys;
    if (parse_file_header(kMagic, text) != kVersion) return keys;
    FrameReader reader(std::as_bytes(std::span(text)), kFileHeader);
    while (reader.next() == FrameReader::Status::kFrame) {
        Decoder in(reader.frame().payload);
        const ObjectKey key = in.get_key();
        if (reader.frame().type == kNote && in.complete()) keys.insert(key);
    }
    return keys;
}

Result<> forget_unseen(int state) {
    return remove_whole(state, kFile);
}

}  // namespace unwrite::journal
