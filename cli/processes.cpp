#include "cli/processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/syscalls.h"
#include "cli/text.h"
#include "control/mounts.h"

namespace unwrite::cli {

namespace {

std::uint64_t number_after(std::string_view text, std::string_view label) {
    const std::size_t at = text.find(label);
    if (at == std::string_view::npos) return 0;
    text.remove_prefix(at + label.size());
    while (!text.empty() && (text[0] == ' ' || text[0] == '\t'))
        text.remove_prefix(1);
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

bool is_for_writing(std::string_view details) {
    const std::size_t at = details.find("flags:");
    if (at == std::string_view::npos) return false;
    details.remove_prefix(std::min(details.find_first_of("0123456789", at), details.size()));
    unsigned flags = 0;
    std::from_chars(details.data(), details.data() + details.size(), flags, 8);
    return (flags & O_PATH) == 0 && (flags & O_ACCMODE) != O_RDONLY;
}

bool is_wanted(View view, std::uint64_t mount, std::uint64_t found) {
    if (view == View::kAny || found == 0) return view == View::kAny;
    return (found == mount) == (view == View::kMount);
}

class Scan {
 public:
    Scan(const std::string& path, View view, std::uint64_t mount)
        : path_(path), view_(view), mount_(mount) {}

    User look(const std::string& pid) const {
        User user;
        std::from_chars(pid.data(), pid.data() + pid.size(), user.pid);
        const std::string process = "/proc/" + pid;
        user.directory = uses_directory(process + "/cwd") || uses_directory(process + "/root");
        look_at_files(process, user);
        if (user.directory || user.files) {
            user.command = sys::read_file_at(AT_FDCWD, process + "/comm").value_or("?");
            if (user.command.ends_with('\n')) user.command.pop_back();
        }
        return user;
    }

 private:
    bool is_below(const std::string& link) const {
        const Result<std::string> target = sys::read_link(AT_FDCWD, link);
        return target && control::is_within(*target, path_);
    }
    bool uses_directory(const std::string& link) const {
        if (!is_below(link)) return false;
        if (view_ == View::kAny) return true;
        // With the dot the magic link is not the last component, which sys::open_at would not
        // follow.
        const Result<UniqueFd> fd = sys::open_at(AT_FDCWD, link + "/.", O_PATH);
        return fd && is_wanted(view_, mount_, mount_number(fd->get()));
    }
    void look_at_files(const std::string& process, User& user) const {
        const Result<UniqueFd> directory =
            sys::open_at(AT_FDCWD, process + "/fd", O_RDONLY | O_DIRECTORY);
        if (!directory) return;
        const Result<std::vector<sys::DirectoryEntry>> entries =
            sys::read_directory(directory->get());
        if (!entries) return;
        for (const sys::DirectoryEntry& entry : *entries) {
            if (!is_below(process + "/fd/" + entry.name)) continue;
            const Result<std::string> details =
                sys::read_file_at(AT_FDCWD, process + "/fdinfo/" + entry.name);
            const std::uint64_t mount = details ? number_after(*details, "mnt_id:") : 0;
            if (!is_wanted(view_, mount_, mount)) continue;
            // Only a directory has this name in it. fish holds its current one open.
            if (sys::stat_at(AT_FDCWD, process + "/fd/" + entry.name + "/.")) {
                user.directory = true;
                continue;
            }
            user.files = true;
            user.writes = user.writes || (details && is_for_writing(*details));
        }
    }

    const std::string& path_;
    const View view_;
    const std::uint64_t mount_;
};

}  // namespace

std::uint64_t mount_number(int fd) {
    const Result<std::string> text =
        sys::read_file_at(AT_FDCWD, "/proc/self/fdinfo/" + std::to_string(fd));
    return text ? number_after(*text, "mnt_id:") : 0;
}

std::vector<User> users_below(const std::string& path, View view, std::uint64_t mount) {
    std::vector<User> users;
    const Result<UniqueFd> proc = sys::open_at(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY);
    if (!proc) return users;
    const Result<std::vector<sys::DirectoryEntry>> entries = sys::read_directory(proc->get());
    if (!entries) return users;
    const Scan scan(path, view, mount);
    for (const sys::DirectoryEntry& entry : *entries) {
        if (entry.name.find_first_not_of("0123456789") != std::string::npos) continue;
        User user = scan.look(entry.name);
        if ((user.directory || user.files) && user.pid != ::getpid())
            users.push_back(std::move(user));
    }
    return users;
}

std::string user_words(const std::vector<User>& users) {
    constexpr std::size_t most = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(users.size(), most); ++i) {
        text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", quote_name(users[i].command),
                            users[i].pid);
    }
    if (users.size() > most) text += fmt::format(" and {} more", users.size() - most);
    return text;
}

}  // namespace unwrite::cli
