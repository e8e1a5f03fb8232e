#include "base/process_title.h"

#include <fcntl.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <sstream>

#include "base/syscalls.h"

namespace unwrite::sys {

namespace {

// Numbers of proc_pid_stat(5).
constexpr int kAfterName = 3;
constexpr int kArgStart = 48;
constexpr int kArgEnd = 49;

struct Words {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
};

Words words_of_this_process() {
    const auto text = read_file_at(AT_FDCWD, "/proc/self/stat");
    Words words;
    const std::size_t name_end = text ? text->rfind(')') : std::string::npos;
    if (name_end == std::string::npos) return words;
    std::istringstream fields(text->substr(name_end + 1));
    std::string field;
    for (int number = kAfterName; fields >> field && number <= kArgEnd; ++number) {
        if (number == kArgStart) words.begin = std::strtoull(field.c_str(), nullptr, 10);
        if (number == kArgEnd) words.end = std::strtoull(field.c_str(), nullptr, 10);
    }
    return words;
}

}  // namespace

void set_process_title(const std::string& title) {
    ::prctl(PR_SET_NAME, title.c_str());
    const Words words = words_of_this_process();
    if (words.begin == 0 || words.end <= words.begin) return;
    // The last byte stays 0: the kernel would go on into the environment otherwise.
    const std::size_t room = words.end - words.begin - 1;
    char* const at = reinterpret_cast<char*>(words.begin);
    const std::size_t size = std::min(title.size(), room);
    std::memcpy(at, title.data(), size);
    std::memset(at + size, 0, room - size);
}

}  // namespace unwrite::sys
