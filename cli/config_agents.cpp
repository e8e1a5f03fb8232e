#include "cli/config_agents.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "cli/config_policy.h"
#include "cli/network/endpoint.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

bool is_name(std::string_view name) {
    const auto is_good = [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
    };
    return !name.empty() && std::all_of(name.begin(), name.end(), is_good);
}

bool is_variable(std::string_view name) {
    const auto is_good = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
           std::all_of(name.begin(), name.end(), is_good) && !name.starts_with("UNWRITE_");
}

/// A place below the home directory without its "~/"; "" where it is none.
std::string below_home(const std::string& place) {
    if (!place.starts_with("~/")) return {};
    std::string path = place.substr(2);
    while (path.ends_with('/'))
        path.pop_back();
    for (std::size_t at = 0; at <= path.size();) {
        const std::size_t end = std::min(path.find('/', at), path.size());
        const std::string part = path.substr(at, end - at);
        if (part.empty() || part == "." || part == "..") return {};
        at = end + 1;
    }
    return path;
}

/// Reads what stands in one table.
class Reader {
 public:
    Reader(std::string file, ConfiguredAgent& agent)
        : file_(std::move(file)), key_("agents." + agent.name + "."), agent_(agent) {}

    Result<> member(const std::string& name, const toml::node& node) {
        if (name == "programs") return texts(name, node, agent_.programs);
        if (name == "packages") return texts(name, node, agent_.packages);
        if (name == "options") return texts(name, node, agent_.options);
        if (name == "state") return places(name, node, agent_.state);
        if (name == "keep") return places(name, node, agent_.keep);
        if (name == "environment") return environment(name, node);
        if (name == "endpoints") return endpoints(name, node);
        return wrong_value(file_, node.source(), "unknown key " + quote_name(key_ + name));
    }

 private:
    Error bad(const std::string& name, const toml::node& node, const std::string& takes) const {
        return wrong_value(file_, node.source(),
                           "bad value for `" + key_ + name + "`: it takes " + takes);
    }

    Result<> texts(const std::string& name, const toml::node& node,
                   std::vector<std::string>& into) const {
        const toml::array* array = node.as_array();
        if (array == nullptr) return bad(name, node, "a list of texts: [\"...\"]");
        for (const toml::node& one : *array) {
            std::string text = one.value_or(std::string());
            if (!one.is_string() || text.empty() || text.find('\0') != std::string::npos)
                return bad(name, one, "a list of texts: [\"...\"]");
            into.push_back(std::move(text));
        }
        return {};
    }

    Result<> places(const std::string& name, const toml::node& node,
                    std::vector<std::string>& into) const {
        std::vector<std::string> words;
        TRY(texts(name, node, words));
        for (const std::string& word : words) {
            const std::string path = below_home(word);
            if (path.empty()) {
                return bad(name, node,
                           "places below your home directory, such as \"~/.aider\"; "
                           "`run --write` names others");
            }
            // These hold more than one program's state, and what runs later.
            static constexpr std::array<std::string_view, 9> kShared = {
                ".config", ".local", ".local/share", ".local/state", ".local/bin",
                ".cache",  ".ssh",   ".gnupg",       "bin"};
            const bool is_own = path == ".config/unwrite" || path.starts_with(".config/unwrite/") ||
                                path.starts_with(".local/state/unwrite");
            const bool is_shared = std::find(kShared.begin(), kShared.end(), path) != kShared.end();
            if (is_own || is_shared) {
                return wrong_value(file_, node.source(),
                                   "`" + key_ + name + "` cannot be " + quote_name(word) +
                                       ": other programs rely on what is there");
            }
            into.push_back(path);
        }
        return {};
    }

    Result<> endpoints(const std::string& name, const toml::node& node) {
        TRY(texts(name, node, agent_.endpoints));
        for (const std::string& text : agent_.endpoints) {
            if (!parse_endpoint(text, kHttps)) {
                return wrong_value(file_, node.source(),
                                   "`" + key_ + name + "` cannot be " + quote_name(text) +
                                       ": an endpoint is \"host\" or \"host:port\"");
            }
        }
        return {};
    }

    Result<> environment(const std::string& name, const toml::node& node) {
        const std::string takes = "a table of texts: { NAME = \"value\" }";
        const toml::table* table = node.as_table();
        if (table == nullptr) return bad(name, node, takes);
        for (const auto& [variable, value] : *table) {
            if (!value.is_string()) return bad(name, value, takes);
            if (!is_variable(variable.str())) {
                return wrong_value(
                    file_, variable.source(),
                    "`" + key_ + name + "` cannot set " + quote_name(std::string(variable.str())));
            }
            agent_.environment.emplace_back(variable.str(), value.value_or(std::string()));
        }
        return {};
    }

    const std::string file_;
    const std::string key_;
    ConfiguredAgent& agent_;
};

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Result<> read_agents(const toml::table& table, const std::string& file,
                     std::vector<ConfiguredAgent>& agents) {
    for (const auto& [key, node] : table) {
        ConfiguredAgent agent{std::string(key.str()), {}};
        const toml::table* members = node.as_table();
        if (!is_name(agent.name) || members == nullptr) {
            return wrong_value(file, key.source(),
                               "bad value for `agents`: it takes tables such as [agents.aider]");
        }
        agent.source = fmt::format("{}:{}", file, key.source().begin.line);
        Reader reader(file, agent);
        for (const auto& [name, member] : *members)
            TRY(reader.member(std::string(name.str()), member));
        agents.push_back(std::move(agent));
    }
    return {};
}

std::vector<KnownAgent> with_configured(std::vector<KnownAgent> agents,
                                        const std::vector<ConfiguredAgent>& configured) {
    for (const ConfiguredAgent& more : configured) {
        auto agent = std::find_if(agents.begin(), agents.end(),
                                  [&](const KnownAgent& one) { return one.name == more.name; });
        if (agent == agents.end()) {
            agents.push_back({more.name, {}});
            agent = agents.end() - 1;
            if (more.programs.empty()) agent->programs.push_back(more.name);
        }
        append(agent->programs, more.programs);
        append(agent->packages, more.packages);
        append(agent->options, more.options);
        append(agent->own_endpoints, more.endpoints);
        agent->environment.insert(agent->environment.end(), more.environment.begin(),
                                  more.environment.end());
        for (const std::string& path : more.state) {
            StatePlace place;
            place.path = path;
            place.live = {""};
            agent->places.push_back(std::move(place));
        }
        if (more.keep.empty()) continue;
        StatePlace home;
        home.kept = more.keep;
        agent->places.push_back(std::move(home));
    }
    return agents;
}

}  // namespace unwrite::cli
