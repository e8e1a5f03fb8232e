// What the daemon answers about the workspace's configuration.
#pragma once

#include <memory>

#include "base/unique_fd.h"
#include "control/dispatch.h"
#include "overlay/session.h"

namespace unwrite::cli {

/// Fills in reload, config_text and set_config. `raw` is the raw directory; `session` outlives the
/// service.
void serve_config(control::Service& service, const std::shared_ptr<UniqueFd>& raw,
                  overlay::Session& session);

}  // namespace unwrite::cli
