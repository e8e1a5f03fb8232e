// A directory of the test's own, without symlinks in its name, removed afterwards.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace unwrite::cli {

class Scratch {
 public:
    Scratch() {
        std::string name =
            (std::filesystem::canonical(std::filesystem::temp_directory_path()) / "cli-XXXXXX")
                .string();
        path_ = ::mkdtemp(name.data());
    }
    ~Scratch() {
        std::error_code failure;
        std::filesystem::remove_all(path_, failure);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    std::string operator/(const std::string& name) const { return path_ + "/" + name; }
    const std::string& path() const { return path_; }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(*this / name) << text;
    }
    std::string read(const std::string& name) const {
        std::ifstream file(*this / name);
        return {std::istreambuf_iterator<char>(file), {}};
    }

 private:
    std::string path_;
};

}  // namespace unwrite::cli
