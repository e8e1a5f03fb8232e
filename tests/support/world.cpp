#include "tests/support/world.h"

#include <unistd.h>

#include <stdexcept>

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

overlay::Asker World::asker() {
    overlay::Asker asker;
    asker.uid = ::getuid();
    asker.pid = ::getpid();
    return asker;
}

}  // namespace unwrite::tests
