// What the tool `Edit` answers to a snippet or line-range edit. Every field is set in every
// outcome; what cannot be known (the hash of a file that cannot be read) is null in the JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "edit/newlines.h"
#include "edit/request.h"

namespace unwrite::edit {

enum class EditAction { kSnippet, kLines };
enum class EditStatus { kOk, kNoMatch, kStaleFile, kError };

/// A place that may have been meant.
struct Candidate {
    std::uint64_t line = 0;  ///< from 1
    std::string preview{};   ///< at most kMaxPreview bytes of the line
    double score = 0;        ///< from 0 to 1; 1 is equal but for white space
};

/// The whole message, or output, of an edit that leaves every byte as it is.
inline constexpr std::string_view kNoChanges = "No changes applied.";

inline constexpr std::size_t kMaxCandidates = 5;
inline constexpr std::size_t kMaxPreview = 120;

/// Bytes of the old file, `end` not included.
struct ByteRange {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
};

struct EditResponse {
    EditAction action = EditAction::kSnippet;
    EditStatus status = EditStatus::kError;
    std::string message{};
    std::optional<Digest> hash_before{};
    std::optional<Digest> hash_after{};  ///< the same as before unless the status is kOk
    std::optional<Newline> newline{};
    std::optional<std::string> region_id{};
    std::uint64_t bytes_written = 0;   ///< of the replacement, in the file's line endings
    std::optional<LineRange> lines{};  ///< of the old file, what was replaced
    std::optional<ByteRange> replaced{};
    std::vector<Candidate> candidates{};
};

/// One JSON object, without a newline: action, status, message, current_file_hash,
/// file_hash_before, file_hash_after, newline_kind, region_id, bytes_written, lines,
/// replaced_byte_range, candidates. Bytes that are not UTF-8 become U+FFFD.
std::string encode_response(const EditResponse& response);

/// The answer to arguments that decode_request() refused with `error`: which action was meant, and
/// the region_id, are taken from them as far as they can be read.
EditResponse refusal(std::string_view arguments, const Error& error);

}  // namespace unwrite::edit
