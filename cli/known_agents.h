// Known agents: what each keeps in the home directory, which of it a run may change for good, and
// how it is started inside a sandbox. Patterns are relative to the place they stand in; one that
// matches a directory covers everything below it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace unwrite::cli {

/// A file of settings in which some keys are the agent's to change and others decide what runs
/// later. The last rule that matches a key decides.
struct KeyRule {
    std::string pattern;  ///< "projects/@here/**"; @here is the workspace
    bool is_free = false;
};
struct KeyedFile {
    std::string path;
    bool is_toml = false;
    std::vector<KeyRule> rules;
};

/// A place of an agent below the home directory. What no list names counts as guarded.
struct StatePlace {
    std::string variable{};  ///< names the place where it is set: "CODEX_HOME"
    std::string suffix{};    ///< what the agent adds to that
    std::string path{};      ///< below the home directory, where the variable is not set
    /// Directories that the run writes in directly; "" is the place itself.
    std::vector<std::string> live{};
    std::vector<std::string> read_only{};  ///< below a live directory: programs that run later
    std::vector<std::string> emptied{};    ///< below a live directory: private, and empty
    std::vector<std::string> kept{};       ///< patterns: taken over when the run has ended
    std::vector<std::string> passing{};    ///< patterns: of no use after the run
    std::vector<KeyedFile> keyed{};
};

struct KnownAgent {
    std::string name;
    std::vector<std::string> programs;    ///< names of its program
    std::vector<std::string> packages{};  ///< names in the npm registry
    std::vector<StatePlace> places{};
    /// Put before the agent's own arguments, inside a sandbox.
    std::vector<std::string> options{};
    /// Of the agent itself, each with a value: the sandbox that it would make, which cannot be made
    /// inside ours.
    std::vector<std::string> sandbox_options{};
    /// Variables that it gets where they are not set.
    std::vector<std::pair<std::string, std::string>> environment{};
    /// What it reaches with `--network model` ("host" or "host:port"): its model and its login, no
    /// telemetry, no updates.
    std::vector<std::string> endpoints{};
    std::vector<std::string> endpoint_variables{};  ///< each names another one, as a URL
    std::vector<std::string> own_endpoints{};       ///< those that the user has configured
};

/// Those that come with the program.
std::vector<KnownAgent> known_agents();

/// The pattern covers the path, or a directory above it.
bool covers(const std::string& pattern, const std::string& path);
bool any_covers(const std::vector<std::string>& patterns, const std::string& path);

/// Takes the agent's own sandbox out of its arguments, and puts its options in. Errors: kUsage
/// where a stricter sandbox was asked for than a run is.
Result<> adapt(const KnownAgent& agent, std::size_t arguments, std::vector<std::string>& command);

/// Which agent a command starts.
struct Recognised {
    const KnownAgent* agent = nullptr;  ///< null: none of them
    /// The word of the command at which its own arguments begin; 0: they are inside a word.
    std::size_t arguments = 0;
};
/// Looks through env, npx, node, shells, wrapper scripts and links. `path`: $PATH.
Recognised recognise(const std::vector<KnownAgent>& agents, const std::vector<std::string>& command,
                     std::string_view path);

}  // namespace unwrite::cli
