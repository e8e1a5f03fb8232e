// Snippet and line-range edits of one file: they replace one span and leave every other byte as it
// is. The replacement is written in the file's dominant line ending.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "edit/request.h"
#include "edit/response.h"

namespace unwrite::edit {

/// Says whether these lines (from 1; for an empty file line 1) may be edited by the asker; an
/// error's message is the reason. May be empty: then every line may be.
using LineCheck = std::function<Result<>(const std::vector<std::uint64_t>& lines)>;

struct SpanEdit {
    EditResponse response{};
    std::string bytes{};  ///< what the file shall hold; only with status kOk
};

/// The request must have passed check_request().
///  kError      the snippet matches more than once (the matches are the candidates), a range is
///              beyond the file, or the replacement would join two line endings into one
///  kNoMatch    the snippet is not there, or not wholly within the hinted lines; with candidates
///  kStaleFile  `file_hash` is not the file's, or `may_edit` refused
SpanEdit apply_snippet(const SnippetRequest& request, std::string_view bytes,
                       const LineCheck& may_edit);
/// A range covers its lines with their endings. Content that is not empty and lacks a last newline
/// gets one if the last replaced line had one. An empty file has the range 1 to 1.
SpanEdit apply_lines(const LineRequest& request, std::string_view bytes, const LineCheck& may_edit);

}  // namespace unwrite::edit
