#include "cli/editing_room.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/syscalls.h"
#include "cli/processes.h"
#include "cli/text.h"
#include "control/remote_reverts.h"
#include "overlay/editing_record.h"

namespace unwrite::cli {

namespace {

class DaemonJudge final : public overlay::EditJudge {
 public:
    /// `session`: as overlay::EditAttempt.
    DaemonJudge(control::Remote& remote, std::string session)
        : remote_(remote), session_(std::move(session)) {}
    Result<overlay::MayEdit> may_edit(const overlay::EditAttempt& attempt) override {
        overlay::EditAttempt own = attempt;
        own.session = session_;
        return remote_.may_edit(cli::asker(), own);
    }
    bool is_wanted() override { return !is_wanted_ || is_wanted_(); }
    void while_waiting(std::function<bool()> is_wanted) { is_wanted_ = std::move(is_wanted); }

 private:
    control::Remote& remote_;
    const std::string session_;
    std::function<bool()> is_wanted_;
};

class EditingRoom final : public mcp::Room {
 public:
    EditingRoom(Workspace workspace, std::unique_ptr<DaemonJudge> judge,
                std::unique_ptr<overlay::EditFiles> files)
        : workspace_(std::move(workspace)),
          reverts_(workspace_.mount().value_or(control::MountPoint())),
          judge_(std::move(judge)),
          files_(std::move(files)) {}

    overlay::Operations& operations() override { return workspace_.operations(); }
    overlay::Reverts& reverts() override { return reverts_; }
    overlay::EditFiles& files() override { return *files_; }
    overlay::Asker asker() const override { return cli::asker(); }
    std::string writers() const override { return writers_of(workspace_); }
    void while_waiting(std::function<bool()> is_wanted) override {
        judge_->while_waiting(std::move(is_wanted));
    }

