#include "cli/waiting_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "cli/text.h"

namespace unwrite::cli {

namespace {

constexpr std::chrono::milliseconds kPatient{1000};
constexpr std::uint64_t kCells = 20;
constexpr const char* kWipe = "\r\x1b[K";

void draw(const std::string& text) {
    // Nothing hangs on it: a terminal that is gone is met by who has something to say.
    if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

bool can_wipe() {
    const char* terminal = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) == 1 && terminal != nullptr &&
           std::string_view(terminal) != "dumb" && *terminal != '\0';
}

}  // namespace

std::string waiting_words(const std::optional<control::Busy>& busy,
                          std::chrono::milliseconds waited) {
    if (!busy || busy->total == 0)
        return fmt::format("waiting for the daemon, {} s", waited.count() / 1000);
    const std::uint64_t cells = std::min(busy->done, busy->total) * kCells / busy->total;
    return fmt::format("{}  [{}{}]  {} of {}", harmless(busy->what), std::string(cells, '#'),
                       std::string(kCells - cells, '-'), grouped(busy->done), grouped(busy->total));
}

control::Patience waiting_line(const control::MountPoint& mount) {
    if (!can_wipe()) return {};
    return [mount, drawn = false](std::optional<std::chrono::milliseconds> waited) mutable {
        if (waited && *waited < kPatient) return;
        if (waited) {
            draw(kWipe + waiting_words(control::ask_progress(mount), *waited));
        } else if (drawn) {
            draw(kWipe);
        }
        drawn = waited.has_value();
    };
}

}  // namespace unwrite::cli
