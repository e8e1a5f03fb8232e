#include "tests/parity/mounted.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/syscalls.h"
#include "tests/parity/cell.h"

namespace unwrite::tests::parity {

namespace {

// A command that takes longer has hung.
constexpr unsigned kMostSeconds = 120;

std::string program() {
    const char* build = std::getenv("UNWRITE_BUILD_DIR");
    return build != nullptr ? std::string(build) + "/unwrite" : std::string("unwrite");
}

/// The child's side; does not return.
[[noreturn]] void execute(const std::vector<std::string>& words, const std::string& home,
                          const std::string& output) {
    std::vector<char*> arguments;
    std::vector<std::string> copies = words;
    for (std::string& word : copies)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::alarm(kMostSeconds);
    if (is_owner_itself()) drop_capabilities();
    const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const int in = ::open("/dev/null", O_RDONLY);
    ::setenv("HOME", home.c_str(), 1);
    ::setenv("XDG_CONFIG_HOME", home.c_str(), 1);
    ::setenv("XDG_RUNTIME_DIR", home.c_str(), 1);
    ::unsetenv("UNWRITE_SESSION");
    if (::dup2(in, 0) == 0 && ::dup2(out, 1) == 1 && ::dup2(out, 2) == 2)
        ::execvp(arguments[0], arguments.data());
    ::_exit(127);
}

std::string text_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

bool is_owner_itself() {
    return ::geteuid() == kOwner && ::getegid() == kGroup && ::getgroups(0, nullptr) == 0;
}

namespace {

using Capabilities = std::array<__user_cap_data_struct, 2>;
__user_cap_header_struct this_process() {
    return {_LINUX_CAPABILITY_VERSION_3, 0};
}

void set_capabilities(const Capabilities& wanted) {
    auto header = this_process();
    if (::syscall(SYS_capset, &header, wanted.data()) != 0) std::abort();
}

}  // namespace

void drop_capabilities() {
    ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    set_capabilities({});
}

WithoutCapabilities::WithoutCapabilities() : lowered_(is_owner_itself()) {
    if (lowered_) set(false);
}

WithoutCapabilities::~WithoutCapabilities() {
    if (lowered_) set(true);
}

void WithoutCapabilities::set(bool effective) {
    auto header = this_process();
    Capabilities own{};
    if (::syscall(SYS_capget, &header, own.data()) != 0) std::abort();
    for (auto& half : own)
        half.effective = effective ? half.permitted : 0;
    set_capabilities(own);
}

std::string why_not_here() {
    if (::geteuid() != 0 && !is_owner_itself()) return "needs root, to be several users";
    if (!sys::open_at(AT_FDCWD, "/dev/fuse", O_RDWR)) return "no /dev/fuse here";
    return {};
}

Mounted::Mounted(std::string workspace, std::string home)
    : workspace_(std::move(workspace)), home_(std::move(home)) {
    auto raw = sys::open_at(AT_FDCWD, workspace_, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!raw) {
        failure_ = raw.error().message();
        return;
    }
    raw_ = std::move(*raw);
    failure_ = command({"mount", workspace_});
}

Mounted::~Mounted() {
    if (!command({"unmount", workspace_}).empty()) ::umount2(workspace_.c_str(), MNT_DETACH);
}

std::string Mounted::raw() const {
    return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(raw_.get()) + "/.";
}

std::string Mounted::command(const std::vector<std::string>& words) const {
    std::vector<std::string> all = {program()};
    const bool is_inside = words[0] != "mount" && words[0] != "unmount";
    if (is_inside) all.insert(all.end(), {"-C", workspace_});
    all.insert(all.end(), words.begin(), words.end());
    const std::string output = home_ + "/said";
    const pid_t child = ::fork();
    if (child == 0) execute(all, home_, output);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    return words[0] + " ended with status " + std::to_string(status) + ": " + text_of(output);
}

}  // namespace unwrite::tests::parity
