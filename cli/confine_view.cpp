#include "cli/confine_view.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/confinement.h"
#include "base/syscalls.h"
#include "control/mounts.h"
#include "overlay/tree.h"

namespace unwrite::cli {

namespace {

/// Copies made before the mounts become read-only, and where they go.
using Copies = std::vector<std::pair<UniqueFd, std::string>>;

constexpr const char* kDevices[] = {"null", "zero", "full", "random", "urandom", "tty"};
/// Whoever listens there does on request what the command may not do itself.
constexpr const char* kHelpers[] = {
    "/run/systemd/private",    "/run/dbus/system_bus_socket",     "/run/docker.sock",
    "/run/podman/podman.sock", "/run/containerd/containerd.sock", "/run/crio/crio.sock"};

/// They look names up for whoever asks, and so carry words out of a network namespace.
constexpr const char* kResolvers[] = {"/run/nscd/socket", "/var/run/nscd/socket",
                                      "/run/systemd/resolve/io.systemd.Resolve",
                                      "/run/avahi-daemon/socket"};

bool is_directory(const std::string& path) {
    const Result<struct stat> st = sys::stat_at(AT_FDCWD, path);
    return st && S_ISDIR(st->st_mode);
}

bool exists(const std::string& path) {
    return static_cast<bool>(sys::stat_at(AT_FDCWD, path));
}

/// Directories where the user's own programs listen, and where anybody writes.
std::vector<std::string> private_directories() {
    const std::string uid = std::to_string(::geteuid());
    std::vector<std::string> all = {"/tmp", "/var/tmp", "/run/user/" + uid, "/run/unwrite-" + uid};
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    const char* home = std::getenv("HOME");
    const std::string named = runtime != nullptr ? runtime : "";
    const bool is_plain = named.starts_with('/') && named.find('/', 1) != std::string::npos;
    if (is_plain && !control::is_within(home != nullptr ? home : "", named)) all.push_back(named);
    return all;
}

Result<> copy(Copies& copies, Result<UniqueFd> tree, const std::string& from,
              const std::string& to) {
    if (!tree) return tree.error().with_context("cannot copy the mounts at " + from);
    copies.emplace_back(std::move(*tree), to);
    return {};
}

Result<> copy(Copies& copies, const std::string& from, const std::string& to) {
    return copy(copies, sys::copy_mounts(from), from, to);
}

Result<> put(const UniqueFd& tree, const std::string& path) {
    TRY_ASSIGN(const struct stat st, sys::stat_fd(tree.get()));
    if (S_ISDIR(st.st_mode)) {
        TRY(make_directories(path));
    } else if (!exists(path)) {
        TRY(make_directories(std::filesystem::path(path).parent_path().string()));
        TRY(sys::make_node(AT_FDCWD, path, S_IFREG | 0600, 0));
    }
    const Result<> placed = sys::put_mounts(tree.get(), path);
    return placed ? placed : placed.error().with_context("cannot mount " + path);
}

Result<> put_all(const Copies& copies) {
    for (const auto& [tree, path] : copies)
        TRY(put(tree, path));
    return {};
}

/// A /dev without disks, without /dev/fuse, and without the terminals of others.
Result<> make_devices(const Copies& devices, std::vector<std::string>& missing) {
    TRY(sys::mount_new("tmpfs", "/dev", "mode=755,size=64k", true));
    TRY(put_all(devices));
    TRY(sys::make_directory(AT_FDCWD, "/dev/shm", 01777));
    TRY(sys::make_directory(AT_FDCWD, "/dev/pts", 0755));
    TRY(sys::make_symlink(AT_FDCWD, "/dev/fd", "/proc/self/fd"));
    for (const auto& [name, number] : {std::pair("stdin", 0), {"stdout", 1}, {"stderr", 2}}) {
        TRY(sys::make_symlink(AT_FDCWD, fmt::format("/dev/{}", name),
                              fmt::format("/proc/self/fd/{}", number)));
    }
    TRY(sys::make_symlink(AT_FDCWD, "/dev/ptmx", "pts/ptmx"));
    TRY(sys::mount_new("tmpfs", "/dev/shm", "mode=1777"));
    if (!sys::mount_new("devpts", "/dev/pts", "newinstance,ptmxmode=0666,mode=620", true)) {
        missing.emplace_back("terminals of its own");
    }
    return {};
}

Result<> gather(const Confinement& confinement, Copies& devices, Copies& helpers, Copies& places) {
    for (const char* name : kDevices) {
        const std::string path = fmt::format("/dev/{}", name);
        if (exists(path)) TRY(copy(devices, path, path));
    }
    for (const char* path : kHelpers)
        if (exists(path)) TRY(copy(helpers, "/dev/null", path));
    for (const char* path : kResolvers)
        if (!confinement.network && exists(path)) TRY(copy(helpers, "/dev/null", path));
    // The outer ones first: what is put later lies over it.
    for (const GrantedPlace& place : confinement.writable) {
        TRY_ASSIGN(const UniqueFd opened, open_granted(place));
        TRY(copy(places, sys::copy_mounts(opened.get()), place.path, place.path));
    }
    if (confinement.raw != confinement.root) TRY(copy(places, confinement.root, confinement.raw));
    TRY(copy(places, confinement.root, confinement.root));
    if (!confinement.annex.empty()) {
        const std::string through = confinement.root + "/" + overlay::kAnnexEntry;
        TRY(copy(places, through, confinement.annex));
    }
    if (!confinement.socket.empty()) TRY(copy(places, confinement.socket, confinement.socket));
    return {};
}

}  // namespace

Result<> make_directories(const std::string& path) {
    if (exists(path)) return {};
    TRY(make_directories(std::filesystem::path(path).parent_path().string()));
    return sys::make_directory(AT_FDCWD, path, 0700);
}

Result<HomeLayer> make_view(const Confinement& confinement, std::vector<std::string>& missing) {
    TRY(sys::separate_mounts());
    TRY_ASSIGN(HomeLayer home, HomeLayer::prepare(confinement.home));
    Copies devices;
    Copies helpers;
    Copies places;
    TRY(gather(confinement, devices, helpers, places));
    TRY(sys::make_mounts_read_only());
    TRY(put_all(helpers));
    for (const std::string& path : private_directories()) {
        if (!is_directory(path)) continue;
        const bool is_common = path == "/tmp" || path == "/var/tmp";
        TRY(sys::mount_new("tmpfs", path, is_common ? "mode=1777" : "mode=700"));
    }
    TRY(make_devices(devices, missing));
    const Result<> layered = home.put();
    if (!layered && !confinement.home.shown.empty()) return layered.error();
    if (!layered) {
        missing.push_back("a home directory of its own (" + layered.error().message() + ")");
    }
    if (!home.uncovered().empty()) {
        missing.push_back("private copies of directories at home (" + home.uncovered() + ")");
    }
    TRY(put_all(places));
    // Containers that hide parts of /proc allow no other.
    if (!sys::mount_new("proc", "/proc", "")) missing.emplace_back("a /proc of its own");
    return home;
}

std::vector<GrantedPlace> writable_places(const Confinement& confinement) {
    std::vector<GrantedPlace> places = confinement.writable;
    const auto add = [&](const std::string& path) { places.push_back({path, 0, 0}); };
    add(confinement.root);
    if (!confinement.annex.empty()) add(confinement.annex);
    // What lies under the layer cannot be reached through it.
    const HomeView& home = confinement.home;
    std::for_each(home.live.begin(), home.live.end(), add);
    if (!home.home.empty()) add(home.home);
    for (const char* path : {"/tmp", "/var/tmp", "/dev/shm", "/dev/pts", "/dev/null", "/dev/zero",
                             "/dev/full", "/dev/tty", "/dev/random", "/dev/urandom"}) {
        if (exists(path)) add(path);
    }
    return places;
}

std::vector<std::string> cache_directories() {
    const char* home = std::getenv("HOME");
    std::vector<std::string> found;
    if (home == nullptr || home[0] != '/') return found;
    for (const char* name : {".cache", ".npm", ".cargo/registry", ".cargo/git", ".gradle/caches",
                             ".m2/repository", ".ccache", "go/pkg", ".local/share/pnpm"}) {
        const std::string path = fmt::format("{}/{}", home, name);
        if (is_directory(path)) found.push_back(path);
    }
    return found;
}

}  // namespace unwrite::cli
