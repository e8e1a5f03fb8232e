#include "cli/context.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "base/syscalls.h"

namespace unwrite::cli {

int exit_code(const Error& error) {
    switch (error.kind()) {
        case ErrorKind::kSystem:
            return kFailed;
        case ErrorKind::kUsage:
            return kUsage;
        case ErrorKind::kNothing:
            return kNothingToDo;
        case ErrorKind::kRefused:
            return kRefused;
        case ErrorKind::kConflict:
            return kConflict;
        case ErrorKind::kNoWorkspace:
            return kNoWorkspace;
        case ErrorKind::kRecovery:
            return kNeedsRecovery;
        case ErrorKind::kCorrupt:
            return kNeedsRecovery;
        case ErrorKind::kNotFound:
            return kFailed;
    }
    return kFailed;
}

overlay::Asker asker() {
    overlay::Asker self;
    self.uid = ::geteuid();
    self.pid = ::getpid();
    if (const char* session = std::getenv("UNWRITE_SESSION")) self.session = session;
    return self;
}

std::string absolute_path(const std::string& base, const std::string& path) {
    const std::string joined = path.starts_with('/') ? path : base + "/" + path;
    std::string clean;
    for (std::size_t at = 0; at < joined.size();) {
        const std::size_t end = std::min(joined.find('/', at), joined.size());
        const std::string part = joined.substr(at, end - at);
        at = end + 1;
        if (part.empty() || part == ".") continue;
        if (part == "..") {
            clean.erase(clean.empty() ? 0 : clean.rfind('/'));
        } else {
            clean += "/" + part;
        }
    }
    return clean.empty() ? "/" : clean;
}

Result<std::string> real_path(const std::string& base, const std::string& path) {
    const std::string joined = path.starts_with('/') ? path : base + "/" + path;
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(joined.c_str(), nullptr),
                                                           &std::free);
    if (real) return std::string(real.get());
    const Error error = sys::last_error();
    if (error.number() != ENOTCONN) return error;
    const std::string absolute = absolute_path(base, path);
    const std::size_t slash = absolute.rfind('/');
    if (absolute == "/") return error;
    TRY_ASSIGN(const std::string parent,
               real_path("/", absolute.substr(0, std::max<std::size_t>(slash, 1))));
    return (parent == "/" ? "" : parent) + absolute.substr(slash);
}

}  // namespace unwrite::cli
