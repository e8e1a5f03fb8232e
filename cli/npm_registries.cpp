#include "cli/npm_registries.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>

#include "base/syscalls.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20U;

/// Without the quotes that a value may stand in.
std::string_view bare(std::string_view text) {
    text = trimmed(text);
    const bool quoted =
        text.size() > 1 && text.front() == text.back() && (text[0] == '"' || text[0] == '\'');
    return quoted ? text.substr(1, text.size() - 2) : text;
}

bool names_registry(std::string_view key) {
    return key == "registry" || (key.starts_with('@') && key.ends_with(":registry"));
}

std::string without_login(std::string_view url) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string_view::npos) return std::string(url);
    const std::size_t host = scheme + 3;
    const std::size_t end = std::min(url.find_first_of("/?#", host), url.size());
    const std::size_t at = url.substr(0, end).rfind('@');
    if (at == std::string_view::npos || at < host) return std::string(url);
    return std::string(url.substr(0, host)) + std::string(url.substr(at + 1));
}

std::string read_small(const std::string& path) {
    const Result<struct stat> st = sys::stat_at(AT_FDCWD, path);
    if (!st || !S_ISREG(st->st_mode) || st->st_size > static_cast<off_t>(kMostBytes)) return {};
    const Result<std::string> text = sys::read_file_at(AT_FDCWD, path);
    return text ? *text : std::string();
}

}  // namespace

NpmRegistries npm_registries_of(const std::string& text) {
    NpmRegistries found;
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = bare(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (line.starts_with('[')) break;  // npm's own keys come before any section
        const std::size_t equals = line.find('=');
        if (line.starts_with('#') || line.starts_with(';') || equals == std::string_view::npos)
            continue;
        const std::string_view key = bare(line.substr(0, equals));
        const std::string_view value = bare(line.substr(equals + 1));
        const bool odd = std::any_of(value.begin(), value.end(),
                                     [](char c) { return static_cast<unsigned char>(c) < ' '; });
        if (!names_registry(key) || value.empty() || odd) continue;
        std::string name(key);
        // Of the same key the last line counts.
        std::erase_if(found, [&](const auto& known) { return known.first == name; });
        found.emplace_back(std::move(name), without_login(value));
    }
    return found;
}

NpmRegistries npm_registries(std::string directory, const std::string& root) {
    NpmRegistries all;
    for (;;) {
        for (auto& one : npm_registries_of(read_small(directory + "/.npmrc"))) {
            const bool known = std::any_of(all.begin(), all.end(),
                                           [&](const auto& at) { return at.first == one.first; });
            if (!known) all.push_back(std::move(one));
        }
        if (directory.size() <= root.size()) return all;
        directory.resize(directory.rfind('/'));
    }
}

NpmrcOfRun::NpmrcOfRun(const NpmRegistries& registries) {
    if (registries.empty()) return;
    std::string text;
    for (const auto& [key, value] : registries) {
        text += fmt::format("{}={}\n", key, value);
        if (key == "registry") environment_.emplace_back("npm_config_registry", value);
    }
    file_.emplace("npmrc", text);
    if (!file_->path().empty()) environment_.emplace_back("npm_config_globalconfig", file_->path());
}

}  // namespace unwrite::cli
