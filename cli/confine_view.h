// What a confined command sees of the machine: everything read-only, but for the workspace, private
// temporary directories and what it was given; no sockets by which others would act for it.
#pragma once

#include <string>
#include <vector>

#include "cli/confine.h"

namespace unwrite::cli {

/// For process 1 of new mount and pid namespaces. `missing`: what could be left out and was
/// refused.
Result<> make_view(const Confinement& confinement, std::vector<std::string>& missing);

/// The places in which the confined command may write, of those that there are.
std::vector<std::string> writable_places(const Confinement& confinement);

}  // namespace unwrite::cli
