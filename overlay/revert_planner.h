// Builds the plan of a revert: what comes back, what others' work keeps from coming back, and what
// is put together. Included by the files that define it alone: revert_plan.cpp, revert_checks.cpp.
#pragma once

#include "overlay/revert_merge.h"
#include "overlay/revert_plan.h"
#include "overlay/revert_touches.h"

namespace unwrite::overlay {

inline constexpr int kMostSteps = 100'000;  // up from a name: an end where places run in a circle

class RevertPlanner {
 public:
    /// `touches`: after drop_idle(). `merge_in`: the journal's directory of deltas, for texts that
    /// are put together.
    RevertPlanner(const RevertTouches& touches, std::shared_ptr<LiveNamesOf> live, int merge_in)
        : touches_(touches),
          merge_in_(merge_in),
          live_names_(std::move(live)),
          live_(live_names_, {}),
          planned_(live_names_, {}) {}

    Result<RevertPlan> run();
    /// What the conflicts are about. After run().
    const Blockers& blockers() const { return blockers_; }

 private:
    Result<> plan_names();
    void plan_view();
    Result<> plan_replaced();
    Result<bool> put_together(ReplacedFile& file);
    Result<> drop_passages(const std::vector<ReplacedFile>& files);
    Result<bool> is_already(const Remains& remains);
    Result<bool> can_take(const Remains& remains, const ReplacedFile& file);
    Result<> check_last_names();
    void check_moved_on();
    Result<> check_names();
    Result<bool> is_left_elsewhere(const NameKey& at);
    Result<bool> check_name(const journal::NameImage& image);
    bool came_back_at(const NameKey& at, const ObjectKey& key);
    bool stood_in_removed(const NameKey& at, const LayerPtr& layer);
    Result<> check_work_of_others();
    Result<> check_lost_work();
    void check_lost(const ObjectKey& key, const std::optional<NameKey>& at);
    Result<> plan_objects();
    Result<> plan_object(const ObjectKey& key, const std::vector<ObjectTouch>& touches);
    void compose(const ObjectKey& key, const std::vector<ObjectTouch>& touches);
    Result<bool> merge(const ObjectKey& key, const std::vector<ObjectTouch>& touches);
    View& view_before(std::size_t part);
    std::function<View&(std::size_t)> states() {
        return [this](std::size_t part) -> View& { return view_before(part); };
    }
    void conflict(std::optional<std::string> path, const ObjectKey& key);
    void conflict_at(const NameKey& at, std::optional<std::string> path, const ObjectKey& key);
    std::string path_once(const NameKey& at);
    void conflict_in(const ObjectKey& key, std::optional<std::string> path);
    void block_way_to(ObjectKey key);

    const RevertTouches& touches_;
    int merge_in_;
    std::shared_ptr<LiveNamesOf> live_names_;
    View live_;
    View planned_;                        // the live state with the plan's names
    std::map<std::size_t, View> states_;  // see view_before()
    RevertPlan plan_;
    std::set<std::string> conflicts_;
    Blockers blockers_;
    std::set<std::string> merged_;
    std::vector<std::pair<NameKey, ObjectKey>> puts_of_others_;
    std::unordered_map<ObjectKey, RevertTouches::Removal> removals_;
    std::unordered_set<ObjectKey> moved_on_;
    std::unordered_set<NameKey> contested_;  // names: conflicts, if they are not put together
    std::unordered_set<ObjectKey> taken_;    // by files that were put together
    std::unordered_set<ObjectKey> settled_;  // those of them with which nothing else is to be done
};

}  // namespace unwrite::overlay
