#include "cli/installing.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/digest.h"
#include "base/syscalls.h"
#include "cli/json_text.h"
#include "cli/state_directory.h"
#include "cli/text.h"
#include "cli/toml_text.h"
#include "control/protocol.h"

namespace unwrite::cli {

namespace {

namespace fs = std::filesystem;
using control::Json;

struct Remembered {
    std::string path{};
    std::optional<std::string> before{};
    Digest after{};
    std::vector<std::string> directories{};
};
using Memory = std::vector<Remembered>;

const Remembered* find(const Memory& memory, const std::string& path) {
    const auto found = std::find_if(memory.begin(), memory.end(),
                                    [&](const Remembered& one) { return one.path == path; });
    return found == memory.end() ? nullptr : &*found;
}

Result<std::string> memory_directory() {
    const std::string state = user_state_directory();
    if (!state.empty()) return state + "/integrations";
    return Error(ErrorKind::kUsage, ENOENT, "HOME is not set, so the settings cannot be found");
}

std::string memory_name(const Integration& integration) {
    return integration.agent + "-" + to_hex(digest_of(integration.place)).substr(0, 16) + ".json";
}

// It may hold what the client keeps secret, so it is for the user alone.
Result<UniqueFd> open_memory() {
    TRY_ASSIGN(const std::string directory, memory_directory());
    std::error_code failure;
    fs::create_directories(fs::path(directory).parent_path(), failure);
    if (const auto made = sys::make_directory(AT_FDCWD, directory, 0700);
        !made && made.error().number() != EEXIST)
        return made.error().with_context("cannot make " + quote_name(directory));
    auto fd = sys::open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
    if (!fd) return fd.error().with_context("cannot enter " + quote_name(directory));
    return fd;
}

Result<Remembered> decoded(const Json& row) {
    Remembered one;
    TRY_ASSIGN(one.path, control::decode_bytes(row.value("path", Json())));
    if (row.contains("before") && !row["before"].is_null()) {
        TRY_ASSIGN(one.before, control::decode_bytes(row["before"]));
    }
    const Json written = row.value("after", Json());
    const auto after = digest_from(written.is_string() ? written.get<std::string>() : "");
    if (!after) return Error(EINVAL);
    one.after = *after;
    for (const Json& directory : row.value("directories", Json::array())) {
        TRY_ASSIGN(std::string path, control::decode_bytes(directory));
        one.directories.push_back(std::move(path));
    }
    return one;
}

// What cannot be read is as good as forgotten: then the entries alone are taken out.
Memory remembered(const Integration& integration) {
    const auto directory = memory_directory();
    if (!directory) return {};
    const auto text = sys::read_file_at(AT_FDCWD, *directory + "/" + memory_name(integration));
    if (!text) return {};
    const Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || !json.contains("files") || !json["files"].is_array()) return {};
    Memory memory;
    for (const Json& row : json["files"]) {
        auto one = row.is_object() ? decoded(row) : Result<Remembered>(Error(EINVAL));
        if (one) memory.push_back(*std::move(one));
    }
    return memory;
}

Result<> remember(const Integration& integration, const Memory& memory) {
    TRY_ASSIGN(const UniqueFd directory, open_memory());
    Json rows = Json::array();
    for (const Remembered& one : memory) {
        Json directories = Json::array();
        for (const std::string& path : one.directories)
            directories.push_back(control::encode_bytes(path));
        rows.push_back({{"path", control::encode_bytes(one.path)},
                        {"before", one.before ? control::encode_bytes(*one.before) : Json()},
                        {"after", to_text(one.after)},
                        {"directories", std::move(directories)}});
    }
    const Json all{{"agent", integration.agent},
                   {"place", control::encode_bytes(integration.place)},
                   {"files", std::move(rows)}};
    const auto written = sys::replace_file_at(directory.get(), memory_name(integration),
                                              control::dump(all) + "\n", 0600, sys::Durable::kYes);
    return written ? written : written.error().with_context("cannot remember what was before");
}

Result<std::string> added(const Piece& piece, const std::optional<std::string>& now) {
    switch (piece.kind) {
        case PieceKind::kJson:
            return with_entries(now.value_or(""), OrderedJson::parse(piece.text, nullptr, false));
        case PieceKind::kToml:
            return with_table(now.value_or(""), piece.text);
        case PieceKind::kWhole:
            break;
    }
    if (now && *now != piece.text)
        return Error(ErrorKind::kConflict, EEXIST, "it has something else in it");
    return piece.text;
}

Result<std::string> taken_out(const Piece& piece, const std::string& now,
                              const std::string& before) {
    if (piece.kind == PieceKind::kToml) return without_table(now, piece.text);
    TRY_ASSIGN(const OrderedJson was, parse_commented(before));
    return without_entries(now, OrderedJson::parse(piece.text, nullptr, false), was);
}

// As plan_removal() for one file that is there.
Result<PlannedPiece> plan_one_removal(const Piece& piece, FileChange file,
                                      const Remembered* memory) {
    if (memory != nullptr && digest_of(*file.before) == memory->after) {
        file.after = memory->before;
        file.directories = memory->directories;
        return PlannedPiece{file.after ? PieceAction::kRestore : PieceAction::kRemove,
                            std::move(file)};
    }
    const bool ours_alone = memory == nullptr || !memory->before;
    file.after = file.before;
    if (piece.kind == PieceKind::kWhole) {
        if (ours_alone && *file.before == piece.text) {
            file.after.reset();
            return PlannedPiece{PieceAction::kRemove, std::move(file)};
        }
        return PlannedPiece{PieceAction::kLeave, std::move(file)};
    }
    const std::string before = memory != nullptr ? memory->before.value_or("") : "";
    auto rest = taken_out(piece, *file.before, before);
    if (!rest)
        return rest.error().with_context("cannot take the entry out of " + quote_name(file.path));
    const bool nothing_left = *rest == "{}" || *rest == "{}\n" || rest->empty();
    const bool changes = *rest != *file.before;
    if (memory != nullptr && !memory->before && nothing_left) {
        file.after.reset();
        return PlannedPiece{PieceAction::kRemove, std::move(file)};
    }
    file.after = *std::move(rest);
    return PlannedPiece{changes ? PieceAction::kTakeOut : PieceAction::kLeave, std::move(file)};
}

std::vector<FileChange> changes_of(const InstallPlan& plan) {
    std::vector<FileChange> changes;
    for (const PlannedPiece& piece : plan)
        changes.push_back(piece.file);
    return changes;
}

}  // namespace

