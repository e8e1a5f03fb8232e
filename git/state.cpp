#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/crc32c.h"
#include "base/syscalls.h"
#include "git/elsewhere.h"

namespace unwrite::git {

namespace {

constexpr std::size_t kSmall = std::size_t{1} << 16;
constexpr std::size_t kLarge = std::size_t{256} << 20;  // packed refs, the stash's log
constexpr int kMostLinks = 5;

bool is_absent(const Error& error) {
    return error.number() == ENOENT || error.number() == ENOTDIR;
}

/// Opens "a/b/c" name by name, so that no symbolic link on the way leads elsewhere.
Result<UniqueFd> open_below(int directory, const std::string& path, int flags) {
    UniqueFd parent;
    std::size_t at = 0;
    for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', at)) {
        const int from = parent ? parent.get() : directory;
        TRY_ASSIGN(parent, sys::open_at(from, path.substr(at, end - at), O_PATH | O_DIRECTORY));
        at = end + 1;
    }
    return sys::open_at(parent ? parent.get() : directory, path.substr(at), flags);
}

Result<UniqueFd> open_regular(int directory, const std::string& name, std::uint64_t& size) {
    // Not to wait where somebody has put a fifo.
    TRY_ASSIGN(UniqueFd file, open_below(directory, name, O_RDONLY | O_NONBLOCK));
    TRY_ASSIGN(const struct stat st, sys::stat_fd(file.get()));
    if (!S_ISREG(st.st_mode)) return Error(EINVAL).with_context("read " + name);
    size = static_cast<std::uint64_t>(st.st_size);
    return file;
}

/// A whole file; nothing when there is none.
Result<std::optional<std::string>> read_if_there(int directory, const std::string& name,
                                                 std::size_t most) {
    std::uint64_t size = 0;
    const Result<UniqueFd> file = open_regular(directory, name, size);
    if (!file && is_absent(file.error())) return std::optional<std::string>();
    if (!file) return file.error().with_context("read " + name);
    if (size > most) return Error(EFBIG).with_context("read " + name);
    std::string text(size, '\0');
    TRY_ASSIGN(const std::size_t got,
               sys::read_at(file->get(), std::as_writable_bytes(std::span(text)), 0));
    text.resize(got);
    return std::optional(std::move(text));
}

bool is_there(int directory, const std::string& name) {
    return open_below(directory, name, O_PATH).ok();
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find_first_of("\r\n"));
}

