// SHA-256 digests (FIPS 180-4, by Nettle), and SHA-1 for git's names. They say whether bytes are
// still what was seen, written or expected; nothing secret hangs on them. Thread-safe.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace unwrite {

struct Digest {
    std::array<std::uint8_t, 32> bytes{};
    auto operator<=>(const Digest&) const = default;
};

/// Of all the bytes.
Digest digest_of(std::string_view bytes);

/// SHA-1 as 20 bytes. For what git names by it alone: whoever chooses both texts can make two with
/// one digest.
std::string sha1_of(std::string_view bytes);
/// 64 lower-case hexadecimal digits.
std::string to_hex(const Digest& digest);
/// "sha256:" and to_hex().
std::string to_text(const Digest& digest);

/// The digest that to_text() or to_hex() wrote; digits may be upper-case. Nothing for any other
/// text.
std::optional<Digest> digest_from(std::string_view text);

}  // namespace unwrite
