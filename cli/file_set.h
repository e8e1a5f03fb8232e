// FileSet: changes of several files anywhere on the disk, carried out wholly or not at all. For
// configuration files of the user; nothing is captured, nothing else is looked at.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "overlay/editing_files.h"

namespace unwrite::cli {

struct FileChange {
    std::string path{};                      ///< absolute, without links
    std::optional<std::string> before{};     ///< nothing: it is not there
    std::optional<std::string> after{};      ///< nothing: it goes
    std::vector<std::string> directories{};  ///< absolute; made on the way, the topmost first
};

class FileSet {
 public:
    static Result<FileSet> open();

    /// The file that `path` leads to; its directory need not be there. Errors: kUsage when it is no
    /// regular file, is too large, or a link that leads nowhere; kSystem.
    Result<FileChange> look(const std::string& path);
    /// Each file must still be as `before`. A file of which nothing changes is left alone. Modes,
    /// owners and attributes stay; what is new gets the usual mode. On an error all is as it was;
    /// kConflict when a file was changed meanwhile.
    Result<> carry_out(const std::vector<FileChange>& changes);
    /// Those that are empty, the last first.
    void remove_directories(const std::vector<std::string>& directories);

 private:
    explicit FileSet(std::unique_ptr<overlay::EditFiles> files) : files_(std::move(files)) {}
    Result<> change_all(const std::vector<FileChange>& changes, std::size_t& done);
    Result<> change(const FileChange& file, const std::optional<std::string>& from,
                    const std::optional<std::string>& to);

    std::unique_ptr<overlay::EditFiles> files_;
};

}  // namespace unwrite::cli