bool is_id(std::string_view text) {
    return (text.size() == 40 || text.size() == 64) &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// A ref's name that stays below the repository's directory.
bool is_ref(const std::string& name) {
    return name.starts_with("refs/") && name.find("..") == std::string::npos &&
           name.find('\0') == std::string::npos;
}

std::string hex(std::string_view bytes) {
    std::string text;
    for (const char c : bytes)
        text += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return text;
}

/// The directories that git keeps a work tree's files in.
struct Places {
    UniqueFd own;     ///< HEAD, index, what is underway
    UniqueFd common;  ///< refs, stash, work trees
};

Result<UniqueFd> open_directory(int directory, const std::string& name) {
    return sys::open_at(directory, name, O_RDONLY | O_DIRECTORY);  // an absolute name is fine
}

class Reader {
 public:
    Reader(int directory, Reach reach) : directory_(directory), reach_(reach) {}

    explicit Reader(Places places) : places_(std::move(places)) {
        state_.layout = Layout::kFile;
        state_.outside = true;
    }

    Result<GitState> read() {
        if (!places_.own) TRY(find());
        if (!places_.own) return std::move(state_);
        TRY(read_head());
        TRY(read_index());
        TRY(read_stash());
        read_underway();
        state_.submodules = (directory_ >= 0 && is_there(directory_, ".gitmodules")) ||
                            is_there(places_.common.get(), "modules");
        const Result<UniqueFd> trees = open_directory(places_.common.get(), "worktrees");
        if (trees) {
            TRY_ASSIGN(const bool empty, sys::is_empty_directory(trees->get()));
            state_.worktrees = !empty;
        }
        return std::move(state_);
    }

 private:
    Result<> find() {
        const Result<struct stat> st = sys::stat_at(directory_, ".git");
        if (!st && is_absent(st.error())) return {};
        if (!st) return st.error().with_context("look at .git");
        if (S_ISDIR(st->st_mode)) {
            state_.layout = Layout::kDirectory;
            TRY_ASSIGN(places_.own, open_directory(directory_, ".git"));
            TRY_ASSIGN(places_.common, sys::duplicate(places_.own.get()));
            return {};
        }
        state_.layout = S_ISREG(st->st_mode) ? Layout::kFile : Layout::kOther;
        return state_.layout == Layout::kFile ? follow_file() : Result<>();
    }

    Result<> follow_file() {
        TRY_ASSIGN(const std::optional<std::string> text,
                   read_if_there(directory_, ".git", kSmall));
        constexpr std::string_view kWord = "gitdir: ";
        if (!text || !text->starts_with(kWord)) {
            state_.layout = Layout::kOther;
            return {};
        }
        const std::string path = first_line(text->substr(kWord.size()));
        state_.outside = path.starts_with('/') || path.starts_with("../") ||
                         path.find("/../") != std::string::npos || path.ends_with("/..");
        if (state_.outside && reach_ == Reach::kInside) return {};
        Result<UniqueFd> own = open_directory(directory_, path);
        if (!own) return own.error().with_context("open the repository that .git names");
        places_.own = *std::move(own);
        TRY_ASSIGN(const std::optional<std::string> common,
                   read_if_there(places_.own.get(), "commondir", kSmall));
        // Only a linked work tree has one, and its repository is another directory's.
        const bool shares = common && reach_ == Reach::kAnywhere;
        Result<UniqueFd> shared = shares ? open_directory(places_.own.get(), first_line(*common))
                                         : sys::duplicate(places_.own.get());
        if (!shared) return shared.error().with_context("open the repository that .git names");
        places_.common = *std::move(shared);
        return {};
    }

    Result<> read_head() {
        TRY_ASSIGN(const std::optional<std::string> text,
                   read_if_there(places_.own.get(), "HEAD", kSmall));
        if (is_there(places_.common.get(), "reftable")) state_.refs_known = false;
        if (!text || !state_.refs_known) return {};
        const std::string line = first_line(*text);
        if (is_id(line)) state_.head = line;
        constexpr std::string_view kWord = "ref: ";
        if (!line.starts_with(kWord)) return {};
        state_.branch = line.substr(kWord.size());
        return resolve(state_.branch);
    }

    /// Follows a ref to its commit.
    Result<> resolve(std::string name) {
        for (int links = 0; links < kMostLinks && is_ref(name); ++links) {
            TRY_ASSIGN(const std::optional<std::string> text,
                       read_if_there(places_.common.get(), name, kSmall));
            if (!text) return resolve_packed(name);
            const std::string line = first_line(*text);
            if (is_id(line)) {
                state_.head = line;
                return {};
            }
            if (!line.starts_with("ref: ")) return {};
            name = line.substr(5);
        }
        return {};
    }

    Result<> resolve_packed(const std::string& name) {
        TRY_ASSIGN(const std::optional<std::string> text,
                   read_if_there(places_.common.get(), "packed-refs", kLarge));
        if (!text) return {};
        const std::string wanted = " " + name + "\n";
        const std::size_t at = text->find(wanted);
        if (at == std::string::npos) return {};
        const std::size_t newline = text->rfind('\n', at);
        const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
        const std::string id = text->substr(begin, at - begin);
        if (is_id(id)) state_.head = id;
        return {};
    }

    /// An index ends with a digest of itself, unless it was told to leave that out.
    Result<> read_index() {
        std::uint64_t size = 0;
        const Result<UniqueFd> file = open_regular(places_.own.get(), "index", size);
        if (!file && is_absent(file.error())) return {};
        if (!file) return file.error().with_context("read the index");
        constexpr std::size_t kDigest = 20;
        if (size < kDigest) return Error(EINVAL).with_context("read the index");
        std::string tail(kDigest, '\0');
        TRY(sys::read_exactly_at(file->get(), std::as_writable_bytes(std::span(tail)),
                                 size - kDigest));
        state_.index = fmt::format("{}-{}", size, hex(tail));
        if (tail.find_first_not_of('\0') != std::string::npos) return {};
        TRY_ASSIGN(const std::optional<std::string> all,
                   read_if_there(places_.own.get(), "index", kLarge));
        if (!all) return {};
        state_.index =
            fmt::format("{}-crc32c-{:08x}", size, crc32c(std::as_bytes(std::span(*all))));
        return {};
    }

    Result<> read_stash() {
        TRY_ASSIGN(const std::optional<std::string> text,
                   read_if_there(places_.common.get(), "logs/refs/stash", kLarge));
        if (!text) return {};
        for (std::size_t at = 0; at < text->size();) {
            const std::size_t end = std::min(text->find('\n', at), text->size());
            add_stash(text->substr(at, end - at));
            at = end + 1;
        }
        std::reverse(state_.stash.begin(), state_.stash.end());
        return {};
    }

    /// "<old id> <new id> name <address> time zone\tmessage".
    void add_stash(const std::string& line) {
        const std::size_t space = line.find(' ');
        const std::size_t tab = line.find('\t');
        if (space == std::string::npos) return;
        const std::string id = line.substr(space + 1, space);
        if (!is_id(id)) return;
        state_.stash.push_back({id, tab == std::string::npos ? "" : line.substr(tab + 1)});
    }

    void read_underway() {
        constexpr std::pair<const char*, const char*> kMarkers[] = {
            {"rebase-merge", "rebase"},
            {"rebase-apply/applying", "am"},
            {"rebase-apply", "rebase"},
            {"MERGE_HEAD", "merge"},
            {"CHERRY_PICK_HEAD", "cherry-pick"},
            {"REVERT_HEAD", "revert"},
            {"BISECT_LOG", "bisect"}};
        for (const auto& [file, word] : kMarkers) {
            if (!is_there(places_.own.get(), file)) continue;
            state_.underway = word;
            return;
        }
    }

    int directory_ = -1;
    Reach reach_ = Reach::kInside;
    Places places_;
    GitState state_;
};

const char* word_of(Layout layout) {
    switch (layout) {
        case Layout::kNone:
            return "no git";
        case Layout::kDirectory:
            return "repository";
        case Layout::kFile:
            return "linked";
        case Layout::kOther:
            return "unknown";
    }
    return "";
}

std::string lines_of(const std::vector<StashEntry>& stash) {
    std::string text;
    for (const StashEntry& entry : stash)
        text += entry.commit + " " + entry.message + "\n";
    return text;
}

}  // namespace

