// Runs cells and compares. A Stage is a plain directory and a workspace beside each other, on one
// filesystem, with the fixtures of groups in both.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/base/scratch.h"
#include "tests/parity/cell.h"
#include "tests/parity/mounted.h"
#include "tests/support/snapshot.h"

namespace unwrite::tests::parity {

/// Everything as root. As the owner: what he does to things of his own that need no root to be
/// made.
bool can_be_done(const Cell& cell);

class Stage {
 public:
    enum class Places { kBoth, kMount };
    /// Builds the fixtures, then mounts. `failure()` tells what went wrong.
    explicit Stage(const std::vector<const Group*>& groups, Places places = Places::kBoth);

    const std::string& failure() const { return failure_; }
    Mounted& mounted() { return *mounted_; }

    /// What a cell answers in either place, and what is seen afterwards.
    std::string in_plain(const Group& group, std::size_t cell) const;
    std::string in_mount(const Group& group, std::size_t cell) const;
    /// The same without a look.
    std::string only_act_in_mount(const Group& group, std::size_t cell) const;
    /// The whole workspace before it was mounted, what is behind the mount now, and the plain
    /// directory.
    const Snapshot& before() const { return before_; }
    Snapshot behind() const { return snapshot(mounted_->raw()); }
    Snapshot plain() const { return snapshot(plain_); }

 private:
    Result<> build_all(const std::string& directory, const std::vector<const Group*>& groups);

    Snapshot before_;
    std::string plain_;
    std::string failure_;
    bool change_times_ = false;
    Scratch scratch_;
    std::unique_ptr<Mounted> mounted_;  // gone before the scratch directory is
};

/// What comes of a group: the cells that differ for no known reason, and how many there were.
struct Verdict {
    std::string failures;
    /// The cells that differ, excused or not, by the names of their directories.
    std::set<std::string> different;
    std::size_t cells = 0;
    std::size_t excused = 0;
};
/// Without what is in these directories.
Snapshot without(Snapshot all, const std::set<std::string>& directories);
/// Runs all cells in both places.
Verdict compare(const Stage& stage, const Group& group);

}  // namespace unwrite::tests::parity
