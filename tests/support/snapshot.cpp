#include "tests/support/snapshot.h"

#include <sys/sysmacros.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "base/syscalls.h"

namespace unwrite::tests {

namespace {

constexpr std::size_t kBlock = 4096;

template <class T>
T must(Result<T> result, const std::string& path) {
    if (!result)
        throw std::runtime_error("snapshot " + printable(path) + ": " + result.error().message());
    return *std::move(result);
}

std::uint64_t mix(std::uint64_t h, std::uint64_t word) {
    h = (h ^ word) * 0x9E3779B97F4A7C15ULL;
    return h ^ (h >> 29);
}

/// 0 for a block of zeros; four lanes, so that the multiplications overlap.
std::uint64_t hash_block(const std::byte* data, std::uint64_t number) {
    std::uint64_t lanes[4] = {1, 2, 3, 4};
    std::uint64_t any = 0;
    for (std::size_t at = 0; at < kBlock; at += 32) {
        std::uint64_t words[4];
        std::memcpy(words, data + at, sizeof words);
        for (std::size_t i = 0; i < 4; ++i) {
            any |= words[i];
            lanes[i] = mix(lanes[i], words[i]);
        }
    }
    if (any == 0) return 0;
    std::uint64_t h = mix(7, number);
    for (const std::uint64_t lane : lanes)
        h = mix(h, lane);
    return h;
}

std::uint64_t hash_content(int fd, std::uint64_t size, const std::string& path) {
    // Kept: under a sanitizer a new one for each file takes more time than all the rest.
    thread_local std::vector<std::byte> buffer(64 * kBlock);
    std::uint64_t hash = 0;
    std::uint64_t offset = 0;
    while (offset < size) {
        const sys::DataRun run = sys::next_data(fd, offset, size);
        if (run.begin >= size) break;
        offset = run.begin / kBlock * kBlock;
        const std::size_t got = must(sys::read_at(fd, buffer, offset), path);
        if (got == 0) break;
        const std::size_t whole = (got + kBlock - 1) / kBlock * kBlock;
        std::memset(buffer.data() + got, 0, whole - got);
        for (std::size_t at = 0; at < whole; at += kBlock)
            hash += hash_block(buffer.data() + at, (offset + at) / kBlock);
        offset += whole;
    }
    return hash;
}

std::string hex(std::uint64_t number) {
    char text[20];
    std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(number));
    return text;
}

char letter(mode_t mode) {
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

struct Walk {
    Snapshot found;
    std::map<std::uint64_t, std::string> first_path;  // by inode, of what has several names
    std::vector<std::pair<UniqueFd, std::string>> todo;

    void look(int path_fd, const std::string& path);
    void list(int directory, const std::string& path);
};

void Walk::look(int path_fd, const std::string& path) {
    const struct stat st = must(sys::stat_fd(path_fd), path);
    std::string what(1, letter(st.st_mode));
    char mode[16];
    std::snprintf(mode, sizeof mode, " %04o", st.st_mode & 07777U);
    what += mode;
    what += " " + std::to_string(st.st_uid) + ":" + std::to_string(st.st_gid);
    if (S_ISREG(st.st_mode)) {
        const UniqueFd fd = must(sys::reopen(path_fd, O_RDONLY), path);
        const auto size = static_cast<std::uint64_t>(st.st_size);
        what +=
            " size=" + std::to_string(size) + " hash=" + hex(hash_content(fd.get(), size, path));
    }
    if (S_ISLNK(st.st_mode)) what += " ->" + printable(must(sys::read_link(path_fd, ""), path));
    if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)) what += " dev=" + hex(st.st_rdev);
    for (const auto& [name, value] : must(sys::read_xattrs(path_fd), path))
        what += " " + name + "=" + printable(value);
    if (!S_ISDIR(st.st_mode) && st.st_nlink > 1) {
        const auto [first, fresh] = first_path.emplace(st.st_ino, path);
        if (!fresh) what += " same-as=" + printable(first->second);
    }
    found[path] = {what, st.st_mtim.tv_sec * 1'000'000'000LL + st.st_mtim.tv_nsec};
}

void Walk::list(int directory, const std::string& path) {
    auto entries = must(sys::read_directory(directory), path);
    std::map<std::string, unsigned char> sorted;
    for (const auto& entry : entries) {
        if (path.empty() && entry.name == ".unwrite") continue;
        sorted.emplace(entry.name, entry.type);
    }
    for (const auto& [name, type] : sorted) {
        const std::string below = path.empty() ? name : path + "/" + name;
        const UniqueFd fd = must(sys::open_at(directory, name, O_PATH), below);
        look(fd.get(), below);
        if (!S_ISDIR(must(sys::stat_fd(fd.get()), below).st_mode)) continue;
        todo.emplace_back(must(sys::reopen(fd.get(), O_RDONLY | O_DIRECTORY), below), below);
    }
}

std::string pair_text(const std::string& path, const SnapshotEntry* a, const SnapshotEntry* b,
                      bool times) {
    std::string text = "  '" + printable(path) + "':";
    const auto add = [&](const char* label, const SnapshotEntry* entry) {
        text +=
            std::string("\n    ") + label + (entry == nullptr ? " (absent)" : " " + entry->what);
        if (entry != nullptr && times) text += " mtime=" + std::to_string(entry->mtime_ns);
    };
    add("a:", a);
    add("b:", b);
    return text + "\n";
}

bool same(const SnapshotEntry& a, const SnapshotEntry& b, Times times) {
    return a.what == b.what && (times == Times::kIgnore || a.mtime_ns == b.mtime_ns);
}

}  // namespace

std::string printable(const std::string& bytes) {
    std::string text;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte < 0x7f && c != '\\' && c != '"') {
            text += c;
            continue;
        }
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\x%02x", byte);
        text += escape;
    }
    return text;
}

Snapshot snapshot(const std::string& directory) {
    Walk walk;
    UniqueFd root = must(sys::open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY), directory);
    walk.look(root.get(), "");
    walk.todo.emplace_back(std::move(root), "");
    while (!walk.todo.empty()) {
        const auto [fd, path] = std::move(walk.todo.back());
        walk.todo.pop_back();
        walk.list(fd.get(), path);
    }
    return std::move(walk.found);
}

std::string difference(const Snapshot& a, const Snapshot& b, Times times) {
    std::string text;
    for (const auto& [path, entry] : a) {
        const auto other = b.find(path);
        if (other != b.end() && same(entry, other->second, times)) continue;
        text += pair_text(path, &entry, other == b.end() ? nullptr : &other->second,
                          times == Times::kCompare);
    }
    for (const auto& [path, entry] : b) {
        if (!a.contains(path)) text += pair_text(path, nullptr, &entry, times == Times::kCompare);
    }
    return text;
}

void save(const Snapshot& snapshot, const std::string& file) {
    std::string text;
    for (const auto& [path, entry] : snapshot) {
        text += path + '\0' + entry.what + '\0' + std::to_string(entry.mtime_ns) + '\0';
    }
    // Under another name first: whoever reads it finds it whole.
    std::ofstream(file + ".new", std::ios::binary) << text;
    if (std::rename((file + ".new").c_str(), file.c_str()) != 0)
        throw std::runtime_error("save " + file);
}

Snapshot load_snapshot(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw std::runtime_error("load " + file);
    Snapshot loaded;
    std::string path;
    std::string what;
    std::string time;
    while (std::getline(in, path, '\0') && std::getline(in, what, '\0') &&
           std::getline(in, time, '\0')) {
        loaded[path] = {what, std::stoll(time)};
    }
    return loaded;
}

}  // namespace unwrite::tests
