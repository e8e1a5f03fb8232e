// Tally: in how many files the live state differs from the root, for who asks again and again (a
// shell's prompt). It is the number that the differences of the two states have (differences.h),
// and it is worked out once as they are; after that only what was touched since the last question
// is compared again, with what hangs together with it. When that cannot be told apart (a directory
// was moved, removed or replaced, a restore, thousands of changes) all is compared again.
//
// What changes behind the mount is not noticed, but expect() hears of it. Not thread-safe: the
// workspace's operations hold a lock for it.
#pragma once

#include "base/leftovers.h"
#include "journal/delta_log.h"
#include "overlay/changes.h"

namespace unwrite::overlay {

class Tally {
 public:
    Tally(Locator& locator, journal::Journal& journal, Capture& capture)
        : locator_(locator),
          journal_(journal),
          capture_(capture),
          state_(std::make_shared<State>(journal.checksums())) {}

    Result<std::uint64_t> files();
    /// The open interval ended as a node, and one with this delta began; nothing moved.
    void sealed(journal::DeltaNumber opened);
    /// The tree of states or the live state changed in another way. Returns what was known, if
    /// anything, to be freed.
    [[nodiscard]] Leftovers forget();
    /// Somebody who compared all found this many just now.
    void expect(std::uint64_t files);

 private:
    /// The part of the way to the root that one delta is, newest first.
    struct Interval {
        std::shared_ptr<Layer> layer{};
        std::unique_ptr<journal::DeltaFollower> follower{};  ///< null: nothing more comes
    };
    /// What a difference adds to the number.
    struct Part {
        std::uint64_t files = 0;
        std::string path{};  ///< of a directory that came or went
        bool came = false;
    };
    static constexpr std::size_t kMuch = 1000;  // touched objects and names
    using Directories = std::unordered_map<std::string, ObjectKey>;

    bool follow(const Capture::Touched& touched);
    void add_interval(journal::DeltaNumber number);
    Result<> read_on();
    Result<> count_all();
    Result<> count_again(const Capture::Touched& touched);
    Result<> gather(View& older, View& newer, const Capture::Touched& touched, Scope& scope);
    void add_holder(View& view, const Directories& directories, const NameKey& at,
                    std::vector<ObjectKey>& reached) const;
    void take_out(const Scope& scope);
    void put_in(const Differences& differences);
    Way layers() const;

    Locator& locator_;
    journal::Journal& journal_;
    Capture& capture_;
    struct State {
        explicit State(const journal::Checksums& sums)
            : pool(std::make_shared<journal::DeltaDataPool>(&sums)) {}
        bool known = false;
        bool entangled = false;  ///< Differences::entangled: whatever is touched, all is compared
        std::uint64_t files = 0;
        std::vector<Interval> intervals{};
        std::shared_ptr<LayerStack> stack = std::make_shared<LayerStack>();  ///< their layers
        std::shared_ptr<journal::DeltaDataPool> pool;
        /// By one of the objects it is about.
        std::unordered_map<ObjectKey, std::vector<Part>> parts{};
        Directories came{};  ///< created and deleted directories, by their paths
        Directories went{};
        std::unordered_map<NameKey, ChangedName> names{};
        std::unordered_map<ObjectKey, ChangedNames> names_of{};  ///< of them, by what stands there
        ChangedNames moved{};
    };
    std::shared_ptr<State> state_;
};

}  // namespace unwrite::overlay
