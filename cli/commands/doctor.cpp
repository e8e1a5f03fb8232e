#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/reflink.h"
#include "base/syscalls.h"
#include "cli/commands/commands.h"
#include "cli/help.h"
#include "cli/processes.h"
#include "cli/text.h"
#include "cli/workspace.h"
#include "fs/mount.h"

namespace unwrite::cli {

namespace {

struct DoctorOptions {};

enum class Verdict { kGood, kNote, kBad };

struct Finding {
    std::string what;
    Verdict verdict = Verdict::kGood;
    std::string text;
    std::string advice;
};

std::string in_path(const std::string& program) {
    const char* path = std::getenv("PATH");
    std::string rest = path != nullptr ? path : "/usr/bin:/bin";
    rest += ':';
    for (std::size_t end = rest.find(':'); end != std::string::npos; end = rest.find(':')) {
        const std::string candidate = rest.substr(0, end) + "/" + program;
        if (end > 0 && ::access(candidate.c_str(), X_OK) == 0) return candidate;
        rest.erase(0, end + 1);
    }
    return {};
}

Finding device() {
    if (fs::is_fuse_available()) return {"/dev/fuse", Verdict::kGood, "can be opened", ""};
    const bool there = sys::stat_at(AT_FDCWD, "/dev/fuse").ok();
    return {"/dev/fuse", Verdict::kBad, there ? "may not be opened" : "is missing",
            there ? "let this user read and write it, or run as root"
                  : "load the kernel's module (`modprobe fuse`), or give the container --device "
                    "/dev/fuse"};
}

Finding helper() {
    const std::string found = in_path("fusermount3");
    if (!found.empty()) return {"fusermount3", Verdict::kGood, found, ""};
    const bool root = ::geteuid() == 0;
    return {"fusermount3", root ? Verdict::kNote : Verdict::kBad,
            root ? "not installed (root mounts without it)" : "not installed",
            "install the package fuse3"};
}

Finding kernel() {
    struct utsname name = {};
    ::uname(&name);
    return {"kernel", Verdict::kGood, fmt::format("{} {}", name.sysname, name.release), ""};
}

Finding passthrough(const std::string& directory) {
    const Result<UniqueFd> fd = sys::open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
    const Result<> can = fs::can_pass_through(fd ? fd->get() : AT_FDCWD);
    if (can)
        return {"passthrough", Verdict::kGood,
                "available: mount --data-path passthrough, for bulk data", ""};
    return {"passthrough", Verdict::kNote, "unavailable, " + can.error().message(),
            can.error().advice()};
}

Finding idle_processors() {
    const Result<> can = fs::can_keep_awake();
    if (can)
        return {"idle", Verdict::kGood, "processors are kept awake while requests are coming", ""};
    const bool needless = can.error().number() == ENOTSUP;
    return {"idle", needless ? Verdict::kGood : Verdict::kNote,
            "processors sleep as they like: " + can.error().message(),
            needless ? "" : can.error().advice()};
}

Finding descriptors() {
    struct rlimit limit = {};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const std::string text = fmt::format("{} (at most {})", limit.rlim_cur, limit.rlim_max);
    if (limit.rlim_max >= 4096) return {"open files", Verdict::kGood, text, ""};
    return {"open files", Verdict::kNote, text, "raise `ulimit -Hn` for large trees"};
}

Finding reflink(const std::string& directory) {
    const Result<UniqueFd> fd = sys::open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
    if (!fd)
        return {"directory", Verdict::kBad, quote_name(directory) + ": " + fd.error().message(),
                ""};
    if (::faccessat(fd->get(), ".", W_OK, 0) != 0) {
        return {"directory", Verdict::kBad, quote_name(directory) + " cannot be written to",
                "a workspace must be writable"};
    }
    if (sys::can_share_blocks(fd->get()))
        return {"reflink", Verdict::kGood, "yes: before-images cost no copy", ""};
    return {"reflink", Verdict::kNote, "no: before-images are copied in blocks",
            "btrfs and xfs have it"};
}

void add_workspace(std::vector<Finding>& findings, const std::string& directory) {
    const Result<Workspace> workspace = Workspace::open_mounted(directory);
    if (!workspace) {
        const bool none = workspace.error().kind() == ErrorKind::kNoWorkspace;
        findings.push_back({"workspace", none ? Verdict::kNote : Verdict::kBad,
                            harmless(workspace.error().message()), workspace.error().advice()});
        return;
    }
    const control::DaemonInfo& info = workspace->remote()->info();
    findings.push_back({"workspace", Verdict::kGood,
                        fmt::format("{}, served by process {} (unwrite {})",
                                    quote_name(workspace->root()), info.pid, info.version),
                        ""});
    std::vector<User> raw = users_below(info.workspace, View::kRaw, workspace->mount()->mount);
    std::erase_if(raw, [&](const User& user) { return user.pid == info.pid; });
    if (raw.empty()) {
        findings.push_back({"raw view", Verdict::kGood, "no process is past the mount", ""});
    } else {
        findings.push_back({"raw view", Verdict::kNote, "past the mount are " + user_words(raw),
                            "they bypass unwrite; in a shell, run \"cd .\" to enter the mount"});
    }
}

const char* word(Verdict verdict) {
    switch (verdict) {
        case Verdict::kGood:
            return "ok";
        case Verdict::kNote:
            return "note";
        case Verdict::kBad:
            return "bad";
    }
    return "";
}

void print(Context& context, const std::vector<Finding>& findings) {
    control::Json list = control::Json::array();
    for (const Finding& finding : findings) {
        list.push_back({{"what", finding.what},
                        {"verdict", word(finding.verdict)},
                        {"text", control::encode_bytes(finding.text)},
                        {"hint", finding.advice}});
        if (context.json) continue;
        context.out.line(
            fmt::format("{:<5}{:<12} {}", word(finding.verdict), finding.what, finding.text));
        if (!finding.advice.empty()) context.out.line(fmt::format("{:<18}{}", "", finding.advice));
    }
    if (context.json) context.out.line(control::dump(control::Json{{"findings", list}}));
}

Result<int> doctor(Context& context, const DoctorOptions& /*options*/) {
    std::vector<Finding> findings = {
        device(),
        helper(),
        kernel(),
        passthrough(context.base),
        idle_processors(),
        {"program", Verdict::kGood, std::string("unwrite ") + UNWRITE_VERSION, ""},
        descriptors(),
        reflink(context.base)};
    const Result<Config> config = load_user_config();
    findings.push_back(config ? Finding{"settings", Verdict::kGood, "can be read", ""}
                              : Finding{"settings", Verdict::kBad, config.error().message(),
                                        config.error().advice()});
    add_workspace(findings, context.base);
    print(context, findings);
    const bool bad = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
        return finding.verdict == Verdict::kBad;
    });
    return bad ? kFailed : kDone;
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
    CLI::App* command = add_command(app, context, "doctor",
                                    "Show what works on this machine, and how to fix what does not",
                                    std::make_shared<DoctorOptions>(), doctor);
    describe(*command, {.usage = "",
                        .examples = {{"unwrite doctor", "also outside a workspace"},
                                     {"unwrite doctor --json", "for a bug report"}}});
}

}  // namespace unwrite::cli
