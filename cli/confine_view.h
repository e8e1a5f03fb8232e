// What a confined command sees of the machine: everything read-only, but for the workspace, private
// temporary directories and what it was given; no sockets by which others would act for it.
#pragma once

#include <string>
#include <vector>

#include "cli/confine.h"

namespace unwrite::cli {

/// For process 1 of new mount and pid namespaces. `missing`: what could be left out and was
/// refused. The layer over the home directory is asked at the end of the run.
Result<HomeLayer> make_view(const Confinement& confinement, std::vector<std::string>& missing);

/// With those above it. Nothing where it is there.
Result<> make_directories(const std::string& path);

/// The places in which the confined command may write, of those that there are.
std::vector<GrantedPlace> writable_places(const Confinement& confinement);

}  // namespace unwrite::cli
