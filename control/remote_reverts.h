// RemoteReverts: revert_to_state in a workspace that a daemon serves, over its socket.
#pragma once

#include "control/mounts.h"
#include "overlay/reverts.h"

namespace unwrite::control {

class RemoteReverts final : public overlay::Reverts {
 public:
    explicit RemoteReverts(MountPoint mount) : mount_(std::move(mount)) {}

    Result<std::string> request_revert(const overlay::Asker& asker, const std::string& arguments,
                                       bool for_agent) override;
    Result<std::vector<std::string>> apply_reverts(const overlay::Asker& asker) override;

 private:
    const MountPoint mount_;
};

}  // namespace unwrite::control
