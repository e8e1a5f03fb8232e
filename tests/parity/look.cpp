#include "tests/parity/look.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <vector>

#include "base/syscalls.h"
#include "tests/parity/scene.h"
#include "tests/support/snapshot.h"

namespace unwrite::tests::parity {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
// The clock that stamps files may be a tick behind the one that is asked here.
constexpr std::int64_t kTick = kSecond / 20;
constexpr std::int64_t kMostRead = 4 << 20;

std::int64_t nanoseconds(const struct timespec& time) {
    return time.tv_sec * kSecond + time.tv_nsec;
}

struct Listed {
    std::set<std::string> names;
    std::string odd;  ///< what the listing says and stat denies
};

unsigned char listed_type(mode_t mode) {
    return static_cast<unsigned char>((mode & S_IFMT) >> 12U);
}

Listed list(const std::string& directory) {
    Listed listed;
    DIR* stream = ::opendir(directory.c_str());
    if (stream == nullptr) {
        listed.odd = " opendir=" + error_name(errno);
        return listed;
    }
    while (const dirent* entry = ::readdir(stream)) {
        const std::string name = entry->d_name;
        if (name == "." || name == "..") continue;
        if (!listed.names.insert(name).second) listed.odd += " twice=" + printable(name);
        struct stat st = {};
        if (::fstatat(::dirfd(stream), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
            listed.odd += " listed-but-" + error_name(errno) + "=" + printable(name);
            continue;
        }
        if (entry->d_type != listed_type(st.st_mode)) listed.odd += " d_type=" + printable(name);
        if (entry->d_ino != st.st_ino) listed.odd += " d_ino=" + printable(name);
    }
    ::closedir(stream);
    return listed;
}

std::string time_text(const struct timespec& time, const struct timespec* before,
                      const Span& span) {
    const std::int64_t at = nanoseconds(time);
    if (before != nullptr && at == nanoseconds(*before)) return "same";
    if (at >= nanoseconds(span.begin) - kTick && at <= nanoseconds(span.end) + kTick) return "now";
    return std::to_string(time.tv_sec) + "." + std::to_string(time.tv_nsec);
}

std::string xattrs_of(const std::string& path) {
    const auto fd = sys::open_at(AT_FDCWD, path, O_PATH | O_NOFOLLOW);
    if (!fd) return {};
    const auto xattrs = sys::read_xattrs(fd->get());
    if (!xattrs) return " xattrs=" + error_name(xattrs.error().number());
    std::string text;
    for (const auto& [name, value] : *xattrs)
        text += " " + printable(name) + "=" + brief(value);
    return text;
}

std::string content_of(const std::string& path, const struct stat& st) {
    if (S_ISLNK(st.st_mode)) {
        std::string target(PATH_MAX, '\0');
        const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
        if (length < 0) return " readlink=" + error_name(errno);
        target.resize(static_cast<std::size_t>(length));
        return " -> " + brief(target);
    }
    if (!S_ISREG(st.st_mode) || st.st_size > kMostRead) return {};
    // The look itself must leave no trace.
    const auto fd = sys::open_at(AT_FDCWD, path, O_RDONLY | O_NOATIME);
    if (!fd) return " open=" + error_name(fd.error().number());
    std::string content(static_cast<std::size_t>(st.st_size), '\0');
    const auto got = sys::read_at(
        fd->get(), std::as_writable_bytes(std::span(content.data(), content.size())), 0);
    if (!got) return " read=" + error_name(got.error().number());
    content.resize(*got);
    return " " + brief(content);
}

class Walk {
 public:
    Walk(std::string top, const Before& before, const Span& span, bool change_times)
        : top_(std::move(top)), before_(before), span_(span), change_times_(change_times) {
        for (const auto& [path, st] : before_)
            by_number_.emplace(st.st_ino, &st);
    }

    /// Attributes come first, for everything: to read a content or a listing changes access times.
    std::string run() {
        find("");
        std::string text;
        for (const auto& [path, st, odd] : found_) {
            text += "after " + (path.empty() ? "." : printable(path)) + ": " + describe(st) +
                    times(path, st) + xattrs_of(full(path)) + content_of(full(path), st) +
                    shared(path, st) + odd + "\n";
        }
        return text;
    }

 private:
    struct Found {
        std::string path;
        struct stat st;
        std::string odd;
    };

    std::string full(const std::string& path) const { return top_ + "/" + path; }

    void find(const std::string& path) {
        struct stat st = {};
        if (::lstat(full(path).c_str(), &st) != 0) {
            found_.push_back({path, {}, " lstat=" + error_name(errno)});
            return;
        }
        found_.push_back({path, st, {}});
        if (!S_ISDIR(st.st_mode)) return;
        const std::size_t own = found_.size() - 1;
        Listed listed = list(full(path));
        found_[own].odd = std::move(listed.odd);
        for (const std::string& name : listed.names)
            find(path.empty() ? name : path + "/" + name);
    }

    /// What the object at a path was before: by its path, else (it was moved) by its number.
    const struct stat* was(const std::string& path, const struct stat& st) const {
        const auto same_path = before_.find(path);
        if (same_path != before_.end() && same_path->second.st_ino == st.st_ino)
            return &same_path->second;
        const auto same_number = by_number_.find(st.st_ino);
        return same_number == by_number_.end() ? nullptr : same_number->second;
    }

    std::string times(const std::string& path, const struct stat& st) const {
        const struct stat* old = was(path, st);
        std::string told = " a:" + time_text(st.st_atim, old ? &old->st_atim : nullptr, span_) +
                           " m:" + time_text(st.st_mtim, old ? &old->st_mtim : nullptr, span_);
        if (!change_times_) return told;
        // Nobody can set it: what could not be seen before has one of its own in each place.
        if (old == nullptr && nanoseconds(st.st_ctim) < nanoseconds(span_.begin) - kTick)
            return told + " c:older";
        return told + " c:" + time_text(st.st_ctim, old ? &old->st_ctim : nullptr, span_);
    }

    std::string shared(const std::string& path, const struct stat& st) {
        if (S_ISDIR(st.st_mode) || st.st_nlink < 2) return {};
        const auto [first, fresh] = first_.emplace(st.st_ino, path);
        return fresh ? std::string() : " same-as=" + printable(first->second);
    }

    const std::string top_;
    const Before& before_;
    const Span& span_;
    const bool change_times_;
    std::map<ino_t, const struct stat*> by_number_;
    std::vector<Found> found_;
    std::map<ino_t, std::string> first_;
};

}  // namespace

struct timespec now() {
    struct timespec time = {};
    ::clock_gettime(CLOCK_REALTIME, &time);
    return time;
}

Before remember(const std::string& directory, const std::string& raw) {
    Before before;
    std::vector<std::string> todo = {""};
    while (!todo.empty()) {
        const std::string path = todo.back();
        todo.pop_back();
        struct stat st = {};
        if (::lstat((directory + "/" + path).c_str(), &st) != 0) continue;
        before[path] = st;
        if (!S_ISDIR(st.st_mode)) continue;
        const auto fd =
            sys::open_at(AT_FDCWD, raw + "/" + path, O_RDONLY | O_DIRECTORY | O_NOATIME);
        if (!fd) continue;
        const auto entries = sys::read_directory(fd->get());
        if (!entries) continue;
        for (const auto& entry : *entries)
            todo.push_back(path.empty() ? entry.name : path + "/" + entry.name);
    }
    return before;
}

bool has_fine_change_times(const std::string& directory) {
    const std::string path = directory + "/probe";
    const auto fd = sys::open_at(AT_FDCWD, path, O_WRONLY | O_CREAT, 0600);
    if (!fd) return false;
    bool fine = true;
    for (int i = 0; i < 100 && fine; ++i) {
        const auto first = sys::stat_fd(fd->get());
        const auto changed = sys::change_mode(fd->get(), 0600);
        const auto second = sys::stat_fd(fd->get());
        fine = first && changed && second &&
               nanoseconds(first->st_ctim) != nanoseconds(second->st_ctim);
    }
    ::unlink(path.c_str());
    return fine;
}

std::string look(const std::string& directory, const Before& before, const Span& span,
                 bool change_times) {
    return Walk(directory, before, span, change_times).run();
}

}  // namespace unwrite::tests::parity
