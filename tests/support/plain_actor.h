// PlainActor: see actor.h. The same on a plain directory.
#pragma once

#include <array>

#include "base/syscalls.h"
#include "tests/support/actor.h"

namespace unwrite::tests {

class PlainActor final : public Actor {
 public:
    explicit PlainActor(const std::string& directory);

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
    void drop(unsigned slot) override { slots_.at(slot).reset(); }
    int write_held(unsigned slot, std::uint64_t offset, std::string_view data) override;
    int truncate_held(unsigned slot, std::uint64_t size) override;
    int chmod_held(unsigned slot, mode_t mode) override;
    int create_below_held(unsigned slot, const std::string& name) override;

 private:
    struct At {
        UniqueFd parent;
        std::string name;
    };
    Result<UniqueFd> find(const std::string& path) const;
    Result<UniqueFd> find_regular(const std::string& path) const;
    Result<At> parent_of(const std::string& path) const;

    UniqueFd root_;
    std::array<UniqueFd, kSlots> slots_;
};

}  // namespace unwrite::tests
