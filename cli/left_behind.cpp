#include "cli/left_behind.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>

#include "cli/text.h"
#include "overlay/walk.h"

namespace unwrite::cli {

namespace {

constexpr std::size_t kMostLooked = 10'000;
constexpr std::size_t kMostNamed = 3;

/// What lies deeper is more likely some program's own business.
bool comes_first(const std::string& one, const std::string& other) {
    const auto depth = std::ranges::count(one, '/');
    const auto other_depth = std::ranges::count(other, '/');
    return depth != other_depth ? depth < other_depth : one < other;
}

void gather(const std::string& directory, std::vector<std::string>& files) {
    auto top = sys::open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
    if (!top) return;
    ignore(overlay::walk_below(*std::move(top),
                               [&](const std::string& path, const sys::StatX& x) {
                                   if (S_ISREG(x.st.st_mode) && x.st.st_size > 0)
                                       files.push_back(directory + '/' + path);
                                   return files.size() < kMostLooked;
                               }),
           "what cannot be listed is not named");
}

}  // namespace

std::string left_behind_words(const std::vector<std::string>& directories) {
    std::vector<std::string> files;
    for (const std::string& directory : directories)
        gather(directory, files);
    if (files.empty()) return {};
    std::ranges::sort(files, comes_first);
    std::string names;
    for (std::size_t i = 0; i < std::min(kMostNamed, files.size()); ++i)
        names += (i == 0 ? "" : ", ") + quote_name(files[i]);
    const std::size_t more = files.size() - std::min(kMostNamed, files.size());
    return fmt::format(
        "{}{} went with the run's own temporary directories. What is to stay belongs in the "
        "workspace or in a --write DIR.",
        names, more == 0 ? "" : fmt::format(" and {} more", grouped(more)));
}

}  // namespace unwrite::cli
