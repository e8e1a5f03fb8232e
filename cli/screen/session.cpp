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

}  // namespace

Result<bool> hold_review(Display& display, Source& source, std::vector<Item> items,
                         const std::string& root, Charset charset) {
    Review review(source, std::move(items), display.size());
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
                TRY(display.away([]() -> Result<> {
                    ::raise(SIGSTOP);
                    return {};
                }));
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
