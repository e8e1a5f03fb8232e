#include "cli/screen/session.h"

#include <sys/stat.h>

#include <csignal>

#include "cli/render.h"
#include "cli/screen/hand_over.h"
#include "cli/screen/paint.h"

namespace unwrite::cli::screen {

namespace {

void edit(Display& display, Review& review, const std::string& root) {
    const overlay::Change change = review.model().current()->change;
    if (change.kind == overlay::ChangeKind::kDeleted || !S_ISREG(change.type)) {
        review.tell("There is no file to be edited.");
        return;
    }
    const Result<> done = display.away([&] {
        return hand_over(command_of({"VISUAL", "EDITOR"}, "vi"), {root + '/' + change.path}, {});
    });
    review.read_again();
    if (!done) review.tell(done.error().message());
}

void page(Display& display, Review& review) {
    overlay::FileDiff diff;
    diff.text = review.page()->text();
    const std::string text = diff_lines(diff, true, Colour::kNo);
    const Result<> done =
        display.away([&] { return hand_over(command_of({"PAGER"}, "less"), {}, text); });
    if (!done) review.tell(done.error().message());
}

/// As the terminal stops what runs on it. Where no shell could wake it again, the kernel lets it go
/// on.
Result<> stop() {
    struct sigaction plain = {};
    struct sigaction before = {};
    plain.sa_handler = SIG_DFL;
    ::sigaction(SIGTSTP, &plain, &before);
    ::kill(0, SIGTSTP);
    ::sigaction(SIGTSTP, &before, nullptr);
    return {};
}

}  // namespace

Result<bool> hold_review(Display& display, Review& review, const std::string& root,
                         Charset charset) {
    for (;;) {
        if (!(display.size() == review.size())) review.resize(display.size());
        display.draw(paint(review, charset));
        switch (review.press(display.next_key())) {
            case Next::kGoOn:
                break;
            case Next::kEdit:
                edit(display, review, root);
                break;
            case Next::kPager:
                page(display, review);
                break;
            case Next::kSuspend:
                TRY(display.away(stop));
                break;
            case Next::kRedraw:
                display.redraw();
                break;
            case Next::kLeave:
                return review.is_done();
        }
    }
}

}  // namespace unwrite::cli::screen
