#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/landlock.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>

#include "base/confinement.h"
#include "base/retry.h"
#include "base/syscalls.h"

namespace unwrite::sys {

namespace {

// What the oldest supported headers do not name yet.
constexpr std::uint64_t kTruncate = 1u << 14;
constexpr std::uint64_t kDeviceIoctl = 1u << 15;
constexpr std::uint64_t kScopeAbstractSockets = 1u << 0;
constexpr std::uint64_t kScopeSignals = 1u << 1;

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__) && defined(__AARCH64EL__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#elif defined(__riscv) && __riscv_xlen == 64
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_RISCV64;
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_PPC64LE;
#elif defined(__s390x__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_S390X;
#else
#error "name the architecture of this machine (linux/audit.h)"
#endif
/// The calls of x32 share the architecture of x86-64 and have this bit. Elsewhere no call has it.
constexpr std::uint32_t kFirstOfX32 = 0x40000000;

struct RulesetAttributes {
    std::uint64_t fs = 0;
    std::uint64_t net = 0;
    std::uint64_t scoped = 0;
};

/// What a rule about something that is not a directory may name.
constexpr std::uint64_t kFileRights = LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kDeviceIoctl;

Result<> done(long answer) {
    if (answer < 0) return Error(errno);
    return {};
}

Result<> write_map(const std::string& path, const std::string& text) {
    TRY_ASSIGN(const UniqueFd file, open_at(AT_FDCWD, path, O_WRONLY));
    // The kernel takes a map in one write, at the beginning.
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    return done(written == static_cast<ssize_t>(text.size()) ? 0 : -1);
}

Result<> map_ids(const std::string& path, unsigned own) {
    if (write_map(path, "0 0 4294967295\n")) return {};
    return write_map(path, std::to_string(own) + " " + std::to_string(own) + " 1\n");
}

std::uint64_t write_rights(long version) {
    std::uint64_t rights = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                           LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                           LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                           LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                           LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
    if (version >= 2) rights |= LANDLOCK_ACCESS_FS_REFER;
    if (version >= 3) rights |= kTruncate;
    if (version >= 5) rights |= kDeviceIoctl;
    return rights;
}

Result<UniqueFd> copied_mounts(int at, const char* path, unsigned flags) {
    const long fd = ::syscall(SYS_open_tree, at, path,
                              OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | flags);
    if (fd < 0) return Error(errno);
    return UniqueFd(static_cast<int>(fd));
}

}  // namespace

Result<pid_t> fork_into(unsigned namespaces) {
    const long pid = ::syscall(SYS_clone, namespaces | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (pid < 0) return Error(errno);
    return static_cast<pid_t>(pid);
}

Result<> map_users(pid_t child) {
    const std::string process = "/proc/" + std::to_string(child) + "/";
    TRY(map_ids(process + "uid_map", ::geteuid()));
    if (write_map(process + "gid_map", "0 0 4294967295\n")) return {};
    TRY(write_map(process + "setgroups", "deny"));
    return map_ids(process + "gid_map", ::getegid());
}

Result<> separate_mounts() {
    constexpr unsigned long kFlags = MS_REC | MS_PRIVATE;
    return done(::syscall(SYS_mount, nullptr, "/", nullptr, kFlags, nullptr));
}

Result<UniqueFd> copy_mounts(const std::string& path) {
    return copied_mounts(AT_FDCWD, path.c_str(), 0);
}

Result<UniqueFd> copy_mounts(int place) {
    return copied_mounts(place, "", AT_EMPTY_PATH);
}

Result<> put_mounts(int copy, const std::string& path) {
    return done(::syscall(SYS_move_mount, copy, "", AT_FDCWD, path.c_str(),
                          MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_SYMLINKS));
}

Result<> make_mounts_read_only() {
    struct mount_attr attributes = {};
    attributes.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID;
    return done(
        ::syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, &attributes, sizeof attributes));
}

Result<> make_copy_read_only(int copy) {
    struct mount_attr attributes = {};
    attributes.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID;
    return done(::syscall(SYS_mount_setattr, copy, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                          sizeof attributes));
}

Result<> mount_new(const std::string& type, const std::string& path, const std::string& options,
                   bool devices) {
    const unsigned long flags = MS_NOSUID | (devices ? 0 : MS_NODEV);
    return done(::syscall(SYS_mount, "unwrite", path.c_str(), type.c_str(), flags,
                          options.empty() ? nullptr : options.c_str()));
}

Result<> unmount(const std::string& path) {
    return done(::syscall(SYS_umount2, path.c_str(), 2 /* MNT_DETACH */));
}

Result<> keep_capabilities(std::uint64_t kept) {
    ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    for (unsigned long number = 0; ::prctl(PR_CAPBSET_READ, number, 0, 0, 0) >= 0; ++number) {
        // Refused to those who have none; they gain none either, with no new privileges.
        if ((kept >> number & 1) == 0) ::prctl(PR_CAPBSET_DROP, number, 0, 0, 0);
    }
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<struct __user_cap_data_struct, 2> data = {};
    TRY(done(::syscall(SYS_capget, &header, data.data())));
    for (std::size_t half = 0; half < data.size(); ++half) {
        const std::uint32_t mask = static_cast<std::uint32_t>(kept >> (32 * half));
        data[half].permitted &= mask;
        data[half].effective = data[half].permitted;
        data[half].inheritable = 0;
    }
    return done(::syscall(SYS_capset, &header, data.data()));
}

Result<> forbid_new_privileges() {
    return done(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
}

Result<> forbid_typing() {
    // Only the lower half of the request counts in the kernel. Numbers mean something only for one
    // architecture: by the calls of another one (`int $0x80`) the same ioctl has another number.
    constexpr unsigned kRequest = offsetof(struct seccomp_data, args) + sizeof(std::uint64_t);
    constexpr unsigned kLowHalf = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4;
    std::array<struct sock_filter, 12> code = {{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 0, 9),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kFirstOfX32, 6, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kRequest + kLowHalf),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCSTI, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCLINUX, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    }};
    const struct sock_fprog program = {static_cast<unsigned short>(code.size()), code.data()};
    return done(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0));
}

