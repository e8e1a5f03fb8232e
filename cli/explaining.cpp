#include "cli/explaining.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/syscalls.h"
#include "cli/text.h"

namespace unwrite::cli {

Result<UniqueFd> raw_root(const std::string& directory) {
    const std::string root = state_above(directory);
    return sys::open_at(AT_FDCWD, root.empty() ? directory : root, O_RDONLY | O_DIRECTORY);
}

Result<std::shared_ptr<const overlay::Policy>> configured_policy(const std::string& directory) {
    TRY_ASSIGN(const UniqueFd root, raw_root(directory));
    TRY_ASSIGN(const Config config, load_config(root.get()));
    return config.policy();
}

Result<std::optional<Workspace>> mounted_workspace(const Context& context) {
    Result<Workspace> workspace = Workspace::open_mounted(context.base);
    if (workspace) return std::optional<Workspace>(*std::move(workspace));
    const Error& error = workspace.error();
    const bool none = error.kind() == ErrorKind::kNoWorkspace &&
                      (error.number() == ENOENT || state_above(context.base) != "");
    if (none) return std::optional<Workspace>();
    return error;
}

Result<overlay::Explained> explain_path(const Context& context, const std::string& path) {
    TRY_ASSIGN(const std::optional<Workspace> workspace, mounted_workspace(context));
    if (workspace) {
        TRY_ASSIGN(const std::string inside, workspace->inside(context.base, path));
        return workspace->remote()->explain(inside);
    }
    const std::string above = state_above(context.base);
    const std::string root = above.empty() ? context.base : above;
    const std::string plain = absolute_path(context.base, path);
    if (!control::is_within(plain, root)) {
        return Error(ErrorKind::kUsage, EINVAL,
                     quote_name(path) + " is not in the workspace " + quote_name(root));
    }
    TRY_ASSIGN(const auto policy, configured_policy(context.base));
    const Result<struct stat> st = sys::stat_at(AT_FDCWD, plain);
    return overlay::explain(*policy, plain.substr(root == "/" ? 1 : root.size() + 1),
                            st ? st->st_mode & S_IFMT : S_IFREG);
}

}  // namespace unwrite::cli
