#include "cli/lost.h"

#include <algorithm>

#include "cli/text.h"

namespace unwrite::cli {

std::vector<std::string> lost_lines(const journal::Lost& lost) {
    if (lost.objects == 0 && lost.deltas == 0) return {};
    std::string what;
    if (lost.objects != 0) what = counted(lost.objects, "deleted file", "deleted files");
    if (lost.deltas != 0) {
        what += (what.empty() ? "" : " and ") +
                counted(lost.deltas, "part of the history", "parts of the history");
    }
    const bool one = lost.objects + lost.deltas == 1;
    return {"After a power cut, " + what + " did not fit any recorded state. " +
                (one ? "It is" : "They are") + " kept in .unwrite/lost+found, with a listing.",
            std::string("To look at ") + (one ? "it" : "them") +
                ", unmount first. \"unwrite gc --lost-found\" removes " + (one ? "it." : "them.")};
}

std::vector<std::string> unproved_lines(const std::vector<std::string>& paths) {
    if (paths.empty()) return {};
    constexpr std::size_t kMostShown = 5;
    std::vector<std::string> lines{
        "The power went while " + counted(paths.size(), "file was", "files were") +
        " being changed. What " + (paths.size() == 1 ? "it was" : "they were") +
        " before is not known for certain, so unwrite does not go back past that:"};
    for (std::size_t i = 0; i < std::min(kMostShown, paths.size()); ++i)
        lines.push_back("  " + harmless(paths[i]));
    if (paths.size() > kMostShown)
        lines.push_back("  and " + std::to_string(paths.size() - kMostShown) + " more");
    lines.emplace_back(
        "\"unwrite restore PATH --from NODE\" takes back other files, \"unwrite commit\" accepts "
        "all as they are.");
    return lines;
}

}  // namespace unwrite::cli
