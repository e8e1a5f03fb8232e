// Inspector: what there is to see of the tree of states, without changing anything: status, log,
// diff, and what a restore would do. The meaning of each is in operations.h. It works while the
// mount is in use: what moves meanwhile may be seen before or after, what vanishes is left out.
// Thread-safe; every call reads the journal anew. A restore or commit at the same time is the
// caller's to keep out where the answer must be of one moment.
#pragma once

#include "overlay/changes.h"
#include "overlay/file_pairs.h"
#include "overlay/origins.h"
#include "overlay/steps.h"

namespace unwrite::overlay {

class Inspector {
    struct Desk;

 public:
    /// The changes of one step after the other, for who asks for many: the history is read once,
    /// at the first. For one thread at a time.
    class StepReader {
     public:
        explicit StepReader(Inspector& inspector);
        ~StepReader();
        /// What a step changed; of node 0 up to the live state.
        Result<std::vector<Change>> changes_of(const Step& step);

     private:
        Inspector& inspector_;
        std::unique_ptr<Desk> desk_;
        std::size_t asked_ = 0;
    };

    Inspector(Locator& locator, journal::Journal& journal, Origins& origins)
        : locator_(locator), journal_(journal), origins_(origins) {}

    /// `wounded` is left for the caller to set. Lines are not counted in files above 16 MiB, in
    /// binary ones, in trees that git ignores (ignored.h), and below directories that came, went or
    /// were renamed with more than 20,000 objects.
    Result<Status> status(const std::string& since, bool count_lines);
    /// `open`: what is open, as steps of node 0: of active runs, and of the others.
    Result<Log> log(const std::string& path, bool all, bool changes, const std::vector<Step>& open);
    /// The newest step of the trunk that log() lists; where there is none, the current node.
    Result<NodeNumber> marked();
    /// Directories of more than 20,000 objects stay one entry without a text; so does what comes
    /// after 256 MiB of texts, and, where neither texts nor paths are asked for, trees that git
    /// ignores.
    Result<std::vector<FileDiff>> diff(const std::string& from, const std::string& to,
                                       const std::vector<std::string>& paths, bool text);
    /// What a restore to `target` would do to the live state.
    Result<std::vector<Change>> changes_to(NodeNumber target, Detail detail);
    /// As StepReader's.
    Result<std::vector<Change>> changes_of(const Step& step);

 private:
    Result<std::unique_ptr<Desk>> open_desk();
    Result<> count_lines(View& older, View& newer, const Differences& differences, Status& status);
    /// The same; with a path only what concerns it.
    Result<std::vector<Change>> changes_of(Desk& desk, const Step& step,
                                           const std::optional<std::string>& path);
    bool is_taken(const StepFilter& filter, const Change& change) const;
    bool is_taken(const StepFilter& filter, const std::set<OriginNumber>& origins) const;
    Result<std::vector<LayerPtr>> layers_of(Desk& desk, const Step& step);
    Result<> add_in_made_directories(Desk& desk, const Step& step, View& newer,
                                     const std::vector<Change>& all, std::vector<Change>& taken);

    Locator& locator_;
    journal::Journal& journal_;
    Origins& origins_;
};

}  // namespace unwrite::overlay
