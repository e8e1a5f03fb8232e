#include "cli/lost.h"

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

}  // namespace unwrite::cli
