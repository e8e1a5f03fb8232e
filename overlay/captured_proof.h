// CapturedProof: before anything is taken back, whether the captured bytes that this needs are what
// they were.
#pragma once

#include <map>
#include <set>

#include "journal/delta_data.h"
#include "overlay/placed.h"
#include "overlay/revert_plan.h"
#include "overlay/vanished.h"

namespace unwrite::overlay {

/// Not thread-safe; one per operation.
class CapturedProof {
 public:
    explicit CapturedProof(Locator& locator);

    /// Reads what is needed. What is damaged is remembered; an error only when that cannot be told.
    Result<> need(const Edges& edges);
    Result<> need(const RevertPlan& plan);
    /// kCorrupt, with the paths, when any of it is damaged.
    Result<> refuse() const;

 private:
    Result<> need(journal::DeltaNumber number, const ObjectKey& object,
                  const journal::ContentImage& image);
    Result<> verify(journal::DeltaNumber number, const journal::ContentImage& image);
    void note_names(const journal::Delta& delta);
    std::string path_of(const ObjectKey& object) const;

    Locator& locator_;
    std::shared_ptr<journal::DeltaDataPool> pool_;
    std::map<journal::DeltaNumber, journal::DeltaDataPtr> found_;
    Placed names_;  ///< of what has no name now
    std::set<ObjectKey> damaged_;
};

}  // namespace unwrite::overlay
