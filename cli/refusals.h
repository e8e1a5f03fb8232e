// What was refused, in words: at the end of a run, in `status`, for `why`.
#pragma once

#include "cli/workspace.h"
#include "control/refusals.h"

namespace unwrite::cli {

/// "3 writes and 1 read by run-5, 1 write by you".
std::string refused_words(const overlay::Refused& refused);

struct RefusedLines {
    std::string text;
    std::uint64_t refusals = 0;  ///< that the text tells
};
/// "  .env  (cat, create by sh; 3 times): *.env (profile default): it may hold a secret", a line
/// for each path, at most `most`.
RefusedLines refused_lines(const std::vector<overlay::AuditEntry>& entries, std::size_t most);

/// "3 writes by run-5 (cp), 2026-11-25 00:45:51: *.env (profile default): it may hold a secret".
std::string refusal_words(const overlay::AuditEntry& entry);

/// Two lines for `status`: how many, the newest, and where to read more. Nothing where nothing was.
std::string refused_status(const overlay::Refused& refused);

/// Counts and the newest.
control::Json encode_refused(const overlay::Refused& refused);

/// What was refused to `session` (empty: to anybody) since then (0: since the task began).
Result<overlay::RefusedTo> refused_of(Workspace& workspace, const std::string& session,
                                      std::int64_t since_ns);
/// On notes. Nothing where nothing was refused.
void tell_refused(Context& context, const overlay::Refused& refused);

}  // namespace unwrite::cli
