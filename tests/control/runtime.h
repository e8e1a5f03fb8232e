// A runtime directory of the test's own, so that its sockets meet no others.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace unwrite::control {

class TemporaryRuntime {
 public:
    TemporaryRuntime() {
        std::string name = (std::filesystem::temp_directory_path() / "control-XXXXXX").string();
        path_ = ::mkdtemp(name.data());
        ::setenv("XDG_RUNTIME_DIR", path_.c_str(), 1);
    }
    ~TemporaryRuntime() {
        std::error_code failure;
        std::filesystem::remove_all(path_, failure);
    }
    TemporaryRuntime(const TemporaryRuntime&) = delete;
    TemporaryRuntime& operator=(const TemporaryRuntime&) = delete;

    const std::filesystem::path& path() const { return path_; }

 private:
    std::filesystem::path path_;
};

}  // namespace unwrite::control
