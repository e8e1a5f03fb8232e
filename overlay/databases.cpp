#include "overlay/databases.h"

#include <algorithm>
#include <string_view>

namespace unwrite::overlay {

namespace {

bool ends_in_either_case(std::string_view path, std::string_view ending) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; };
    return path.size() > ending.size() &&
           std::equal(ending.rbegin(), ending.rend(), path.rbegin(),
                      [&](char wanted, char c) { return wanted == lower(c); });
}

}  // namespace

std::optional<std::string> database_of(const std::string& path) {
    for (const std::string_view part : kDatabaseParts) {
        if (!path.ends_with(part)) continue;
        const std::string_view whole = std::string_view(path).substr(0, path.size() - part.size());
        for (const char* ending : kDatabaseEndings)
            if (ends_in_either_case(whole, ending)) return std::string(whole);
    }
    return std::nullopt;
}

std::vector<std::string> with_whole_databases(const std::vector<std::string>& paths) {
    std::vector<std::string> whole = paths;
    for (const std::string& path : paths) {
        const auto database = database_of(path);
        if (!database) continue;
        for (const char* part : kDatabaseParts) {
            const std::string file = *database + part;
            if (std::find(whole.begin(), whole.end(), file) == whole.end()) whole.push_back(file);
        }
    }
    return whole;
}

}  // namespace unwrite::overlay
