#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <mutex>

#include "base/syscalls.h"

namespace unwrite::log {

namespace {

constexpr const char* kWords[] = {"error", "warning", "info", "debug"};

Level level_from_environment() {
    const char* word = std::getenv("UNWRITE_LOG");
    for (int i = 0; word != nullptr && i < 4; ++i) {
        if (std::string_view(word) == kWords[i]) return static_cast<Level>(i);
    }
    return Level::kWarning;
}

std::atomic<Level>& current_level() {
    static std::atomic<Level> level{level_from_environment()};
    return level;
}

struct Output {
    std::mutex mutex;
    UniqueFd fd;  // guarded by mutex; stderr while there is none
};

Output& output() {
    static Output* const the_output = new Output;  // never destroyed: threads may outlive main
    return *the_output;
}

/// Names of files are bytes: a newline or an escape sequence in one must not forge a line.
void append_escaped(std::string& line, std::string_view message) {
    static constexpr char kDigits[] = "0123456789abcdef";
    for (const char c : message) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte != 0x7F) {
            line += c;
        } else {
            line += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15U]};
        }
    }
}

std::string time_text() {
    struct timespec now {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    struct tm parts {};
    ::gmtime_r(&now.tv_sec, &parts);
    char text[32];
    const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return {text, size};
}

}  // namespace

void set_level(Level level) {
    current_level() = level;
}

void set_output(UniqueFd fd) {
    const std::lock_guard lock(output().mutex);
    output().fd = std::move(fd);
}

void write(Level level, std::string_view message) {
    if (level > current_level().load(std::memory_order_relaxed)) return;
    const std::lock_guard lock(output().mutex);
    const int fd = output().fd.get();
    std::string line = fd >= 0 ? time_text() + " " : std::string("unwrite: ");
    line += kWords[static_cast<int>(level)];
    line += ": ";
    append_escaped(line, message);
    line += '\n';
    // A log that cannot be written must not stop the work.
    const ssize_t put = ::write(fd >= 0 ? fd : STDERR_FILENO, line.data(), line.size());
    static_cast<void>(put);
}

}  // namespace unwrite::log
