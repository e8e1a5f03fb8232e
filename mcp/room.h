// What the server works on, opened anew for each call: a daemon may have ended, or a mount have
// come, since the last one. The composition root says how.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "overlay/editing_files.h"
#include "overlay/operations.h"
#include "overlay/reverts.h"

namespace unwrite::mcp {

class Room {
 public:
    virtual ~Room() = default;
    virtual overlay::Operations& operations() = 0;
    virtual overlay::Reverts& reverts() = 0;
    virtual overlay::EditFiles& files() = 0;
    virtual overlay::Asker asker() const = 0;
    /// Asked now and then while an edit waits for a person: false ends the wait.
    virtual void while_waiting(std::function<bool()> is_wanted) = 0;
    /// Who has files open for writing below the mount, in words; empty when nobody is known to.
    virtual std::string writers() const = 0;
};

/// Errors: kNoWorkspace when nothing is mounted or its daemon is gone.
using Enter = std::function<Result<std::unique_ptr<Room>>()>;

}  // namespace unwrite::mcp
