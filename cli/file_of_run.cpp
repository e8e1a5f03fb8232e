#include "cli/file_of_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <ctime>

#include "base/syscalls.h"
#include "cli/home_return.h"

namespace unwrite::cli {

FileOfRun::FileOfRun(const std::string& kind, const std::string& text) {
    const std::string directory = run_state_directory();
    if (directory.empty()) return;
    const Result<UniqueFd> at = sys::open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
    const std::string name = fmt::format("home-{}-{}-{}", kind, std::time(nullptr), ::getpid());
    if (!at || !sys::replace_file_at(at->get(), name, text, 0600)) return;
    path_ = directory + '/' + name;
}

FileOfRun::~FileOfRun() {
    remove();
}

void FileOfRun::remove() const {
    if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace unwrite::cli
