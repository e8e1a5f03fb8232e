#include "cli/screen/words.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/text.h"

namespace unwrite::cli::screen {

std::string help_text() {
    return "Keys\n"
           "\n"
           "  a  r  o       accept, reject, leave open: the file, or on the diff the hunk\n"
           "  A  R          accept, reject all that is listed\n"
           "  u             take the last of these back\n"
           "\n"
           "  Up Down j k   another file; on the diff another line\n"
           "  Tab           from the list to the diff and back\n"
           "  Enter         to the diff; opens a directory that is one line\n"
           "  ] [           the next hunk, the one before\n"
           "  Space b       a page of the diff, forwards and backwards\n"
           "  Left Right    on the diff: to the side\n"
           "  g G           to the beginning, to the end\n"
           "  v             side by side, or one below the other\n"
           "\n"
           "  /             search: names on the list, lines on the diff\n"
           "  n N           the next that was found, the one before\n"
           "  f             filter: words of the path, is:open is:accepted\n"
           "                is:rejected is:parts\n"
           "  e             the file in $VISUAL or $EDITOR\n"
           "  p             the diff in $PAGER\n"
           "\n"
           "  q             done: asks about what is open, shows what would be done, asks\n"
           "  Ctrl-C        leave, with nothing done; asks where something is decided\n"
           "\n"
           "[a] accepted  [r] rejected  [~] hunk by hunk  [?] some hunks are open  [ ] open\n"
           "A created  D deleted  M modified  R renamed  m attributes only\n";
}

std::string rest_text(const Model& model) {
    const Tally tally = model.tally();
    const std::vector<Item>& items = model.items();
    const auto begun = std::count_if(items.begin(), items.end(), [](const Item& item) {
        return item.verdict == Verdict::kParts && !is_decided(item);
    });
    std::string text = counted(tally.open, "change is", "changes are") + " not decided.\n";
    if (begun > 0) {
        text += fmt::format("In {} only some hunks are decided.\nLeft open, {} open as a whole.\n",
                            counted(static_cast<std::uint64_t>(begun), "file", "files"),
                            begun == 1 ? "it stays" : "they stay");
    }
    return text +
           "\n"
           "  k   keep it open, to be decided later\n"
           "  a   accept it\n"
           "  r   reject it\n"
           "  b   back to the review\n"
           "  x   leave, with nothing done\n";
}

std::string leaving_text(const Tally& tally) {
    return "You have decided: " + tally_words(tally) +
           ".\n"
           "Nothing has been done yet.\n"
           "\n"
           "  y   leave, and drop these decisions\n"
           "  n   back to the review\n";
}

std::string tally_words(const Tally& tally) {
    std::string words;
    const auto add = [&](std::size_t count, const char* what) {
        if (count > 0) words += fmt::format("{}{} {}", words.empty() ? "" : ", ", count, what);
    };
    add(tally.accepted, "accepted");
    add(tally.rejected, "rejected");
    add(tally.parts, "in part");
    add(tally.open, "open");
    return words;
}

}  // namespace unwrite::cli::screen
