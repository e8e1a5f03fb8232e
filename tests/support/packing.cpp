#include "tests/support/packing.h"

#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "journal/journal.h"
#include "journal/pack.h"

namespace unwrite::tests {

namespace {

Result<> pack(const std::string& directory) {
    TRY_ASSIGN(const UniqueFd fd, sys::open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY));
    TRY_ASSIGN(const auto journal, journal::Journal::open(fd.get(), {.lock = false}));
    TRY_ASSIGN(const auto nodes, journal->store().nodes());
    for (const journal::Node& node : nodes) {
        if (node.delta == 0) continue;
        TRY(journal::pack_delta_data(journal->state_dir().deltas(), node.delta, {.always = true}));
    }
    return {};
}

}  // namespace

void pack_all(const std::string& directory) {
    const auto packed = pack(directory);
    if (!packed) throw std::runtime_error("pack_all: " + packed.error().message());
}

bool packs_at_once() {
    const char* seconds = std::getenv("UNWRITE_COMPRESS_AFTER");
    return seconds != nullptr && std::string_view(seconds) == "0";
}

}  // namespace unwrite::tests
