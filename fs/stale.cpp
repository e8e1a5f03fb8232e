// The mount that a dead daemon left behind.
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "base/syscalls.h"
#include "fs/mounting.h"

namespace unwrite::fs {

namespace {

constexpr std::string_view kType = "fuse.unwrite";

/// mountinfo writes spaces and the like as \ooo.
std::string unescape(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size()) {
            int code = 0;
            for (std::size_t digit = 1; digit <= 3; ++digit)
                code = code * 8 + (text[i + digit] - '0');
            plain += static_cast<char>(code);
            i += 3;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

/// The type of the topmost mount at `path`; empty when nothing is mounted there.
Result<std::string> type_at(const std::string& path) {
    TRY_ASSIGN(const std::string table, sys::read_file_at(AT_FDCWD, "/proc/self/mountinfo"));
    std::istringstream lines(table);
    std::string type;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string word;
        std::string place;
        for (int i = 0; i < 5 && (words >> word); ++i)
            place = word;
        if (unescape(place) != path) continue;
        while (words >> word && word != "-") {
        }
        words >> type;  // a later line is mounted over an earlier one
    }
    return type;
}

/// The mountpoint without asking the dead filesystem: only what leads to it is resolved.
Result<std::string> resolve_above(std::string path) {
    while (path.size() > 1 && path.back() == '/')
        path.pop_back();
    const std::size_t slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    if (name.empty() || name == "." || name == "..") return resolve_mountpoint(path);
    TRY_ASSIGN(std::string resolved, resolve_mountpoint(parent));
    if (resolved.back() != '/') resolved += '/';
    return resolved + name;
}

}  // namespace

Result<> unmount_unused(const std::string& path) {
    return unmount_path(path, /*lazily=*/false, /*force=*/false);
}

Result<> unmount_stale(const std::string& path) {
    TRY_ASSIGN(const std::string place, resolve_above(path));
    constexpr int kMostStacked = 16;
    for (int taken = 0; taken < kMostStacked; ++taken) {
        TRY_ASSIGN(const std::string type, type_at(place));
        if (type != kType) {
            if (taken > 0) return {};
            return Error(ErrorKind::kNothing, EINVAL,
                         "cannot unmount " + place + ": nothing is mounted");
        }
        if (auto done = unmount_path(place, true, true); !done) {
            return done.error().with_context("cannot unmount " + place);
        }
    }
    return {};
}

}  // namespace unwrite::fs
