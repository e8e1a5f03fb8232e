#include "cli/reviewing.h"

#include "cli/screen/session.h"

namespace unwrite::cli {

Result<std::optional<Reviewed>> review_on_screen(Workspace& workspace,
                                                 std::unique_ptr<screen::Display> display,
                                                 const std::string& text,
                                                 const std::string& greeting,
                                                 screen::TaskSource::Check check) {
    screen::TaskSource source(workspace, text, std::move(check));
    TRY_ASSIGN(std::vector<screen::Item> items, source.read());
    screen::Review review(source, std::move(items), display->size());
    if (!greeting.empty()) review.tell(greeting);
    TRY_ASSIGN(const bool done, screen::hold_review(*display, review, workspace.root(),
                                                    screen::charset_of_locale()));
    if (!done) return std::optional<Reviewed>();
    return std::optional<Reviewed>(Reviewed{source.decision(), source.decided()});
}

}  // namespace unwrite::cli
