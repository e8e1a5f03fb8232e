#include "cli/reviewing.h"

#include "cli/screen/session.h"

namespace unwrite::cli {

namespace {

/// While it lives, nothing is drawn but the screen.
class Alone {
 public:
    explicit Alone(Workspace& workspace) : workspace_(workspace) { workspace_.show_waiting(false); }
    ~Alone() { workspace_.show_waiting(true); }
    Alone(const Alone&) = delete;
    Alone& operator=(const Alone&) = delete;

 private:
    Workspace& workspace_;
};

}  // namespace

Result<std::optional<Reviewed>> review_on_screen(Workspace& workspace,
                                                 std::unique_ptr<screen::Display> display,
                                                 const std::string& text,
                                                 const std::string& greeting,
                                                 screen::TaskSource::Check check) {
    const Alone alone(workspace);
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