Result<> leave_keyrings() {
    // What fails here is caught by the filter.
    ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
    std::array<struct sock_filter, 6> code = {{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_keyctl, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_add_key, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_request_key, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    }};
    const struct sock_fprog program = {static_cast<unsigned short>(code.size()), code.data()};
    return done(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0));
}

Result<> bring_up_loopback() {
    // Any socket does for this; the name of the interface is the kernel's.
    const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket) return Error(errno);
    struct ifreq request = {};
    request.ifr_name[0] = 'l';
    request.ifr_name[1] = 'o';
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    return done(::ioctl(socket.get(), SIOCSIFFLAGS, &request));
}

Result<> close_from(int first) {
    return done(::syscall(SYS_close_range, static_cast<unsigned>(first), ~0u, 0u));
}

Result<WriteWall> WriteWall::create() {
    const long version =
        ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 0) return Error(errno);
    RulesetAttributes attributes;
    attributes.fs = write_rights(version);
    if (version >= 6) attributes.scoped = kScopeAbstractSockets | kScopeSignals;
    // An older kernel takes a longer structure when the rest of it is zero.
    const long fd = ::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
    if (fd < 0) return Error(errno);
    WriteWall wall;
    wall.ruleset_ = UniqueFd(static_cast<int>(fd));
    wall.handled_ = attributes.fs;
    wall.covers_abstract_sockets_ = (attributes.scoped & kScopeAbstractSockets) != 0;
    return wall;
}

Result<> WriteWall::allow(const std::string& path) const {
    const UniqueFd place(retry([&] { return ::open(path.c_str(), O_PATH | O_CLOEXEC); }));
    if (!place) return Error(errno);
    return allow(place.get());
}

Result<> WriteWall::allow(int place) const {
    TRY_ASSIGN(const struct stat st, stat_fd(place));
    struct landlock_path_beneath_attr rule = {};
    rule.parent_fd = place;
    rule.allowed_access = S_ISDIR(st.st_mode) ? handled_ : handled_ & kFileRights;
    return done(
        ::syscall(SYS_landlock_add_rule, ruleset_.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0));
}

Result<> WriteWall::enforce() const {
    return done(::syscall(SYS_landlock_restrict_self, ruleset_.get(), 0));
}

}  // namespace unwrite::sys
