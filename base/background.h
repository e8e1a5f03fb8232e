// Work that nobody waits for.
#pragma once

namespace unwrite {

/// From now on the calling thread has what no other one wants of the processor and the disk. Not
/// for a thread that takes locks which others hold on their way.
void become_background();

}  // namespace unwrite
