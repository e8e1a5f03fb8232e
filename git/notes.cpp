#include "git/notes.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/syscalls.h"

namespace unwrite::git {

namespace {

using Json = nlohmann::ordered_json;  // the order of the members is part of the format

std::tm utc(std::int64_t now_ns) {
    return fmt::gmtime(static_cast<std::time_t>(now_ns / 1'000'000'000));
}

std::string joined(const std::vector<std::string>& list) {
    return list.empty() ? "none" : fmt::format("{}", fmt::join(list, ", "));
}

std::string message_line(const char* role, const std::string& text, std::int64_t now_ns) {
    Json line;
    line["type"] = "message";
    line["timestamp"] = fmt::format("{:%FT%T}.{:03}Z", utc(now_ns), now_ns / 1'000'000 % 1000);
    line["message"]["role"] = role;
    line["message"]["content"] = Json::array({Json{{"type", "text"}, {"text", text}}});
    // Names are bytes; JSON is not, so what is no UTF-8 is replaced.
    return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Error odd_file(const std::string& path, int number) {
    return Error(ErrorKind::kSystem, number, "append to " + path + ": it is not a regular file");
}

Result<bool> lacks_newline(const std::string& path, std::uint64_t size) {
    if (size == 0) return false;
    TRY_ASSIGN(const UniqueFd file, sys::open_at(AT_FDCWD, path, O_RDONLY | O_NONBLOCK));
    char last = '\n';
    TRY(sys::read_exactly_at(file.get(), std::as_writable_bytes(std::span(&last, 1)), size - 1));
    return last != '\n';
}

}  // namespace

std::string session_lines(const UndoneWork& work, std::int64_t now_ns) {
    std::string text = "[System: The user invoked /undo. The following changes were reverted: " +
                       joined(work.files) + ". ";
    if (!work.pull_requests.empty()) text += "PRs closed: " + joined(work.pull_requests) + ". ";
    text += "The agent should not re-apply these changes unless explicitly asked.]";
    return message_line("user", text, now_ns) +
           message_line("assistant",
                        "Understood. I've noted that the previous changes were undone. I won't "
                        "re-apply them unless you ask.",
                        now_ns);
}

std::string memory_line(const UndoneWork& work, std::int64_t now_ns) {
    std::string files = joined(work.files);
    // One event is one line, whatever a file is called.
    for (char& c : files) {
        if (c == '\n' || c == '\r') c = '?';
    }
    return fmt::format(
        "[{:%F %H:%M}] User undid agent changes on issue #{}. Files reverted: {}. PRs closed: "
        "{}.\n",
        utc(now_ns), work.issue, files, work.pull_requests.size());
}

Result<bool> is_there(const std::string& path) {
    const Result<struct stat> st = sys::stat_at(AT_FDCWD, path);
    if (!st && (st.error().number() == ENOENT || st.error().number() == ENOTDIR)) return false;
    if (!st) return st.error().with_context("look at " + path);
    if (!S_ISREG(st->st_mode)) return odd_file(path, EINVAL);
    return true;
}

Result<> append_to(const std::string& path, const std::string& text, bool create) {
    const int flags = O_WRONLY | O_APPEND | O_NONBLOCK | (create ? O_CREAT : 0);
    Result<UniqueFd> file = sys::open_at(AT_FDCWD, path, flags, 0644);
    if (!file && (file.error().number() == ELOOP || file.error().number() == ENXIO)) {
        return odd_file(path, file.error().number());
    }
    if (!file) return file.error().with_context("append to " + path);
    TRY_ASSIGN(const struct stat st, sys::stat_fd(file->get()));
    if (!S_ISREG(st.st_mode)) return odd_file(path, EINVAL);
    const std::uint64_t size = static_cast<std::uint64_t>(st.st_size);
    TRY_ASSIGN(const bool lacking, lacks_newline(path, size));
    const std::string all = lacking ? "\n" + text : text;
    const Result<> written = sys::write_all_at(file->get(), std::as_bytes(std::span(all)), size);
    if (!written) return written.error().with_context("append to " + path);
    return {};
}

}  // namespace unwrite::git
