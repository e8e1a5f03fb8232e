#include "cli/screen/paint.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/render.h"
#include "cli/screen/paint_diff.h"
#include "cli/screen/words.h"
#include "cli/text.h"

namespace unwrite::cli::screen {

namespace {

const char* mark_of(const Item& item) {
    switch (item.verdict) {
        case Verdict::kAccept:
            return "[a]";
        case Verdict::kReject:
            return "[r]";
        case Verdict::kParts:
            return is_decided(item) ? "[~]" : "[?]";
        case Verdict::kOpen:
            return "[ ]";
    }
    return "   ";
}

Style mark_style(Verdict verdict) {
    return verdict == Verdict::kAccept   ? Style::kAdded
           : verdict == Verdict::kReject ? Style::kRemoved
           : verdict == Verdict::kParts  ? Style::kHeading
                                         : Style::kPlain;
}

class Painter {
 public:
    Painter(const Review& review, Charset charset)
        : review_(review),
          sight_(review.sight()),
          charset_(charset),
          layout_(layout_of(review.size())),
          frame_{review.size(), {}} {}

    Frame paint() {
        if (layout_.too_small) {
            frame_.lines.push_back(line("The terminal is too small; q leaves.", Style::kPlain));
            return std::move(frame_);
        }
        frame_.lines.push_back(head());
        const bool page = sight_.mode == Mode::kPage || sight_.mode == Mode::kRest ||
                          sight_.mode == Mode::kConfirm || sight_.mode == Mode::kLeaving;
        if (page) {
            add_page();
        } else {
            add_body();
        }
        frame_.lines.push_back(foot());
        return std::move(frame_);
    }

 private:
    std::size_t columns() const { return review_.size().columns; }

    Line line(std::string_view text, Style style) const {
        LineWriter writer(columns(), charset_);
        writer.add(text, style);
        return writer.take();
    }

    Line bar(std::string_view left, std::string_view right) const {
        LineWriter writer(columns(), charset_);
        writer.add(" ", Style::kBar);
        const std::size_t width = width_of(right, charset_) + 1;
        if (!right.empty() && columns() > width + 10) {
            LineWriter first(columns() - width - 2, charset_);
            first.add(left, Style::kBar);
            writer.append(first.take());
            writer.fill(columns() - width, Style::kBar);
            writer.add(right, Style::kBar);
        } else {
            writer.add(left, Style::kBar);
        }
        writer.fill(columns(), Style::kBar);
        return writer.take();
    }

    /// The longer of the two that the bottom line has room for.
    std::string_view fitting(std::string_view longer, std::string_view shorter) const {
        return longer.size() < columns() ? longer : shorter;
    }

    Line head() const {
        const Model& model = review_.model();
        std::string left = fmt::format("review: {}", tally_words(model.tally()));
        if (!model.filter().empty())
            left += fmt::format("  (filter {}: {})", model.filter(), model.shown().size());
        const std::string place =
            model.shown().empty()
                ? "0 of 0"
                : fmt::format("{} of {}", model.cursor() + 1, model.shown().size());
        return bar(left, place);
    }

    Line foot() const {
        switch (sight_.mode) {
            case Mode::kSearch:
                return line("/" + sight_.input + "_", Style::kPlain);
            case Mode::kFilter:
                return line("filter: " + sight_.input + "_", Style::kPlain);
            case Mode::kPage:
                return bar("Up Down scroll; any other key goes back", "");
            case Mode::kRest:
                return bar(
                    fitting("What becomes of them?  [k]eep open  [a]ccept  [r]eject  [b]ack  [x] "
                            "leave",
                            "[k]eep [a]ccept [r]eject [b]ack [x]"),
                    "");
            case Mode::kConfirm:
                return bar(fitting("Do this? Accepted changes can no longer be undone. (y/n)",
                                   "Do this? Accepting is final. (y/n)"),
                           "");
            case Mode::kLeaving:
                return bar("Leave, and drop these decisions? (y/n)", "");
            case Mode::kBrowse:
                break;
        }
        if (!sight_.message.empty()) return line(sight_.message, Style::kHeading);
        return bar(sight_.on_diff
                       ? "hunk: a accept  r reject  u undo  ] [ next, before  Tab list  q done"
                       : "a accept  r reject  u undo  Tab diff  / search  f filter  q done",
                   "? help");
    }

    void add_page() {
        const std::size_t rows = review_.size().rows - 2;
        for (std::size_t i = 0; i < rows; ++i) {
            const std::size_t at = sight_.top_of_page + i;
            frame_.lines.push_back(at < sight_.page.size() ? line(sight_.page[at], Style::kPlain)
                                                           : Line());
        }
    }

    Line list_row(std::size_t place) const {
        LineWriter writer(layout_.list.columns, charset_);
        const Model& model = review_.model();
        if (place >= model.shown().size()) return writer.take();
        const Item& item = model.items()[model.shown()[place]];
        const bool here = place == model.cursor();
        const Style base =
            here ? (sight_.on_diff ? Style::kHeading : Style::kSelected) : Style::kPlain;
        const bool reverse = base == Style::kSelected;
        writer.add(here ? ">" : " ", base);
        writer.add(mark_of(item), reverse ? base : mark_style(item.verdict));
        writer.add(" ", base);
        writer.add(std::string(1, change_letter(item.change)) + " ", base);
        // The end of a path says most.
        writer.add(end_of(change_words(item.change), writer.room(), charset_), base);
        writer.fill(layout_.list.columns, reverse ? base : Style::kPlain);
        return writer.take();
    }

    void add_body() {
        const std::vector<Line> diff = paint_diff(review_, layout_.diff, charset_);
        for (std::size_t i = 0; i < layout_.list.rows; ++i) {
            LineWriter writer(columns(), charset_);
            writer.append(list_row(sight_.top_of_list + i));
            if (layout_.beside) {
                writer.fill(layout_.list.columns);
                writer.add("|", Style::kDim);
                if (i < diff.size()) writer.append(diff[i]);
            }
            frame_.lines.push_back(writer.take());
        }
        if (layout_.beside) return;
        LineWriter rule(columns(), charset_);
        rule.add(std::string(columns(), '-'), Style::kDim);
        frame_.lines.push_back(rule.take());
        for (std::size_t i = 0; i < layout_.diff.rows; ++i)
            frame_.lines.push_back(i < diff.size() ? diff[i] : Line());
    }

    const Review& review_;
    const Sight& sight_;
    Charset charset_;
    Layout layout_;
    Frame frame_;
};

}  // namespace

Frame paint(const Review& review, Charset charset) {
    return Painter(review, charset).paint();
}

}  // namespace unwrite::cli::screen
