// SHA-256 digests of file contents. They say whether a file still holds what was seen, written or
// expected; nothing secret hangs on them.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace unwrite::edit {

struct Digest {
    std::array<std::uint8_t, 32> bytes{};
    auto operator<=>(const Digest&) const = default;
};

/// Of all the bytes, as FIPS 180-4 defines it.
Digest digest_of(std::string_view bytes);

/// "sha256:" and 64 lower-case hexadecimal digits.
std::string to_text(const Digest& digest);

/// The digest that to_text() wrote; the "sha256:" may be missing and digits may be upper-case.
/// Nothing for any other text.
std::optional<Digest> digest_from(std::string_view text);

}  // namespace unwrite::edit
