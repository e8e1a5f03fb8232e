// Layers: the deltas that lie between the live state and a node, read once and indexed for looking
// at the node's state. A layer never changes after it was read, so many views share it. Of the
// files with captured bytes some are open at a time. Layers is not thread-safe: one per operation.
#pragma once

#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "journal/delta_data.h"
#include "journal/delta_log.h"
#include "journal/journal.h"
#include "overlay/history.h"

namespace unwrite::overlay {

/// One delta: what the names and objects it mentions were on the side that is reached by crossing
/// it.
struct Layer {
    journal::DeltaNumber number = 0;
    journal::Delta delta;        ///< content ranges of each object sorted by offset
    journal::DeltaDataPtr data;  ///< the bytes of the ranges; null when there are none
    std::unordered_map<ObjectKey, std::vector<const journal::NameState*>>
        placing;  ///< by the object that stood there
    std::unordered_map<ObjectKey, std::vector<const journal::NameState*>>
        below;  ///< by the parent of the name

    const journal::NameState* name(const NameKey& at) const;
    const journal::ObjectImage* object(const ObjectKey& key) const;
    /// Fills `placing` and `below`, sorts the ranges. Called once, before the layer is shared.
    void index();
    /// After more was read into `delta`, while no view has the layer.
    void index(const journal::DeltaFollower::Added& added);

 private:
    void place(const journal::NameState& state);
    void sort_ranges(journal::ObjectImage& image);
};
using LayerPtr = std::shared_ptr<const Layer>;

class Layers {
 public:
    explicit Layers(journal::Journal& journal)
        : journal_(journal),
          pool_(std::make_shared<journal::DeltaDataPool>(&journal.checksums())) {}

    Result<LayerPtr> read(journal::DeltaNumber number);
    /// A layer that is readable when its delta is removed.
    Result<LayerPtr> read_to_keep(journal::DeltaNumber number);
    /// The layers of a path, in the order in which it crosses them; empty deltas are left out.
    Result<std::vector<LayerPtr>> read(const std::vector<Crossing>& path);

    journal::Journal& journal() { return journal_; }

 private:
    journal::Journal& journal_;
    std::shared_ptr<journal::DeltaDataPool> pool_;
    std::map<journal::DeltaNumber, LayerPtr> layers_;
};

}  // namespace unwrite::overlay