 private:
    Workspace workspace_;
    control::RemoteReverts reverts_;
    std::unique_ptr<DaemonJudge> judge_;  // of the files
    std::unique_ptr<overlay::EditFiles> files_;
};

}  // namespace

Result<std::unique_ptr<mcp::Room>> enter_mounted(const std::string& directory, bool agent) {
    TRY_ASSIGN(Workspace workspace, Workspace::open_mounted(directory));
    auto root = sys::open_at(AT_FDCWD, workspace.root(), O_RDONLY | O_DIRECTORY);
    if (!root) return root.error().with_context("cannot enter " + quote_name(workspace.root()));
    const std::string session = agent ? "mcp-" + std::to_string(::getpid()) : "";
    auto judge = std::make_unique<DaemonJudge>(*workspace.remote(), session);
    TRY_ASSIGN(auto files,
               overlay::EditFiles::open(*std::move(root), {workspace.root(), judge.get()}));
    workspace.remote()->keep_connection();
    return std::unique_ptr<mcp::Room>(
        std::make_unique<EditingRoom>(std::move(workspace), std::move(judge), std::move(files)));
}

std::string writers_of(const Workspace& workspace) {
    if (!workspace.mount()) return "";
    std::vector<User> users = users_below(workspace.root(), View::kMount, workspace.mount()->mount);
    std::erase_if(users, [](const User& user) { return !user.writes; });
    return users.empty() ? "" : user_words(users);
}

Result<std::vector<std::string>> finish_edits(overlay::Operations& operations, UniqueFd root) {
    TRY_ASSIGN(const auto files, overlay::EditFiles::open(std::move(root), {}));
    TRY(files->lock());
    return overlay::finish_killed_edits(operations, asker(), *files);
}

namespace {

void tell(Context& context, const std::string& what, const std::vector<std::string>& paths) {
    if (paths.empty()) return;
    std::string names;
    for (const std::string& path : paths)
        names += (names.empty() ? "" : ", ") + quote_name(path);
    context.notes.line("unwrite: " + what + ": " + names);
}

}  // namespace

void tell_taken_back(Context& context, const std::vector<std::string>& paths) {
    tell(context, "took back an edit that was killed half-way", paths);
}

Result<> finish_edits(Context& context, Workspace& workspace, Before what) {
    TRY_ASSIGN(UniqueFd root, sys::open_at(AT_FDCWD, workspace.root(), O_RDONLY | O_DIRECTORY));
    TRY_ASSIGN(const auto files, overlay::EditFiles::open(std::move(root), {}));
    if (what == Before::kAccept) {
        TRY(files->lock());
    } else {
        TRY_ASSIGN(const bool held, files->try_lock());
        if (!held) return {};
    }
    TRY_ASSIGN(const auto paths,
               overlay::finish_killed_edits(workspace.operations(), asker(), *files));
    tell_taken_back(context, paths);
    return {};
}

void tell_set_aside(Context& context, const std::vector<std::string>& paths) {
    tell(context, "kept what was changed after a restore was interrupted, as", paths);
}

void tell_in_use(Context& context, const std::vector<std::string>& paths) {
    tell(context,
         "open for writing since an earlier mount (kept like any change, but no rule holds)",
         paths);
}

Result<std::string> path_in_mount(const Context& context, const std::string& path) {
    TRY_ASSIGN(const Workspace workspace, Workspace::open_mounted(context.base));
    const std::string plain = absolute_path(context.base, path);
    if (!control::is_within(plain, workspace.root())) {
        return Error(ErrorKind::kUsage, EINVAL,
                     quote_name(path) + " is not in the workspace " + quote_name(workspace.root()));
    }
    // As it is called there: answers name it so, and what does not exist cannot be looked up.
    return plain.size() > workspace.root().size() ? plain.substr(workspace.root().size() + 1)
                                                  : plain;
}

int exit_code(const overlay::EditAnswer& answer) {
    const edit::EditResponse& response = answer.response;
    if (!answer.failed) return response.files.empty() ? kNothingToDo : kDone;
    if (response.status == edit::EditStatus::kStaleFile) return kConflict;
    switch (response.kind) {
        case ErrorKind::kRefused:
        case ErrorKind::kNoWorkspace:
        case ErrorKind::kRecovery:
            return cli::exit_code(Error(response.kind, 0, ""));
        default:
            return kFailed;
    }
}

Error failure_of(const overlay::EditAnswer& answer) {
    const edit::EditResponse& response = answer.response;
    std::string text = answer.text;
    const bool is_said = text.find(" of the patch)") != std::string::npos;
    if (response.patch_line && !is_said)
        text += " (line " + std::to_string(*response.patch_line) + " of the patch)";
    if (!response.candidates.empty()) text += "\nSimilar lines of the file:";
    for (const edit::Candidate& candidate : response.candidates)
        text += "\n  " + std::to_string(candidate.line) + ": " + candidate.preview;
    return {response.kind, 0, text};
}

Result<std::string> read_input(const std::string& file, std::size_t most) {
    UniqueFd opened;
    if (file != "-") {
        auto fd = sys::open_at(AT_FDCWD, file, O_RDONLY);
        if (!fd) return fd.error().with_context("cannot read " + quote_name(file));
        opened = *std::move(fd);
    }
    const int fd = opened ? opened.get() : STDIN_FILENO;
    std::string text;
    for (char bytes[65536];;) {
        const ssize_t got = ::read(fd, bytes, sizeof bytes);
        if (got < 0) {
            const Error error = sys::last_error();
            if (error.number() == EINTR) continue;
            return error.with_context("cannot read " + quote_name(file));
        }
        if (got == 0) return text;
        text.append(bytes, static_cast<std::size_t>(got));
        if (text.size() > most)
            return Error(
                ErrorKind::kUsage, E2BIG,
                "read " + quote_name(file) + ": more than " + std::to_string(most) + " bytes");
    }
}

}  // namespace unwrite::cli
