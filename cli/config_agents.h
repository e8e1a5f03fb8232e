// The [agents.NAME] tables of the user's configuration: agents that the table of known agents does
// not have, and what is added to those that it has.
//   [agents.aider]
//   programs = ["aider"]                 (names of its program; without it, NAME)
//   packages = ["@scope/aider"]          (names in the npm registry)
//   state = ["~/.aider"]                 (directories that a run writes in directly)
//   keep = ["~/.aider.conf.yml"]         (files that are taken over when the run has ended)
//   options = ["--no-check-update"]      (put before its own arguments)
//   environment = { AIDER_LIGHT = "1" }  (where the variable is not set)
//   endpoints = ["api.example.com"]      (what it reaches with --network model; host or host:port)
#pragma once

#include <toml++/toml.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/known_agents.h"

namespace unwrite::cli {

struct ConfiguredAgent {
    std::string name;
    std::string source;  ///< "file:line"
    std::vector<std::string> programs{};
    std::vector<std::string> packages{};
    std::vector<std::string> state{};  ///< below the home directory
    std::vector<std::string> keep{};   ///< patterns, likewise
    std::vector<std::string> options{};
    std::vector<std::pair<std::string, std::string>> environment{};
    std::vector<std::string> endpoints{};
};

/// Reads the table `agents`, behind what is there. kUsage naming file, line and key.
Result<> read_agents(const toml::table& table, const std::string& file,
                     std::vector<ConfiguredAgent>& agents);

/// `agents` with those added; one of the same name gets more.
std::vector<KnownAgent> with_configured(std::vector<KnownAgent> agents,
                                        const std::vector<ConfiguredAgent>& configured);

}  // namespace unwrite::cli
