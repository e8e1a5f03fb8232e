// The attic: one directory of the state directory in which displaced objects live on, and in which
// objects that the journal needs have an anchor, a hard link by which they are found whatever their
// names become. An object has at most one name here: "<ino>-<birth>" in hexadecimal.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/object_key.h"
#include "base/syscalls.h"

namespace unwrite::journal {

/// Thread-safe. Which objects have a name here is known in memory, so contains() costs a look-up.
class Attic {
 public:
    /// Takes the open (not O_PATH) directory and reads it.
    static Result<std::unique_ptr<Attic>> open(UniqueFd directory);

    static std::string file_name(const ObjectKey& key);
    static std::optional<ObjectKey> parse_name(std::string_view name);

    int directory() const { return directory_.get(); }
    bool contains(const ObjectKey& key) const;

    /// Moves (parent, name), which is the object `key`, here: a rename; when the object is anchored
    /// already and is not a directory, the name is just unlinked. Afterwards the name is gone and
    /// the object is here.
    Result<> displace(int parent, const std::string& name, const ObjectKey& key, bool is_directory);
    /// A second name here for the non-directory `key` at (parent, name). Nothing to do when it has
    /// one. Errors EPERM / EMLINK mean that the filesystem does not allow it for this object,
    /// ESTALE that the link made another object of it (overlayfs); nothing is here then.
    Result<> anchor(int parent, const std::string& name, const ObjectKey& key);
    /// Note that the non-directory `key` was linked here by a call made directly on directory().
    /// ESTALE as above.
    Result<> add_linked(const ObjectKey& key);
    /// Moves the object out to (parent, name), which must be absent (EEXIST otherwise): the anchor
    /// is gone after.
    Result<> move_out(const ObjectKey& key, int parent, const std::string& name);
    /// Gives the non-directory the name (parent, name), in the place of the file that stands there,
    /// in one step. The anchor goes, or stays.
    Result<> put_over(const ObjectKey& key, int parent, const std::string& name, bool keeps_anchor);
    /// Gives the non-directory another name at (parent, name) and keeps the anchor.
    Result<> link_out(const ObjectKey& key, int parent, const std::string& name);
    /// Removes the object's name here; a directory with all that is below it. Absent is fine.
    Result<> remove(const ObjectKey& key);
    /// Note that (key) got or lost its name here by a call made directly on directory().
    void note_added(const ObjectKey& key);
    void note_removed(const ObjectKey& key);

    std::vector<ObjectKey> list() const;

    /// Finishes removals that a crash interrupted. For the one writer, before others use the attic.
    Result<> remove_leftovers();
    /// What those would remove.
    Result<std::vector<std::string>> leftovers() const;
    /// Moves one of them out, under its own name.
    Result<> move_leftover(const std::string& name, int to_dir);
    /// Makes a leftover of a directory outside, whatever is in it.
    Result<> take_leftover(int from_dir, const std::string& name);

 private:
    Result<std::string> set_aside(int directory, const std::string& name);
    Result<> remove_tree(const std::string& name);
    Result<> empty_directory(const std::string& name, std::vector<std::string>& nested);
    Result<> remove_entry(int directory, const std::string& name, std::vector<std::string>& nested);
    explicit Attic(UniqueFd directory) : directory_(std::move(directory)) {}
    UniqueFd directory_;
    mutable std::shared_mutex mutex_;
    std::unordered_set<ObjectKey> present_;  // guarded by mutex_
    std::atomic<std::uint64_t> next_aside_{1};
};

}  // namespace unwrite::journal
