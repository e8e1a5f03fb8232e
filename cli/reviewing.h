// A review of the open task on the full screen: that of `review`, and that of the questions after a
// run and at a mount.
#pragma once

#include <memory>
#include <optional>

#include "cli/context.h"
#include "cli/screen/display.h"
#include "cli/screen/task_source.h"

namespace unwrite::cli {

struct Reviewed {
    overlay::Decision decision;
    overlay::Decided decided;
};

/// What was carried out; nothing when the person left, and nothing was done. The terminal is as it
/// was then. `text`: for the log; `greeting`: what the bottom line says first; `check` as of
/// TaskSource.
Result<std::optional<Reviewed>> review_on_screen(Workspace& workspace,
                                                 std::unique_ptr<screen::Display> display,
                                                 const std::string& text,
                                                 const std::string& greeting,
                                                 screen::TaskSource::Check check);

}  // namespace unwrite::cli
