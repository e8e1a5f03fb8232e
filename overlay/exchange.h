// Exchange: the last step of an edit. New bytes, already in a file without a name (O_TMPFILE), take
// the place of a file, or a file is removed, in one step and only if the file still holds what the
// edit was made for. Nobody can write between the look and the change, because the gate is closed.
// Whoever has the old file open goes on with the new one: a line that is appended a moment later is
// in the new file. A file with other names, or with an owner that a new file would not get, stays,
// and the new bytes are written over its own (live_in_place.cpp).
//
// A client asks for it by ioctl(2) on the file without a name. So the kernel names the caller, and
// has checked that the caller may make files in that directory.
#pragma once

#include <sys/ioctl.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/digest.h"

namespace unwrite::overlay {

/// What must stand at a name for the exchange to happen: a regular file with these bytes.
struct ExpectedBytes {
    std::uint64_t size = 0;
    Digest digest{};
    /// Where a new file would cut off other names, or belong to somebody else, the new bytes may be
    /// written over the old ones, if the caller may write to the file.
    bool may_overwrite = false;
};

/// What the ioctl carries.
struct ExchangeRequest {
    static constexpr std::uint32_t kKeepMode = UINT32_MAX;

    ExpectedBytes expected{};
    std::uint32_t mode = kKeepMode;  ///< permission bits of the result; kKeepMode: as the old file
    std::uint32_t length = 0;        ///< of the name
    std::array<char, 256> name{};    ///< in the directory in which the nameless file was made
};

/// Nothing when it is not the name of a file.
inline std::optional<std::string_view> name_in(const ExchangeRequest& request) {
    if (request.length == 0 || request.length >= request.name.size()) return std::nullopt;
    const std::string_view name(request.name.data(), request.length);
    const bool ends_early = name.find('\0') != std::string_view::npos;
    if (ends_early || name.find('/') != std::string_view::npos || name == "." || name == "..")
        return std::nullopt;
    return name;
}

/// Puts the nameless file in the place of `name`. ECANCELED: something else stands there by now.
inline constexpr unsigned long kExchangeCommand = _IOW('U', 0x60, ExchangeRequest);
/// Removes `name`; the nameless file only says who asks and where.
inline constexpr unsigned long kRemoveCommand = _IOW('U', 0x61, ExchangeRequest);
/// Succeeds on a mount of ours, and does nothing.
inline constexpr unsigned long kProbeCommand = _IO('U', 0x62);

}  // namespace unwrite::overlay