Result<GitState> read_git_state(int directory, Reach reach) {
    return Reader(directory, reach).read();
}

Result<GitState> read_git_state(const Elsewhere& elsewhere) {
    Places places;
    TRY_ASSIGN(places.own, open_directory(AT_FDCWD, elsewhere.own));
    TRY_ASSIGN(places.common, open_directory(AT_FDCWD, elsewhere.repository));
    return Reader(std::move(places)).read();
}

std::vector<GitDifference> compare(const GitState& before, const GitState& after) {
    // A repository elsewhere that was not read then.
    if (before.outside && before.head.empty() && before.branch.empty()) return {};
    const auto yes = [](bool value) { return std::string(value ? "yes" : "no"); };
    const std::vector<GitDifference> all = {
        {"layout", word_of(before.layout), word_of(after.layout)},
        {"head", before.head, after.head},
        {"branch", before.branch, after.branch},
        {"index", before.index, after.index},
        {"underway", before.underway, after.underway},
        {"stash", lines_of(before.stash), lines_of(after.stash)},
        {"refs known", yes(before.refs_known), yes(after.refs_known)},
        {"submodules", yes(before.submodules), yes(after.submodules)},
        {"worktrees", yes(before.worktrees), yes(after.worktrees)},
        {"outside", yes(before.outside), yes(after.outside)}};
    std::vector<GitDifference> differences;
    for (const GitDifference& one : all) {
        if (one.before != one.after) differences.push_back(one);
    }
    return differences;
}

}  // namespace unwrite::git
