#include "overlay/act_as.h"

#include <linux/capability.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <sstream>

namespace unwrite::overlay {

namespace {

// The effective capabilities of this thread become what is permitted.
void raise_permitted() {
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2] = {};
    if (syscall(SYS_capget, &header, data) != 0) return;
    data[0].effective = data[0].permitted;
    data[1].effective = data[1].permitted;
    syscall(SYS_capset, &header, data);
}

}  // namespace

ActAs::ActAs(const Caller& caller) {
    static const bool is_root = geteuid() == 0;
    if (!is_root) return;
    if (caller.gid != 0) {
        setfsgid(caller.gid);
        changed_gid_ = true;
    }
    if (caller.uid != 0) {
        setfsuid(caller.uid);
        changed_uid_ = true;
        raise_permitted();
    }
}

ActAs::~ActAs() {
    if (changed_uid_) {
        setfsuid(0);
        raise_permitted();
    }
    if (changed_gid_) setfsgid(0);
}

bool is_in_group(const Caller& caller, gid_t group) {
    if (caller.gid == group) return true;
    if (caller.pid <= 0) return false;
    const auto status =
        sys::read_file_at(AT_FDCWD, "/proc/" + std::to_string(caller.pid) + "/status");
    if (!status) return false;
    constexpr std::string_view kLabel = "\nGroups:";
    const std::size_t begin = status->find(kLabel);
    if (begin == std::string::npos) return false;
    std::istringstream groups(status->substr(
        begin + kLabel.size(), status->find('\n', begin + 1) - begin - kLabel.size()));
    for (gid_t one = 0; groups >> one;) {
        if (one == group) return true;
    }
    return false;
}

}  // namespace unwrite::overlay
