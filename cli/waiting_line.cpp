#include "cli/waiting_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>

#include "base/progress.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

constexpr std::chrono::milliseconds kPatient{1000};
constexpr std::chrono::milliseconds kLook{200};
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

struct WorkingLine::State {
    using Clock = std::chrono::steady_clock;

    void wipe() {
        if (drawn) draw(kWipe);
        drawn = false;
    }
    void look(Milliseconds patient);

    std::mutex mutex;  // of the rest, and of the line on the terminal
    std::condition_variable wake;
    bool stopped = false;
    bool shown = true;
    bool drawn = false;
    std::optional<Clock::time_point> since{};  // something has been worked at
};

// With the lock, so that no work ends unheard between the look and the drawing.
void WorkingLine::State::look(Milliseconds patient) {
    const auto work = Progress::now();
    if (!work) return since.reset();
    const auto now = Clock::now();
    if (!since) since = now;
    const auto waited = std::chrono::duration_cast<Milliseconds>(now - *since);
    if (!shown || waited < patient) return;
    draw(kWipe + waiting_words(control::Busy{work->what, work->done, work->total}, waited));
    drawn = true;
}

WorkingLine::WorkingLine(Milliseconds patient) : state_(std::make_shared<State>()) {
    if (!can_wipe()) return;
    Progress::at_each_end([state = state_] {
        const std::lock_guard lock(state->mutex);
        state->wipe();
    });
    thread_ = std::thread([state = state_, patient] {
        std::unique_lock lock(state->mutex);
        while (!state->stopped) {
            state->look(patient);
            state->wake.wait_for(lock, kLook);
        }
    });
}

WorkingLine::~WorkingLine() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopped = true;
    }
    state_->wake.notify_all();
    thread_.join();
    Progress::at_each_end({});
    state_->wipe();
}

void WorkingLine::show(bool shown) {
    const std::lock_guard lock(state_->mutex);
    state_->shown = shown;
    if (!shown) state_->wipe();
}

}  // namespace unwrite::cli
