// TreeActor: see actor.h. It counts its look-ups and gives them back, as a kernel does. Not
// thread-safe; several may share a tree.
#pragma once

#include <array>
#include <functional>

#include "overlay/tree.h"
#include "tests/support/actor.h"

namespace unwrite::tests {

class TreeActor final : public Actor {
 public:
    TreeActor(overlay::Tree& tree, const overlay::Caller& caller) : tree_(tree), caller_(caller) {}
    ~TreeActor() override;
    TreeActor(const TreeActor&) = delete;
    TreeActor& operator=(const TreeActor&) = delete;

    /// From now on in the name of this process.
    void set_caller(const overlay::Caller& caller) { caller_ = caller; }

    int create(const std::string& path, mode_t mode) override;
    int mkdir(const std::string& path, mode_t mode) override;
    int mknod(const std::string& path, mode_t mode, dev_t device) override;
    int symlink(const std::string& path, const std::string& target) override;
    int link(const std::string& from, const std::string& to) override;
    int rename(const std::string& from, const std::string& to, unsigned flags) override;
    int unlink(const std::string& path) override;
    int rmdir(const std::string& path) override;
    int temporary(const std::string& directory, std::string_view data,
                  const std::string& to) override;
    int write(const std::string& path, std::uint64_t offset, std::string_view data) override;
    int append(const std::string& path, std::string_view data) override;
    int truncate(const std::string& path, std::uint64_t size) override;
    int fallocate(const std::string& path, int mode, std::uint64_t offset,
                  std::uint64_t length) override;
    int copy(const std::string& from, std::uint64_t from_offset, const std::string& to,
             std::uint64_t to_offset, std::size_t length) override;
    int chmod(const std::string& path, mode_t mode) override;
    int chown(const std::string& path, uid_t uid, gid_t gid) override;
    int utimens(const std::string& path, std::int64_t mtime_ns) override;
    int set_xattr(const std::string& path, const std::string& name, std::string_view value,
                  int flags) override;
    int remove_xattr(const std::string& path, const std::string& name) override;
    int hold(unsigned slot, const std::string& path) override;
    void drop(unsigned slot) override;
    int write_held(unsigned slot, std::uint64_t offset, std::string_view data) override;
    int truncate_held(unsigned slot, std::uint64_t size) override;
    int chmod_held(unsigned slot, mode_t mode) override;
    int create_below_held(unsigned slot, const std::string& name) override;

    /// The last step of an edit (overlay/exchange.h): `data` takes the place of `expected`.
    int exchange(const std::string& path, std::string_view expected, std::string_view data,
                 std::optional<mode_t> mode = {});
    int remove_expected(const std::string& path, std::string_view expected);
    /// The content of a regular file.
    Result<std::string> read(const std::string& path);
    Result<struct stat> stat(const std::string& path);

 private:
    /// An id that is forgotten at the end.
    class Held;
    Result<Held> find(const std::string& path);
    Result<Held> find_regular(const std::string& path);
    /// `action` gets a new file without a name that holds `data`, in the directory of `path`.
    int with_nameless(
        const std::string& path, std::string_view data,
        const std::function<Result<>(overlay::NodeId made, const std::string& name)>& action);
    int with_parent(
        const std::string& path,
        const std::function<Result<>(overlay::NodeId parent, const std::string& name)>& action);
    int make(
        const std::string& path,
        const std::function<Result<overlay::Entry>(overlay::NodeId, const std::string&)>& action);
    int change(const std::string& path, const overlay::AttributeChange& change);

    overlay::Tree& tree_;
    overlay::Caller caller_;
    std::array<overlay::NodeId, kSlots> slots_{};
};

}  // namespace unwrite::tests
