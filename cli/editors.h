// Editors that are running in the workspace, known by the swap files that they hold open (vim,
// nano, kate). A restore changes such a file under its editor, which does not notice.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "overlay/operations.h"

namespace unwrite::cli {

struct Editor {
    pid_t pid = 0;
    std::string command;  ///< as /proc/<pid>/comm
    std::string swap;     ///< the swap file, relative to the root
};

/// Those at or below `root`. Processes of others that may not be looked into are left out.
std::vector<Editor> editors_below(const std::string& root);
/// Of the workspace at or above `directory`; none where there is none.
std::vector<Editor> editors_of_workspace(const std::string& directory);

/// Whether `name`, without directories, is one that editors give to a swap file.
bool is_swap_name(std::string_view name);

/// A line for each of `editors` whose swap file is among `changes`, or lies in a directory that is.
std::vector<std::string> editor_lines(const std::vector<Editor>& editors,
                                      const std::vector<overlay::Change>& changes);

}  // namespace unwrite::cli
