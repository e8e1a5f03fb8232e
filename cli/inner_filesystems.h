// Other filesystems that are mounted inside a workspace: unwrite records nothing there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace unwrite::cli {

struct InnerFilesystem {
    std::string path;  ///< relative to the workspace
    std::string type;  ///< "tmpfs"
};

/// Of what the kernel lists (/proc/self/mountinfo), those inside `root` and in no other one of
/// them, by path. Mounts of unwrite are none.
std::vector<InnerFilesystem> inner_filesystems(std::string_view mountinfo, const std::string& root);
/// The same of this process's mounts; none where they cannot be read.
std::vector<InnerFilesystem> inner_filesystems(const std::string& root);

/// One sentence about them; empty for none.
std::string inner_words(const std::vector<InnerFilesystem>& inner);

}  // namespace unwrite::cli
