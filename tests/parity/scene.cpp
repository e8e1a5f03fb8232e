#include "tests/parity/scene.h"

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "tests/parity/cell.h"
#include "tests/support/snapshot.h"

namespace unwrite::tests::parity {

namespace {

std::uint64_t hash_of(std::string_view bytes) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char c : bytes)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return hash;
}

char letter_of(mode_t mode) {
    switch (mode & S_IFMT) {
        case S_IFREG:
            return 'f';
        case S_IFDIR:
            return 'd';
        case S_IFLNK:
            return 'l';
        case S_IFIFO:
            return 'p';
        case S_IFSOCK:
            return 's';
        case S_IFCHR:
            return 'c';
        default:
            return 'b';
    }
}

}  // namespace

std::string error_name(int number) {
    const char* name = ::strerrorname_np(number);
    return name != nullptr ? name : std::to_string(number);
}

std::string describe(const struct stat& st) {
    std::string text(1, letter_of(st.st_mode));
    text += " " + octal(st.st_mode) + " " + std::to_string(st.st_uid) + ":" +
            std::to_string(st.st_gid) + " links=" + std::to_string(st.st_nlink) +
            " size=" + std::to_string(st.st_size);
    if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)) {
        text += " device=" + std::to_string(major(st.st_rdev)) + "," +
                std::to_string(minor(st.st_rdev));
    }
    return text;
}

std::string brief(std::string_view bytes) {
    constexpr std::size_t kShown = 48;
    if (bytes.size() <= kShown) return "\"" + printable(std::string(bytes)) + "\"";
    char hash[20];
    std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(hash_of(bytes)));
    return std::to_string(bytes.size()) + " bytes #" + hash;
}

long Scene::told(std::string_view call, long result) {
    const int number = errno;
    say(call, result == -1 ? error_name(number) : std::to_string(result));
    errno = number;
    return result;
}

int Scene::opened(std::string_view call, int descriptor) {
    say(call, descriptor == -1 ? error_name(errno) : "ok");
    return descriptor;
}

void Scene::say(std::string_view what, std::string_view value) {
    text_.append(what).append(" = ").append(value).append("\n");
}

void Scene::say(std::string_view what, const struct stat& st) {
    say(what, describe(st));
}

void Scene::look(std::string_view what, int descriptor) {
    struct stat st = {};
    if (::fstat(descriptor, &st) == 0)
        say(what, st);
    else
        say(what, error_name(errno));
}

void Scene::look_at(const std::string& path) {
    struct stat st = {};
    if (::lstat(path.c_str(), &st) == 0)
        say("lstat " + path, st);
    else
        say("lstat " + path, error_name(errno));
}

void Scene::write_to(int descriptor) {
    for (std::size_t at = 0; at < text_.size();) {
        const ssize_t done = ::write(descriptor, text_.data() + at, text_.size() - at);
        if (done <= 0) return;
        at += static_cast<std::size_t>(done);
    }
    text_.clear();
}

}  // namespace unwrite::tests::parity
