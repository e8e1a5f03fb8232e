// A file in the user's state directory that the command of a run reads, as long as the run lasts.
#pragma once

#include <string>

namespace unwrite::cli {

class FileOfRun {
 public:
    FileOfRun() = default;
    /// `kind` is a part of its name. path() is empty where it cannot be made.
    FileOfRun(const std::string& kind, const std::string& text);
    FileOfRun(const FileOfRun&) = delete;
    FileOfRun& operator=(const FileOfRun&) = delete;
    ~FileOfRun();

    const std::string& path() const { return path_; }
    /// At once.
    void remove() const;

 private:
    std::string path_;
};

}  // namespace unwrite::cli
