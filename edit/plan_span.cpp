#include "edit/plan.h"
#include "edit/span_edit.h"
#include "edit/staging.h"

namespace unwrite::edit {

namespace {

template <class Request>
EditResponse refused(const Request& request, EditAction action, EditStatus status,
                     const Error& error) {
    EditResponse response;
    response.action = action;
    response.status = status;
    response.kind = error.kind();
    response.message = error.message();
    response.next = error.advice();
    response.path = request.path;
    response.region_id = request.region_id;
    return response;
}

template <class Request, class Apply>
AnsweredPlan plan_span(const Request& request, EditAction action, const Settings& settings,
                       Files& files, const SeenCheck& seen, Apply apply) {
    const auto fails = [&](EditStatus status, const Error& error) {
        return AnsweredPlan{refused(request, action, status, error), {}};
    };
    // The check of what was seen comes after the file is known, so that the answer can tell its
    // hash.
    const auto file = look_at(request.path, settings, files);
    if (!file) return fails(EditStatus::kError, file.error());
    if (file->kind == FileKind::kAbsent)
        return fails(EditStatus::kError, absent_file(request.path));
    if (seen) {
        if (auto fresh = seen(*file, {}); !fresh) {
            AnsweredPlan stale =
                fails(EditStatus::kStaleFile, stale_file(request.path, fresh.error()));
            describe(stale.response, *file);
            return stale;
        }
    }
    const LineCheck may_edit = [&](const std::vector<std::uint64_t>& lines) -> Result<> {
        if (!seen) return {};
        auto all = seen(*file, lines);
        return all ? Result<>{} : Result<>{stale_file(request.path, all.error())};
    };
    SpanEdit edit = apply(request, file->bytes, may_edit);
    AnsweredPlan made{std::move(edit.response), {}};
    made.response.path = file->path;
    if (made.response.status != EditStatus::kOk) return made;
    PlannedFile plan = planned(*file, std::move(edit.bytes), made.response);
    if (changes(*file, plan)) made.plan.files.push_back(std::move(plan));
    return made;
}

}  // namespace

AnsweredPlan plan_snippet(const SnippetRequest& request, const Settings& settings, Files& files,
                          const SeenCheck& seen) {
    return plan_span(request, EditAction::kSnippet, settings, files, seen, apply_snippet);
}

AnsweredPlan plan_lines(const LineRequest& request, const Settings& settings, Files& files,
                        const SeenCheck& seen) {
    return plan_span(request, EditAction::kLines, settings, files, seen, apply_lines);
}

}  // namespace unwrite::edit
