// Beginning: what stood where the task began, for who asks about single paths again and again while
// the workspace is in use. It reads what the journal captured once, and afterwards only what came
// since. Thread-safe. What changes while it is asked may be seen before or after.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "overlay/locator.h"

namespace unwrite::overlay {

class Beginning {
 public:
    static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;

    Beginning(Locator& locator, journal::Journal& journal);
    ~Beginning();

    /// Whether anything stood at a path ("" is the root, which always did).
    Result<bool> has(const std::string& path);
    /// The bytes of the regular file that stood there; nothing when none did, or when there were
    /// more than `most`.
    Result<std::optional<std::string>> bytes(const std::string& path,
                                             std::uint64_t most = kMostBytes);

    /// The tree of states changed. Not with journal.store_mutex() held.
    void forget();

 private:
    struct State;
    Result<State*> state();  // mutex_ held

    Locator& locator_;
    journal::Journal& journal_;
    std::mutex mutex_;
    std::unique_ptr<State> state_;         // guarded by mutex_
    std::atomic<unsigned> generation_{0};  // of the tree of states
};

}  // namespace unwrite::overlay
