#include <cerrno>
#include <map>

#include "edit/lp1.h"
#include "edit/patch_advice.h"
#include "edit/plan.h"
#include "edit/staging.h"
#include "edit/text_safety.h"

namespace unwrite::edit {

namespace {

// A file between two sections of the patch.
struct Staged {
    FileState file{};
    TextFile text{};
};

class Lp1Planner {
 public:
    Lp1Planner(const Settings& settings, Files& files, const SeenCheck& seen, EditResponse& told)
        : settings_(settings), files_(files), seen_(seen), told_(told) {}

    Result<> add(const Lp1Section& section);
    EditPlan finish() &&;

 private:
    Result<Staged*> staged(const Lp1Section& section);

    const Settings& settings_;
    Files& files_;
    const SeenCheck& seen_;
    EditResponse& told_;
    std::map<std::string, std::size_t> by_path_;  // FileState::path -> index
    std::vector<Staged> staged_;                  // in the order of the patch
};

Result<Staged*> Lp1Planner::staged(const Lp1Section& section) {
    TRY(check_path(section.path));
    TRY_ASSIGN(FileState file, look_at(section.path, settings_, files_));
    describe(told_, file);
    TRY(check_seen(section.path, file, seen_));
    const auto known = by_path_.find(file.path);
    if (known != by_path_.end()) return &staged_[known->second];
    if (file.kind == FileKind::kAbsent && needs_file(section)) return absent_file(section.path);
    auto text = read_text(file.bytes, settings_.lp1_eol);
    if (!text) return patch_failed(section.path, text.error().message());
    by_path_.emplace(file.path, staged_.size());
    staged_.push_back({std::move(file), *std::move(text)});
    return &staged_.back();
}

Result<> Lp1Planner::add(const Lp1Section& section) {
    name_file(told_, section.path);
    told_.patch_line = section.patch_line;
    TRY_ASSIGN(Staged* const staged_file, staged(section));
    Lp1Trouble trouble;
    const auto lines = apply_lp1(section, staged_file->text, &trouble);
    if (!lines) {
        const Lp1Operation& operation = section.operations[trouble.operation];
        const char command = static_cast<char>(operation.command);
        told_.operation = trouble.operation + 1;
        told_.patch_line = operation.patch_line;
        told_.candidates = std::move(trouble.candidates);
        return Error(lines.error().kind(), EINVAL,
                     patch_failed(section.path, lines.error().message()).message(),
                     advice_on_operation(section.path, command, lines.error()));
    }
    if (seen_ && !lines->empty()) {
        if (auto all = seen_(staged_file->file, *lines); !all)
            return stale_file(section.path, all.error());
    }
    return {};
}

EditPlan Lp1Planner::finish() && {
    EditPlan plan;
    for (const Staged& one : staged_) {
        std::string after = written(one.text);
        const bool remains = one.file.kind == FileKind::kFile || !after.empty();
        PlannedFile file = planned(one.file, std::move(after), remains);
        if (changes(one.file, file)) plan.files.push_back(std::move(file));
    }
    return plan;
}

}  // namespace

Result<EditPlan> plan_lp1(std::string_view patch, const Settings& settings, Files& files,
                          const SeenCheck& seen, EditResponse* told) {
    EditResponse unheard;
    EditResponse& response = told != nullptr ? *told : unheard;
    if (patch.size() > settings.max_patch)
        return Error(ErrorKind::kUsage, EINVAL, "Patch exceeds max_patch_bytes");
    std::uint64_t line = 0;
    const auto sections = parse_lp1(patch, &line);
    if (!sections) {
        PatchAdvice advice = advice_on(patch, line, sections.error().text());
        if (line > 0) response.patch_line = line;
        response.path = std::move(advice.path);
        return patch_failed("<patch>", sections.error().message(), advice.next);
    }
    Lp1Planner planner(settings, files, seen, response);
    for (const Lp1Section& section : *sections)
        TRY(planner.add(section));
    EditPlan plan = std::move(planner).finish();
    TRY(check_names(plan, response));
    return plan;
}

AnsweredPlan plan_patch(const PatchRequest& request, const Settings& settings, Files& files,
                        const SeenCheck& seen) {
    EditResponse told;
    auto plan = plan_lp1(request.patch, settings, files, seen, &told);
    return answered(std::move(plan), std::move(told));
}

}  // namespace unwrite::edit
