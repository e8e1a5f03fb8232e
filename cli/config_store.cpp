#include "cli/config_store.h"

#include <fcntl.h>

#include <cerrno>

#include "base/syscalls.h"
#include "cli/agreement.h"

namespace unwrite::cli {

namespace {

Result<UniqueFd> state_directory(int workspace) {
    Result<UniqueFd> state = sys::open_at(workspace, ".unwrite", O_RDONLY | O_DIRECTORY);
    if (state || state.error().number() != ENOENT) return state;
    return Error(ErrorKind::kNoWorkspace, ENOENT, "there is no workspace here",
                 "`unwrite mount DIR` makes DIR a workspace");
}

}  // namespace

Result<std::string> read_workspace_config(int workspace) {
    const Result<UniqueFd> state = sys::open_at(workspace, ".unwrite", O_RDONLY | O_DIRECTORY);
    if (!state) return std::string();  // the session says what is wrong with it
    Result<std::string> text = sys::read_file_at(state->get(), "config.toml");
    if (!text && text.error().number() == ENOENT) return std::string();
    if (!text) return text.error().with_context(std::string("cannot read ") + kWorkspaceConfig);
    return text;
}

Result<Config> check_workspace_config(const std::string& text) {
    TRY_ASSIGN(Config config, load_user_config());
    TRY(read_config(text, kWorkspaceConfig, config));
    TRY(config.policy());
    return config;
}

Result<> replace_workspace_config(int workspace, const std::string& before, const std::string& text,
                                  const std::function<Result<>(const Config&)>& accepted) {
    TRY_ASSIGN(const UniqueFd state, state_directory(workspace));
    TRY_ASSIGN(const std::string now, read_workspace_config(workspace));
    if (now != before) {
        return Error(ErrorKind::kConflict, EBUSY,
                     std::string("config: ") + kWorkspaceConfig + " was changed meanwhile",
                     "`unwrite config` shows it as it is now");
    }
    TRY_ASSIGN(const Config config, check_workspace_config(text));
    const Result<> agreed = agree(text);
    if (!agreed) {
        TRY_ASSIGN(const Config without, load_config_with(text));
        if (!without.held_back.empty()) return agreed.error();
    }
    TRY(accepted(config));
    const Result<> written =
        sys::replace_file_at(state.get(), "config.toml", text, 0600, sys::Durable::kYes);
    if (!written)
        return written.error().with_context(std::string("cannot write ") + kWorkspaceConfig);
    return {};
}

}  // namespace unwrite::cli
