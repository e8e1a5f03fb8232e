// Review: what keys do to a model, and what of it is in sight. Knows no terminal.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/screen/diff_page.h"
#include "cli/screen/display.h"
#include "cli/screen/model.h"
#include "cli/screen/source.h"

namespace unwrite::cli::screen {

/// Where things stand on a screen of a size.
struct Layout {
    bool too_small = false;
    bool beside = false;  ///< the list is left of the diff, not above it
    Size list{};
    Size diff{};
};
Layout layout_of(Size size);
/// From this width on a diff is shown side by side, if nobody said otherwise.
constexpr std::size_t kSideBySide = 100;

enum class Mode {
    kBrowse,
    kSearch,   ///< a text is typed
    kFilter,   ///< likewise
    kPage,     ///< help, or a long message
    kRest,     ///< what becomes of the files of which nothing was said?
    kConfirm,  ///< what would be done, and: do so?
    kLeaving,  ///< leave, and drop what was decided?
};

/// What the caller is to do after a key.
enum class Next { kGoOn, kEdit, kPager, kSuspend, kRedraw, kLeave };

/// What the screen shows; read by paint().
struct Sight {
    Mode mode = Mode::kBrowse;
    bool on_diff = false;  ///< keys are about the diff, else about the list
    std::size_t top_of_list = 0;
    std::size_t top_of_diff = 0;  ///< in rows, or pairs where they are side by side
    std::size_t left = 0;         ///< columns out of sight on the left
    std::size_t hunk = 0;
    std::size_t found = kNone;           ///< the row that a search found
    std::optional<bool> side_by_side{};  ///< as the person said
    std::string input{};                 ///< kSearch, kFilter
    std::string message{};               ///< one line
    std::vector<std::string> page{};
    std::size_t top_of_page = 0;
};

class Review {
 public:
    Review(Source& source, std::vector<Item> items, Size size);

    const Model& model() const { return model_; }
    const Sight& sight() const { return sight_; }
    Size size() const { return size_; }
    /// Null where there is nothing to show.
    const DiffPage* page() const { return page_.get(); }
    bool is_side_by_side() const;
    /// Whether the decision was carried out.
    bool is_done() const { return done_; }

    void resize(Size size);
    Next press(const Key& key);
    /// One line at the bottom, or a page where it is long.
    void tell(const std::string& text);
    /// The current file may be another one now.
    void read_again();

 private:
    Next browse(const Key& key);
    Next browse_character(char32_t c);
    bool scroll(const Key& key);
    void move(const Key& key);
    void press_input(const Key& key);
    void press_page(const Key& key);
    Next press_rest(const Key& key);
    Next press_confirm(const Key& key);
    Next press_interrupt();
    Next press_leaving(const Key& key);

    void look();
    void judge(Verdict verdict);
    void judge_all(Verdict verdict);
    void undo();
    void go_to_hunk(std::ptrdiff_t steps);
    void enter();
    void search(bool backwards);
    void show_page(const std::string& text, Mode mode);
    Next finish();
    Next confirm();
    void note_failure(const Error& error);
    void settle();
    std::size_t diff_length() const;

    Source& source_;
    Model model_;
    Size size_;
    Sight sight_;
    std::unique_ptr<DiffPage> page_;
    std::string looked_at_;  ///< the path whose diff is in page_
    std::string sought_;
    bool done_ = false;
};

}  // namespace unwrite::cli::screen
