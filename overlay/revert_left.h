// What an undo in part leaves as it is.
#pragma once

#include "overlay/revert_plan.h"

namespace unwrite::overlay {

class Left {
 public:
    /// Both outlive this. `touches`: after spare_git().
    Left(RevertTouches& touches, View& live) : touches_(touches), live_(live) {}

    /// Leaves what is in the way to others, with all that hangs together with it: names of one
    /// file, and a whole repository. False when nothing of it was selected.
    Result<bool> add(Blockers blockers, const std::vector<std::string>& conflicts);

    /// Paths, sorted; a repository is one of them.
    std::vector<std::string> paths() const { return {paths_.begin(), paths_.end()}; }
    /// Without what stood in the way of something else, and is changed by the plan itself.
    std::vector<std::string> after(const RevertPlan& plan);

 private:
    void note(const std::string& path);

    RevertTouches& touches_;
    View& live_;
    std::set<std::string> repositories_{};
    std::set<std::string> paths_{};
};

}  // namespace unwrite::overlay
