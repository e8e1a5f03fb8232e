#include "tests/crash/child.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace unwrite::tests {

namespace {

std::string driver() {
    return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "crash_driver")
        .string();
}

}  // namespace

Ended run_driver(const std::vector<std::string>& arguments, const std::string& crash_at,
                 const std::vector<std::string>& prefix) {
    std::vector<std::string> command = prefix;
    command.push_back(driver());
    command.insert(command.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : command)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t pid = ::fork();
    if (pid < 0) throw std::runtime_error("fork");
    if (pid == 0) {
        if (!crash_at.empty()) ::setenv("UNWRITE_CRASH_AT", crash_at.c_str(), 1);
        ::execvp(argv[0], argv.data());
        ::_exit(127);
    }
    int status = 0;
    if (::waitpid(pid, &status, 0) != pid) throw std::runtime_error("waitpid");
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return Ended::kKilled;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? Ended::kWell : Ended::kFailed;
}

bool has_program(const std::string& name) {
    const char* path = std::getenv("PATH");
    std::stringstream folders(path == nullptr ? "" : path);
    std::string folder;
    while (std::getline(folders, folder, ':')) {
        if (::access((folder + "/" + name).c_str(), X_OK) == 0) return true;
    }
    return false;
}

}  // namespace unwrite::tests
