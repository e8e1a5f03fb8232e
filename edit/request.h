// The requests of the tool `Edit` (alias `edit`), which has three modes told apart by their
// fields. Texts are UTF-8 as they came; a path is as the asker wrote it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "edit/settings.h"

namespace unwrite::edit {

/// Lines from 1, both included.
struct LineRange {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    bool operator==(const LineRange&) const = default;
};

struct PatchRequest {
    std::string patch{};  ///< LP1
};

struct SnippetRequest {
    std::string path{};
    std::string old_snippet{};
    std::string new_snippet{};
    std::optional<LineRange> match_hint{};
    std::optional<std::string> file_hash{};
    std::optional<std::string> region_id{};
};

struct LineRequest {
    std::string path{};
    LineRange lines{};
    std::string new_content{};
    std::optional<std::string> file_hash{};
    std::optional<std::string> region_id{};
};

using EditRequest = std::variant<PatchRequest, SnippetRequest, LineRequest>;

/// The longest region_id that is taken; it is echoed and means nothing here.
inline constexpr std::size_t kMaxRegionId = 256;

/// Decodes the JSON object of a call's arguments and checks all that needs no file: the fields of
/// exactly one mode, no unknown ones, types, ranges, limits. Errors: kUsage, with the text for the
/// asker ("Tool arguments too large", "Patch exceeds max_patch_bytes", "Bad args: ...").
Result<EditRequest> decode_request(std::string_view arguments, const Settings& settings);

/// The checks of decode_request() for a request that was built otherwise.
Result<> check_request(const EditRequest& request, const Settings& settings);

/// The JSON schema of the arguments, for the tool's description.
std::string request_schema(const Settings& settings = {});

}  // namespace unwrite::edit
