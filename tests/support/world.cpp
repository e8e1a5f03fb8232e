#include "tests/support/world.h"

#include <unistd.h>

#include <stdexcept>

#include "overlay/changes.h"

namespace unwrite::tests {

Result<std::unique_ptr<overlay::Session>> World::open(const std::string& directory,
                                                      const overlay::SessionOptions& options) {
    TRY_ASSIGN(UniqueFd fd, sys::open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY));
    return overlay::Session::open(std::move(fd), options);
}

World::World(std::string directory, overlay::SessionOptions options)
    : directory_(std::move(directory)), options_(options) {
    reopen();
}

void World::reopen() {
    actor_.reset();
    session_.reset();
    auto opened = open(directory_, options_);
    if (!opened) throw std::runtime_error("open " + directory_ + ": " + opened.error().message());
    session_ = *std::move(opened);
    actor_.emplace(session_->tree(), overlay::Caller{});
}

std::string World::compare_counts() {
    const auto counted = operations().count();
    if (!counted) return "count: " + counted.error().message();
    const auto status = operations().status("", false);
    if (!status) return "status: " + status.error().message();
    const std::uint64_t files = overlay::files_in(status->changes);
    if (counted->files == files) return {};
    std::string text = "count: says " + std::to_string(counted->files) + ", the status " +
                       std::to_string(files) + ":";
    for (const overlay::Change& change : status->changes) {
        text += "\n  " + std::to_string(static_cast<int>(change.kind)) + " " + change.path + " (" +
                change.old_path + ") " + std::to_string(change.below);
    }
    return text;
}

overlay::Asker World::asker() {
    overlay::Asker asker;
    asker.uid = ::getuid();
    asker.pid = ::getpid();
    return asker;
}

}  // namespace unwrite::tests
