// What an agent's client has to be told so that it finds unwrite: which of its files get what. The
// texts are those of integrations/. Pure but for the look at which of two names a file has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace unwrite::cli {

enum class PieceKind {
    kJson,   ///< members of a JSON file
    kToml,   ///< a table of a TOML file
    kWhole,  ///< a file of its own
};

struct Piece {
    PieceKind kind = PieceKind::kWhole;
    std::string file{};  ///< absolute
    std::string text{};  ///< of the file or table, or of an object with the members
};

struct Integration {
    std::string agent{};
    std::string place{};  ///< the project, or the directory of the user's configuration
    std::vector<Piece> pieces{};
    /// What the user has yet to do in the client; empty: nothing.
    std::string next_step{};
};

/// Words for people: "claude-code, codex, gemini-cli, opencode".
std::string integrated_agents();

/// For which of the user's sessions it is.
enum class Scope { kProject, kUser };

/// `project`: the directory that the client is started in. Errors: kUsage for an agent that is not
/// known, and when there is no home directory.
Result<Integration> integration_of(const std::string& agent, const std::string& project,
                                   Scope scope = Scope::kProject);

/// The text of a file in integrations/; empty for one that is not built in.
std::string_view integration_text(std::string_view name);

}  // namespace unwrite::cli
