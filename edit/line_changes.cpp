#include "edit/line_changes.h"

#include <dlfcn.h>
#include <git2.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>

namespace unwrite::edit {

namespace {

/// The functions of libgit2 that are used. The library is loaded when first one of them is needed:
/// it brings a dozen others along (networks, cryptography), for which every start of the program,
/// that in a shell's prompt too, would wait.
class Git {
 public:
    Git() : library_(::dlopen("libgit2.so." LIBGIT2_SOVERSION, RTLD_NOW | RTLD_LOCAL)) {
        if (library_ == nullptr) return;
        const bool found =
            find(init, "git_libgit2_init") && find(last_error, "git_error_last") &&
            find(init_options, "git_diff_options_init") &&
            find(from_buffers, "git_patch_from_buffers") && find(free, "git_patch_free") &&
            find(count_hunks, "git_patch_num_hunks") && find(get_hunk, "git_patch_get_hunk");
        ready_ = found && init() > 0;
    }

    bool is_ready() const { return ready_; }

    decltype(&git_libgit2_init) init = nullptr;
    decltype(&git_error_last) last_error = nullptr;
    decltype(&git_diff_options_init) init_options = nullptr;
    decltype(&git_patch_from_buffers) from_buffers = nullptr;
    decltype(&git_patch_free) free = nullptr;
    decltype(&git_patch_num_hunks) count_hunks = nullptr;
    decltype(&git_patch_get_hunk) get_hunk = nullptr;

 private:
    template <class Function>
    bool find(Function& function, const char* name) {
        function = reinterpret_cast<Function>(::dlsym(library_, name));
        return function != nullptr;
    }

    void* library_;  // for the life of the process: it keeps tables and thread-local errors
    bool ready_ = false;
};

const Git& git() {
    static const Git loaded;
    return loaded;
}

struct FreePatch {
    void operator()(git_patch* patch) const { git().free(patch); }
};
using PatchPtr = std::unique_ptr<git_patch, FreePatch>;

Error not_compared() {
    if (!git().is_ready())
        return {ErrorKind::kSystem, ENOENT,
                "compare lines: libgit2.so." LIBGIT2_SOVERSION " cannot be loaded",
                "install libgit2 " LIBGIT2_VERSION ", with which this program was built"};
    const git_error* error = git().last_error();
    const bool told = error != nullptr && error->message != nullptr;
    return {ErrorKind::kSystem, EIO,
            std::string("compare lines: ") + (told ? error->message : "unknown")};
}

// git counts from the line before where a side has none.
std::uint64_t start_of(int start, int count) {
    return static_cast<std::uint64_t>(count == 0 ? start + 1 : start);
}

/// Equal lines beside a change that are compared all the same: where one of several ways to say a
/// change reads best depends on the lines around it.
constexpr std::size_t kMargin = 100;

std::size_t start_of_line(std::string_view text, std::size_t offset) {
    return offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;  // npos + 1 is 0
}

// Byte by byte would take longer than all else.
constexpr std::size_t kBlock = 4096;

std::size_t equal_bytes_at_begin(std::string_view a, std::string_view b) {
    const std::size_t most = std::min(a.size(), b.size());
    std::size_t at = 0;
    while (most - at >= kBlock && a.substr(at, kBlock) == b.substr(at, kBlock))
        at += kBlock;
    while (at < most && a[at] == b[at])
        ++at;
    return at;
}

std::size_t equal_bytes_at_end(std::string_view a, std::string_view b) {
    const std::size_t most = std::min(a.size(), b.size());
    const auto last = [](std::string_view text, std::size_t skipped, std::size_t count) {
        return text.substr(text.size() - skipped - count, count);
    };
    std::size_t count = 0;
    while (most - count >= kBlock && last(a, count, kBlock) == last(b, count, kBlock))
        count += kBlock;
    while (count < most && last(a, count, 1) == last(b, count, 1))
        ++count;
    return count;
}

// How many bytes both begin with, in whole lines, without the last kMargin of them.
std::size_t equal_begin(std::string_view older, std::string_view newer) {
    std::size_t at = start_of_line(older, equal_bytes_at_begin(older, newer));
    for (std::size_t i = 0; i < kMargin && at > 0; ++i)
        at = start_of_line(older, at - 1);
    return at;
}

// How many bytes both end with, likewise without the first lines of them.
std::size_t equal_end(std::string_view older, std::string_view newer) {
    std::string_view same = older.substr(older.size() - equal_bytes_at_end(older, newer));
    // The first one may be the end of a line that differs.
    for (std::size_t i = 0; i <= kMargin && !same.empty(); ++i)
        same.remove_prefix(std::min(same.find('\n'), same.size() - 1) + 1);
    return same.size();
}

}  // namespace

void prepare_line_changes() {
    git();
}

Result<std::vector<LineChange>> line_changes(std::string_view older, std::string_view newer) {
    if (older == newer) return std::vector<LineChange>();
    if (!git().is_ready()) return not_compared();
    const std::size_t before = equal_begin(older, newer);
    const auto skipped = static_cast<std::uint64_t>(
        std::count(older.begin(), older.begin() + static_cast<std::ptrdiff_t>(before), '\n'));
    older.remove_prefix(before);
    newer.remove_prefix(before);
    const std::size_t after = equal_end(older, newer);
    older.remove_suffix(after);
    newer.remove_suffix(after);
    git_diff_options options;
    if (git().init_options(&options, GIT_DIFF_OPTIONS_VERSION) != 0) return not_compared();
    options.flags = GIT_DIFF_FORCE_TEXT | GIT_DIFF_INDENT_HEURISTIC;
    options.context_lines = 0;
    git_patch* made = nullptr;
    if (git().from_buffers(&made, older.data(), older.size(), nullptr, newer.data(), newer.size(),
                           nullptr, &options) != 0)
        return not_compared();
    const PatchPtr patch(made);
    std::vector<LineChange> changes;
    for (std::size_t i = 0; i < git().count_hunks(patch.get()); ++i) {
        const git_diff_hunk* hunk = nullptr;
        if (git().get_hunk(&hunk, nullptr, patch.get(), i) != 0) return not_compared();
        changes.push_back({skipped + start_of(hunk->old_start, hunk->old_lines),
                           static_cast<std::uint64_t>(hunk->old_lines),
                           skipped + start_of(hunk->new_start, hunk->new_lines),
                           static_cast<std::uint64_t>(hunk->new_lines)});
    }
    return changes;
}

std::vector<std::string_view> split_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return lines;
}

}  // namespace unwrite::edit
