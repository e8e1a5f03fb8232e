// Mounted: a directory with the built program mounted over it, as a user has it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace unwrite::tests::parity {

class Mounted {
 public:
    /// Mounts over `workspace`. What the program needs besides goes to `home`, which exists.
    /// `failure()` tells why it is not mounted.
    Mounted(std::string workspace, std::string home);
    ~Mounted();  ///< unmounts, whatever happened
    Mounted(const Mounted&) = delete;
    Mounted& operator=(const Mounted&) = delete;

    const std::string& failure() const { return failure_; }
    const std::string& path() const { return workspace_; }
    /// A path that leads to the workspace behind the mount, for this process and its children.
    std::string raw() const;
    /// Runs a command of the program on the workspace. Empty when it succeeded, else what it said.
    std::string command(const std::vector<std::string>& words) const;

 private:
    std::string workspace_;
    std::string home_;
    UniqueFd raw_;
    std::string failure_;
};

/// This process is not root, which can be anybody, but the owner of the cells' objects, and mounts
/// as he may. It may have capabilities to look behind the mount; the program has none.
bool is_owner_itself();
/// Of this process, for good.
void drop_capabilities();

/// As long as it lives the owner itself has none of them. Root keeps its own.
class WithoutCapabilities {
 public:
    WithoutCapabilities();
    ~WithoutCapabilities();
    WithoutCapabilities(const WithoutCapabilities&) = delete;
    WithoutCapabilities& operator=(const WithoutCapabilities&) = delete;

 private:
    static void set(bool effective);
    bool lowered_;
};

/// Why nothing can be mounted here (for a skip), or empty.
std::string why_not_here();

}  // namespace unwrite::tests::parity
