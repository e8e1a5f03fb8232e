#include "base/digest.h"

#include <nettle/sha1.h>
#include <nettle/sha2.h>

namespace unwrite {

namespace {

constexpr std::string_view kPrefix = "sha256:";

int nibble(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

}  // namespace

Digest digest_of(std::string_view bytes) {
    Digest digest;
    static_assert(sizeof digest.bytes == SHA256_DIGEST_SIZE);
    struct sha256_ctx context;
    ::sha256_init(&context);
    ::sha256_update(&context, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
    ::sha256_digest(&context, digest.bytes.size(), digest.bytes.data());
    return digest;
}

std::string sha1_of(std::string_view bytes) {
    std::string digest(SHA1_DIGEST_SIZE, '\0');
    struct sha1_ctx context;
    ::sha1_init(&context);
    ::sha1_update(&context, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
    ::sha1_digest(&context, digest.size(), reinterpret_cast<std::uint8_t*>(digest.data()));
    return digest;
}

std::string to_hex(const Digest& digest) {
    std::string text;
    for (const std::uint8_t byte : digest.bytes) {
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text;
}

std::string to_text(const Digest& digest) {
    return std::string(kPrefix) + to_hex(digest);
}

std::optional<Digest> digest_from(std::string_view text) {
    if (text.starts_with(kPrefix)) text.remove_prefix(kPrefix.size());
    Digest digest;
    if (text.size() != digest.bytes.size() * 2) return std::nullopt;
    for (std::size_t i = 0; i < digest.bytes.size(); ++i) {
        const int high = nibble(text[2 * i]);
        const int low = nibble(text[2 * i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        digest.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
    }
    return digest;
}

}  // namespace unwrite
