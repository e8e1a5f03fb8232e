#include "fs/fusermount.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace unwrite::fs {

namespace {

constexpr std::string_view kName = "fusermount3";

bool is_program(const std::string& path) {
    return ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string find_fusermount() {
    const char* variable = std::getenv("PATH");
    const std::string search =
        (variable != nullptr ? std::string(variable) : std::string()) + ":/usr/bin:/bin";
    for (std::size_t begin = 0; begin < search.size();) {
        const std::size_t end = std::min(search.find(':', begin), search.size());
        const std::string folder = search.substr(begin, end - begin);
        begin = end + 1;
        if (folder.empty() || folder.front() != '/') continue;
        std::string program = folder + "/" + std::string(kName);
        if (is_program(program)) return program;
    }
    return {};
}

Result<> fusermount_unmount(const std::string& path, bool lazily) {
    const std::string program = find_fusermount();
    if (program.empty()) {
        return Error(ErrorKind::kSystem, ENOENT,
                     "cannot unmount " + path + ": fusermount3 is not there",
                     "install the package fuse3");
    }
    std::vector<std::string> words = {program, "-u", "-q", "--", path};
    if (lazily) words.insert(words.begin() + 2, "-z");
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t child = 0;
    const int failed =
        ::posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments.data(), environ);
    if (failed != 0) return Error(failed).with_context("run " + program);
    int status = 0;
    if (::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return {};
    }
    return Error(ErrorKind::kSystem, lazily ? EPERM : EBUSY,
                 "unmount " + path + ": fusermount3 refused");
}

}  // namespace unwrite::fs
