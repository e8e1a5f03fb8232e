// Tracked: the files that git tracked when the task began. A file that is in the repository is no
// secret: everybody who may read the repository has it (decision 0082). What counts is the index as
// it was then, and the bytes themselves, so nothing that an agent writes changes the answer.
// Thread-safe.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "overlay/beginning.h"

namespace unwrite::overlay {

class Tracked {
 public:
    using Bytes = std::function<std::optional<std::string>()>;
    using Wanted = std::function<bool(std::string_view name)>;

    /// Remembers only files for whose last component `wanted` is true: an index may be long.
    Tracked(Beginning& beginning, Wanted wanted);

    /// Whether the index named a file at this path with these bytes. `bytes` is called if there is
    /// such a file; nothing from it means no.
    bool has(const std::string& path, const Bytes& bytes);
    /// A task begins, or other names are wanted.
    void forget();

 private:
    std::optional<std::string> object_at(const std::string& path);

    Beginning& beginning_;
    const Wanted wanted_;
    std::mutex mutex_;
    /// Of each path; nothing before the index was read. Guarded by mutex_.
    std::optional<std::unordered_map<std::string, std::string>> objects_;
};

}  // namespace unwrite::overlay
