#include "cli/granted_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>

#include "base/open_beneath.h"
#include "base/syscalls.h"
#include "cli/context.h"
#include "cli/text.h"

namespace unwrite::cli {

namespace {

/// The first name of the path that is a link, "" if none is.
std::string first_link(const std::string& path) {
    for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
        const std::string above = path.substr(0, end);
        const Result<struct stat> st = sys::stat_at(AT_FDCWD, above);
        if (st && S_ISLNK(st->st_mode)) return above;
        if (end == std::string::npos) return {};
    }
}

Error behind_a_link(const std::string& place, const std::string& absolute) {
    const std::string link = first_link(absolute);
    const Result<std::string> target = sys::read_link(AT_FDCWD, link);
    const Result<std::string> real = real_path("/", absolute);
    return Error(ErrorKind::kUsage, ELOOP,
                 fmt::format("run: --write {}: {} is a symbolic link{}", quote_name(place),
                             quote_name(link), target ? " to " + quote_name(*target) : ""),
                 real ? "if you mean what it leads to, unwrite run --write " + quote_name(*real) +
                            " -- COMMAND..."
                      : "name a directory or file that exists");
}

}  // namespace

Result<GrantedPlace> granted_place(const std::string& base, const std::string& place,
                                   UniqueFd& held) {
    const std::string absolute = place.starts_with('/') ? place : base + "/" + place;
    Result<UniqueFd> opened = sys::open_without_links(absolute, O_PATH);
    if (!opened && opened.error().number() == ELOOP) return behind_a_link(place, absolute);
    if (!opened) {
        return Error(ErrorKind::kUsage, opened.error().number(),
                     "run: --write " + quote_name(place) + ": " + opened.error().message(),
                     "name a directory or file that exists");
    }
    held = *std::move(opened);
    TRY_ASSIGN(const struct stat st, sys::stat_fd(held.get()));
    // Without "." and "..", which the kernel has resolved.
    TRY_ASSIGN(std::string path,
               sys::read_link(AT_FDCWD, fmt::format("/proc/self/fd/{}", held.get())));
    return GrantedPlace{std::move(path), st.st_dev, st.st_ino};
}

Result<UniqueFd> open_granted(const GrantedPlace& place) {
    if (place.inode == 0) return sys::open_following(place.path, O_PATH);
    Result<UniqueFd> opened = sys::open_without_links(place.path, O_PATH);
    if (!opened) return opened.error().with_context("cannot open " + quote_name(place.path));
    TRY_ASSIGN(const struct stat st, sys::stat_fd(opened->get()));
    if (st.st_dev != place.device || st.st_ino != place.inode) {
        return Error(ErrorKind::kRefused, ESTALE,
                     quote_name(place.path) + " is not what it was when the run began");
    }
    return opened;
}

std::string encode(const GrantedPlace& place) {
    return fmt::format("{}:{}:{}", place.device, place.inode, place.path);
}

Result<GrantedPlace> decode_granted(const std::string& word) {
    GrantedPlace place;
    const char* const end = word.data() + word.size();
    const auto device = std::from_chars(word.data(), end, place.device);
    if (device.ec != std::errc() || device.ptr == end || *device.ptr != ':') return Error(EINVAL);
    const auto inode = std::from_chars(device.ptr + 1, end, place.inode);
    if (inode.ec != std::errc() || inode.ptr == end || *inode.ptr != ':') return Error(EINVAL);
    place.path.assign(inode.ptr + 1, end);
    return place;
}

}  // namespace unwrite::cli
