// From a request to a plan: what every file of it shall hold, all worked out before anything is
// written, so that the caller can carry out all of it or nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "edit/request.h"
#include "edit/response.h"
#include "edit/settings.h"

namespace unwrite::edit {

enum class FileKind { kAbsent, kFile, kDirectory, kOther };

/// What stands at a path now. A symbolic link at the end of the path is kOther.
struct FileState {
    std::string path{};  ///< where it leads: one file has one such path, relative to the root
    FileKind kind = FileKind::kAbsent;
    std::uint64_t size = 0;
    std::string bytes{};     ///< kFile that is no larger than asked for; else empty
    std::uint32_t mode = 0;  ///< permission bits of st_mode; 0 when absent
    std::string link{};      ///< of a symbolic link: what is written in it
    std::string leads_to{};  ///< and where that is; empty: not below the root
    std::string object{};    ///< of a file with several names: the same for each; else empty
};

/// Why what stands there cannot be edited or read; nothing when it is a file, or absent. The text
/// is the reason alone.
std::optional<Error> not_a_file(const FileState& file);

/// Where requests find files. Implemented by those who may read; a name may be asked for more than
/// once, and must lead to the same file then.
class Files {
 public:
    virtual ~Files() = default;
    /// `path` as the asker wrote it. An error refuses the whole request, with its message as it is
    /// ("Path outside sandbox (...)"). A path that does not exist is kAbsent, not an error.
    virtual Result<FileState> look(const std::string& path, std::uint64_t max_bytes) = 0;
};

/// Whether the asker may edit what it has seen of an existing file: first called without lines
/// (has it been read, is it unchanged?), then with the lines that are touched. An error's message
/// is the reason. May be empty: then everything may be edited.
using SeenCheck =
    std::function<Result<>(const FileState& file, const std::vector<std::uint64_t>& lines)>;

struct PlannedFile {
    std::string path{};    ///< FileState::path
    bool existed = false;  ///< false: it is created
    bool remains = true;   ///< false: it is removed
    std::string before{};
    std::string after{};
    std::uint32_t mode_before = 0;  ///< permission bits, when it existed
    Digest hash_before{};           ///< what must still be there when the plan is carried out
    Digest hash_after{};
    std::string object{};              ///< FileState::object
    std::optional<bool> executable{};  ///< set the mode's x bits so; nothing: leave them
};

/// Each path once; only files that change. Empty: "No changes applied.".
struct EditPlan {
    std::vector<PlannedFile> files{};
};

/// LP1. Sections of the same file build on each other. A missing file is created by a section that
/// only has T, B and N and leaves something in it. Errors name the file as the asker is told:
///  kUsage     "Patch failed for <path>: <reason>"; the path is "<patch>" for what cannot be
///             parsed; "Patch exceeds max_patch_bytes"; "Bad args: path contains invalid control
///             characters"
///  kNotFound  "Patch failed for <path>: Match not found"
///  kConflict  "<path>: <reason>" when `seen` refuses
///  any other  as Files::look() gave it
/// After an error `told`, unless null, says which file it is about and what that holds, the place
/// in the patch, and the lines of the file that may have been meant.
Result<EditPlan> plan_lp1(std::string_view patch, const Settings& settings, Files& files,
                          const SeenCheck& seen, EditResponse* told = nullptr);

/// A unified diff, with the same errors. Files may be created, deleted, renamed and copied.
Result<EditPlan> plan_unified(std::string_view patch, unsigned strip, const Settings& settings,
                              Files& files, const SeenCheck& seen, EditResponse* told = nullptr);

/// A request as a plan; never an error, the response says what went wrong.
struct AnsweredPlan {
    EditResponse response{};  ///< to be given when the plan has been carried out
    EditPlan plan{};          ///< empty unless the status is kOk
};

/// plan_lp1() and plan_unified() so.
AnsweredPlan plan_patch(const PatchRequest& request, const Settings& settings, Files& files,
                        const SeenCheck& seen);
AnsweredPlan plan_diff(std::string_view patch, unsigned strip, const Settings& settings,
                       Files& files, const SeenCheck& seen);

/// A snippet or line-range edit. The file must exist. The request must have passed
/// check_request().
AnsweredPlan plan_snippet(const SnippetRequest& request, const Settings& settings, Files& files,
                          const SeenCheck& seen);
AnsweredPlan plan_lines(const LineRequest& request, const Settings& settings, Files& files,
                        const SeenCheck& seen);

}  // namespace unwrite::edit