Result<InstallPlan> plan_install(FileSet& files, const Integration& integration) {
    InstallPlan plan;
    for (const Piece& piece : integration.pieces) {
        TRY_ASSIGN(FileChange file, files.look(piece.file));
        auto text = added(piece, file.before);
        if (!text) {
            return Error(text.error().kind(), text.error().number(),
                         "change " + quote_name(file.path) + ": " + text.error().message(),
                         "nothing was changed. To do it by hand, let it have this:\n" + piece.text);
        }
        file.after = *std::move(text);
        const PieceAction action = !file.before                ? PieceAction::kCreate
                                   : file.before == file.after ? PieceAction::kSame
                                                               : PieceAction::kChange;
        // A new file is written as the sources have it.
        if (action == PieceAction::kCreate && piece.kind != PieceKind::kJson)
            file.after = piece.text;
        plan.push_back({action, std::move(file)});
    }
    return plan;
}

Result<InstallPlan> plan_removal(FileSet& files, const Integration& integration) {
    const Memory memory = remembered(integration);
    InstallPlan plan;
    for (const Piece& piece : integration.pieces) {
        TRY_ASSIGN(FileChange file, files.look(piece.file));
        if (!file.before) {
            plan.push_back({PieceAction::kSame, std::move(file)});
            continue;
        }
        const Remembered* known = find(memory, file.path);
        TRY_ASSIGN(PlannedPiece planned, plan_one_removal(piece, std::move(file), known));
        // Somebody's file that never had anything of ours.
        if (known == nullptr && planned.action == PieceAction::kLeave)
            planned.action = PieceAction::kSame;
        plan.push_back(std::move(planned));
    }
    return plan;
}

Result<> install(FileSet& files, const Integration& integration, const InstallPlan& plan) {
    const Memory old = remembered(integration);
    Memory memory;
    for (const PlannedPiece& piece : plan) {
        const FileChange& file = piece.file;
        const Remembered* known = find(old, file.path);
        const bool still_ours =
            known != nullptr && file.before && digest_of(*file.before) == known->after;
        if (piece.action == PieceAction::kSame) {
            if (known != nullptr) memory.push_back(*known);
            continue;
        }
        memory.push_back({file.path, still_ours ? known->before : file.before,
                          digest_of(*file.after),
                          still_ours ? known->directories : file.directories});
    }
    TRY(remember(integration, memory));
    auto done = files.carry_out(changes_of(plan));
    if (!done) ignore(remember(integration, old), "what it names is not there, and is passed over");
    return done;
}

Result<> remove_install(FileSet& files, const Integration& integration, const InstallPlan& plan) {
    TRY(files.carry_out(changes_of(plan)));
    for (const PlannedPiece& piece : plan) {
        if (piece.action == PieceAction::kRemove) files.remove_directories(piece.file.directories);
    }
    TRY_ASSIGN(const UniqueFd directory, open_memory());
    const auto forgotten = sys::unlink(directory.get(), memory_name(integration));
    if (!forgotten && forgotten.error().number() != ENOENT)
        return forgotten.error().with_context("cannot forget what was before");
    return {};
}

}  // namespace unwrite::cli
