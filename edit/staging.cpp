#include "edit/staging.h"

#include <cerrno>
#include <map>

#include "edit/text_safety.h"

namespace unwrite::edit {

Error patch_failed(std::string_view path, const std::string& reason, const std::string& advice) {
    return {ErrorKind::kUsage, EINVAL, "Patch failed for " + displayed(path) + ": " + reason,
            advice};
}

Error absent_file(std::string_view path) {
    return patch_failed(
        path, "File does not exist for match-based operation",
        "Check the path: it is relative to the top of the workspace. To create the file, call Edit "
        "with an LP1 patch that has only T for it.");
}

std::optional<Error> not_a_file(const FileState& file) {
    const auto reason = [](std::string text, std::string advice) {
        return Error(ErrorKind::kUsage, EINVAL, std::move(text), std::move(advice));
    };
    if (file.kind == FileKind::kDirectory)
        return reason("Path is a directory", "Name a file in it.");
    if (file.kind != FileKind::kOther) return std::nullopt;
    if (file.link.empty())
        return reason("Path is not a regular file", "Only regular files can be read and edited.");
    const std::string text = "Path is a symbolic link to '" + displayed(file.link) + "'";
    if (file.leads_to.empty())
        return reason(text, "It leads out of the workspace, so it cannot be read or edited here.");
    if (file.leads_to == file.path) return reason(text, "It leads to itself. Leave it alone.");
    return reason(text, "Call again with path \"" + displayed(file.leads_to) +
                            "\", which is what the link leads to.");
}

Error stale_file(std::string_view path, const Error& reason) {
    return {ErrorKind::kConflict, ESTALE, displayed(path) + ": " + reason.message(),
            reason.advice()};
}

Result<FileState> look_at(const std::string& path, const Settings& settings, Files& files) {
    TRY_ASSIGN(FileState file, files.look(path, settings.max_file));
    if (const auto wrong = not_a_file(file))
        return patch_failed(path, wrong->message(), wrong->advice());
    if (file.kind == FileKind::kFile && file.size > settings.max_file) {
        return patch_failed(path,
                            "File too large for Edit tool (" + std::to_string(file.size) +
                                " bytes > " + std::to_string(settings.max_file) +
                                " max_file_read_bytes)",
                            "Change it with another program. That can be taken back as well.");
    }
    return file;
}

Result<> check_seen(std::string_view path, const FileState& file, const SeenCheck& seen) {
    if (file.kind != FileKind::kFile || !seen) return {};
    auto fresh = seen(file, {});
    return fresh ? Result<>{} : Result<>{stale_file(path, fresh.error())};
}

void name_file(EditResponse& response, std::string path) {
    response.path = std::move(path);
    response.hash_before.reset();
    response.hash_after.reset();
    response.newline.reset();
}

void describe(EditResponse& response, const FileState& file) {
    name_file(response, file.path);
    if (file.kind != FileKind::kFile || file.bytes.size() != file.size) return;
    response.hash_before = digest_of(file.bytes);
    response.hash_after = response.hash_before;
    response.newline = dominant(count_newlines(file.bytes));
}

AnsweredPlan answered(Result<EditPlan> plan, EditResponse told) {
    told.action = EditAction::kPatch;
    if (!plan) {
        fail(told, plan.error());
        return {std::move(told), {}};
    }
    EditResponse response;
    response.action = EditAction::kPatch;
    response.status = EditStatus::kOk;
    return {std::move(response), *std::move(plan)};
}

Result<> check_names(const EditPlan& plan, EditResponse& told) {
    std::map<std::string_view, std::string_view> paths;
    for (const PlannedFile& file : plan.files) {
        const auto [first, is_new] = paths.emplace(file.object, file.path);
        if (file.object.empty() || is_new) continue;
        name_file(told, file.path);
        told.hash_before = told.hash_after = file.hash_before;
        told.newline = dominant(count_newlines(file.before));
        told.patch_line.reset();
        return patch_failed(
            file.path, "It is the same file as \"" + displayed(first->second) + "\" (hard link)",
            "Change it in one section, under one of its names: the other then has the same text.");
    }
    return {};
}

bool is_executable(const FileState& file) {
    return (file.mode & 0100U) != 0;
}

namespace {

PlannedFile without_hashes(const FileState& file, std::string after, bool remains) {
    PlannedFile plan;
    plan.path = file.path;
    plan.existed = file.kind == FileKind::kFile;
    plan.remains = remains;
    plan.before = file.bytes;
    plan.mode_before = file.mode;
    plan.object = file.object;
    plan.after = std::move(after);
    return plan;
}

}  // namespace

PlannedFile planned(const FileState& file, std::string after, bool remains) {
    PlannedFile plan = without_hashes(file, std::move(after), remains);
    plan.hash_before = digest_of(plan.before);
    plan.hash_after = digest_of(plan.after);
    return plan;
}

PlannedFile planned(const FileState& file, std::string after, const EditResponse& response) {
    PlannedFile plan = without_hashes(file, std::move(after), /*remains=*/true);
    plan.hash_before = *response.hash_before;
    plan.hash_after = *response.hash_after;
    return plan;
}

bool changes(const FileState& file, const PlannedFile& plan) {
    if (plan.existed != plan.remains) return true;
    if (!plan.existed) return false;
    return plan.before != plan.after ||
           (plan.executable && *plan.executable != is_executable(file));
}

}  // namespace unwrite::edit
