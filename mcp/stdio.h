// The server on two descriptors: lines in, lines out.
#pragma once

#include "mcp/server.h"

namespace unwrite::mcp {

/// Serves until the input ends or nobody reads the output any more; both are the normal end. What
/// has arrived is heard before the next request is begun, so that a cancellation can overtake.
/// Errors: kSystem when the descriptors fail otherwise.
Result<> serve(int in, int out, ServerOptions options);

}  // namespace unwrite::mcp
