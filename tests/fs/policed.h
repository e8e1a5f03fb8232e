// A mount with the default rules, which bind agents alone or everyone, over a workspace with names
// that they protect, and processes that are the user or an agent, as root (or whoever runs the
// test) or as another user.
#pragma once

#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <tuple>

#include "tests/fs/served.h"

namespace unwrite::tests {

struct Subject {
    const char* name;
    uid_t uid;
    bool agent;
};
inline constexpr Subject kSubjects[] = {{"root", 0, false},
                                        {"root_agent", 0, true},
                                        {"nobody", 65534, false},
                                        {"nobody_agent", 65534, true}};

class PolicedMount : public ::testing::Test {
 protected:
    /// `bind`: whom the rules bind.
    explicit PolicedMount(overlay::Subjects bind = overlay::Subjects::kAgents)
        : served_(0, options(bind)) {}
    static overlay::SessionOptions options(overlay::Subjects bind) {
        overlay::SessionOptions options;
        auto policy = overlay::Policy::compile(overlay::default_rules(bind));
        if (policy) options.policy = *policy;
        return options;
    }
    void SetUp() override {
        SKIP_WITHOUT_MOUNT(served_);
        for (const char* directory :
             {".ssh", ".git/hooks", ".config/gcloud", "tree/below", "dir", "plant/hooks", "empty"})
            std::filesystem::create_directories(raw(directory));
        for (const char* file : {".env", ".ssh/config", ".git/hooks/pre-commit", "plant/hooks/x",
                                 ".config/gcloud/token", "free", "other"}) {
            std::ofstream(raw(file)) << "bytes\n";
            ASSERT_EQ(::setxattr(raw(file).c_str(), "user.was", "v", 1, 0), 0);
        }
        std::filesystem::create_hard_link(raw(".env"), raw("alias"));
        std::filesystem::create_symlink(".env", raw("tolink"));
        for (const auto& entry : std::filesystem::recursive_directory_iterator(raw("."))) {
            if (entry.path().string().find("/.unwrite") != std::string::npos) continue;
            const bool directory = entry.is_directory();
            if (entry.is_symlink()) continue;
            ASSERT_EQ(::chmod(entry.path().c_str(), directory ? 0777 : 0666), 0);
        }
        ASSERT_EQ(::chmod(raw(".").c_str(), 0777), 0);
        // All of that was there when the task began.
        ASSERT_EQ(served_.order("task"), "ok");
    }
    std::filesystem::path raw(const std::string& name) const {
        return std::filesystem::path("/proc/self/fd") / std::to_string(served_.raw()) / name;
    }
    /// Everything behind the mount, with its times.
    std::string look() const {
        std::string all;
        std::vector<std::filesystem::path> paths{raw(".")};
        for (const auto& entry : std::filesystem::recursive_directory_iterator(raw(".")))
            paths.push_back(entry.path());
        std::sort(paths.begin(), paths.end());
        for (const auto& path : paths) {
            struct stat st = {};
            if (path.string().find("/.unwrite") != std::string::npos) continue;
            EXPECT_EQ(::lstat(path.c_str(), &st), 0);
            all += path.filename().string() + ' ' + std::to_string(st.st_ino) + ' ' +
                   std::to_string(st.st_mode) + ' ' + std::to_string(st.st_uid) + ' ' +
                   std::to_string(st.st_size) + ' ' + std::to_string(st.st_nlink) + ' ' +
                   std::to_string(st.st_mtim.tv_nsec) + ' ' + std::to_string(st.st_ctim.tv_sec) +
                   '.' + std::to_string(st.st_ctim.tv_nsec);
            if (S_ISREG(st.st_mode)) {
                const auto text = sys::read_file_at(AT_FDCWD, path);
                all += ' ' + (text ? *text : "?");
            }
            all += '\n';
        }
        return all;
    }
    static bool can_be(const Subject& subject) { return subject.uid == 0 || ::geteuid() == 0; }
    /// Runs the body in the mount, as that subject; its result is the exit status.
    int as(const Subject& subject, const std::function<int()>& body) {
        int go[2];
        EXPECT_EQ(::pipe(go), 0);
        const pid_t child = ::fork();
        if (child == 0) {
            char c = 0;
            const bool ready =
                ::read(go[0], &c, 1) == 1 && ::chdir(served_.path().c_str()) == 0 &&
                (::geteuid() != 0 || (::setgid(subject.uid) == 0 && ::setuid(subject.uid) == 0));
            ::umask(0);
            ::_exit(ready ? body() : 99);
        }
        if (subject.agent) {
            EXPECT_EQ(served_.order("run " + std::to_string(child)), "ok");
        }
        EXPECT_EQ(::write(go[1], "g", 1), 1);
        int status = 0;
        ::waitpid(child, &status, 0);
        ::close(go[0]);
        ::close(go[1]);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    Served served_;
};

/// 0 or the errno.
inline int ended(long result) {
    return result < 0 ? errno : 0;
}

/// Opens and goes on; the errno of whichever fails.
template <class Then>
int with_open(const char* path, int flags, const Then& then) {
    const UniqueFd fd(::open(path, flags | O_CLOEXEC, 0644));
    return fd.get() < 0 ? errno : then(fd.get());
}

}  // namespace unwrite::tests
