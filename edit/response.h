// What the tool `Edit` answers. Every field is there in every outcome; what cannot be known (the
// hash of a file that cannot be read) is null in the JSON. Clients show their model either the text
// or the JSON, so each of them says everything that is needed to go on.
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

enum class EditAction { kSnippet, kLines, kPatch };
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

enum class FileChange { kModified, kCreated, kDeleted };

/// One file of an edit that was carried out.
struct EditedFile {
    std::string path{};
    FileChange change = FileChange::kModified;
    std::optional<Digest> hash{};      ///< of what it holds now; nothing when it was deleted
    std::optional<Newline> newline{};  ///< the same
    std::vector<LineRange> lines{};    ///< that are new in it, at most kMaxRanges
};

inline constexpr std::size_t kMaxRanges = 10;

struct EditResponse {
    EditAction action = EditAction::kSnippet;
    EditStatus status = EditStatus::kError;
    std::string message{};
    std::string next{};  ///< what to do now; empty: next_step() knows by the status
    std::string path{};  ///< the file that was meant, or that failed; empty: none, or several
    std::optional<Digest> hash_before{};
    std::optional<Digest> hash_after{};  ///< the same as before unless the status is kOk
    std::optional<Newline> newline{};
    std::optional<std::string> region_id{};
    std::uint64_t bytes_written = 0;   ///< of the replacement, in the file's line endings
    std::optional<LineRange> lines{};  ///< of the old file, what was replaced
    std::optional<ByteRange> replaced{};
    std::vector<Candidate> candidates{};
    std::optional<std::uint64_t> patch_line{};  ///< where the patch failed, from 1
    std::optional<std::uint64_t> operation{};   ///< which operation of the patch, from 1
    std::vector<EditedFile> files{};            ///< only when the status is kOk
    std::vector<std::string> remarks{};  ///< what became of links, owners and modes: sentences
    ErrorKind kind = ErrorKind::kUsage;  ///< of the error, unless the status is kOk
};

/// The answer when `error` ended the edit: nothing was changed. What the response already says of
/// the file stays.
void fail(EditResponse& response, const Error& error);

/// What can be said of a request before anything is known of its files.
EditResponse asked_for(const EditRequest& request);

/// What the asker does now: never empty.
std::string next_step(const EditResponse& response);

/// What the message does not say, in lines for a model: each file with its hash and its newline
/// kind, the place in the patch, the candidates, the next step.
std::string facts_of(const EditResponse& response);

/// One JSON object, without a newline, with the members of response_schema(). Bytes that are not
/// UTF-8 become U+FFFD.
std::string encode_response(const EditResponse& response);
/// The JSON schema of encode_response(): it names every member.
std::string response_schema();

/// The answer to arguments that decode_request() refused with `error`: which action and which file
/// were meant, and the region_id, are taken from them as far as they can be read.
EditResponse refusal(std::string_view arguments, const Error& error);

}  // namespace unwrite::edit
