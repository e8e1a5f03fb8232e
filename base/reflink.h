// Whether files can share blocks, so that a copy costs nothing.
#pragma once

namespace unwrite::sys {

/// Whether files in that directory can (FICLONE). Tries it with two nameless files.
bool can_share_blocks(int directory);

}  // namespace unwrite::sys
