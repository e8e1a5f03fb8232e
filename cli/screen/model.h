// Model: the changes of a task and what is said of each; a filter over them, a place among them,
// and the way back from what was said. Knows no terminal and no workspace.
#pragma once

#include <string>
#include <vector>

#include "cli/decision.h"

namespace unwrite::cli::screen {

struct Item {
    overlay::Change change{};
    Verdict verdict = Verdict::kOpen;  ///< kParts: as the hunks say
    std::vector<Verdict> hunks{};      ///< kOpen, kAccept or kReject; empty: it has no parts
    std::string seen{};                ///< tells the content that was shown from another
    bool operator==(const Item& other) const {
        return verdict == other.verdict && hunks == other.hunks &&
               change.path == other.change.path && seen == other.seen;
    }
};

struct Tally {
    std::size_t accepted = 0;
    std::size_t rejected = 0;
    std::size_t parts = 0;  ///< wholly decided, hunk by hunk
    std::size_t open = 0;   ///< with those of which some hunks are
};

class Model {
 public:
    explicit Model(std::vector<Item> items);

    const std::vector<Item>& items() const { return items_; }
    /// Which items the filter leaves, in order.
    const std::vector<std::size_t>& shown() const { return shown_; }
    /// The place among the shown ones; 0 where nothing is shown.
    std::size_t cursor() const { return cursor_; }
    /// Null where nothing is shown.
    const Item* current() const;
    Tally tally() const;

    void move_to(std::size_t place);
    void move_by(std::ptrdiff_t steps);

    /// Each changes something or answers with false. What one of them did is one step of undo().
    bool judge(Verdict verdict);
    bool judge_hunk(std::size_t hunk, Verdict verdict);
    bool judge_shown(Verdict verdict);
    bool judge_open(Verdict verdict);  ///< of all files and hunks on which nothing was said
    /// Takes the newest of them back and goes where it was. False when there is none.
    bool undo();

    /// The current file was read: it has so many parts (0: none). A verdict on other content than
    /// that falls.
    void set_parts(std::size_t count, const std::string& seen);
    /// These in the place of the current directory; what was said of it is said of them.
    void open_directory(std::vector<overlay::Change> inside);
    /// Nothing is said any more of this path.
    void reopen(const std::string& path);

    /// Words that a path must hold, and `is:open`, `is:accepted`, `is:rejected`, `is:parts`; empty:
    /// everything is shown.
    void set_filter(const std::string& words);
    const std::string& filter() const { return filter_; }
    /// The next shown item (or the one before) whose path holds `text`; false when there is none.
    bool search(std::string_view text, bool backwards);

    /// What was said. A file of which only some hunks are decided stays open.
    std::vector<Judged> judged() const;

 private:
    struct Said {
        std::size_t item = 0;
        Verdict verdict = Verdict::kOpen;
        std::vector<Verdict> hunks{};
    };
    struct Step {
        std::vector<Said> before{};
        std::size_t item = 0;  ///< where the person was
    };

    bool say(const std::vector<Said>& now);
    Said said(std::size_t item) const;
    Said whole(std::size_t item, Verdict verdict) const;
    void refresh(std::size_t item);

    std::vector<Item> items_;
    std::vector<std::size_t> shown_;
    std::size_t cursor_ = 0;
    std::string filter_;
    std::vector<Step> steps_;
};

/// What the hunks say together; `whole` where there are none.
Verdict verdict_of(const std::vector<Verdict>& hunks, Verdict whole);
/// Whether nothing is left to be said of it.
bool is_decided(const Item& item);

}  // namespace unwrite::cli::screen
