#include "overlay/git_index.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/digest.h"

// The format: gitformat-index(5).
namespace unwrite::overlay {

namespace {

constexpr std::size_t kHeader = 12;
constexpr std::size_t kStatBeforeMode = 24;  // ctime, mtime, dev, ino
constexpr std::size_t kStatBehindMode = 12;  // uid, gid, size
constexpr std::size_t kMode = 4;
constexpr unsigned kStage = 0x3000;  // not 0: in the middle of a merge
constexpr unsigned kExtended = 0x4000;
constexpr unsigned kNameLength = 0x0fff;
constexpr unsigned kKnownExtendedFlags = 0x6000;  // skip-worktree, intent-to-add
constexpr std::size_t kMostOfName = 4096;
constexpr std::size_t kSha1 = 20;
constexpr std::size_t kSha256 = 32;

/// What git works out again when they are missing.
constexpr std::array<std::string_view, 5> kCaches = {"TREE", "UNTR", "FSMN", "EOIE", "IEOT"};
/// What was resolved in a merge, and that whole directories may be one entry.
constexpr std::array<std::string_view, 2> kMeanings = {"REUC", "sdir"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Takes bytes from the front; once something was missing, nothing is right any more.
class Bytes {
 public:
    explicit Bytes(std::string_view all) : rest_(all) {}

    bool ok() const { return ok_; }
    std::size_t left() const { return rest_.size(); }

    std::string_view take(std::size_t count) {
        if (count > rest_.size()) ok_ = false;
        if (!ok_) return {};
        const std::string_view taken = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return taken;
    }
    std::uint32_t number(std::size_t width) {
        std::uint32_t value = 0;
        for (const char byte : take(width))
            value = value << 8U | static_cast<unsigned char>(byte);
        return value;
    }
    /// Up to a NUL, which is taken too.
    std::string_view text() {
        const std::size_t end = rest_.find('\0');
        if (end == std::string_view::npos) ok_ = false;
        const std::string_view taken = take(ok_ ? end : 0);
        take(1);
        return taken;
    }
    /// The numbers of git's packs: seven bits a byte, and each further byte adds one.
    std::uint64_t offset() {
        std::uint64_t value = 0;
        for (int bytes = 0; bytes < 5; ++bytes) {
            const std::uint32_t byte = number(1);
            value = value << 7U | (byte & 0x7fU);
            if ((byte & 0x80U) == 0) return value;
            ++value;
        }
        ok_ = false;
        return 0;
    }

 private:
    std::string_view rest_;
    bool ok_ = true;
};

/// One part of an index that has a meaning.
struct Part {
    bool is_entry = false;
    std::string name{};       ///< of the file, or of the extension
    std::string_view mode{};  ///< or what the extension holds
    std::string_view object{};
    std::uint32_t flags = 0;
    std::uint32_t more_flags = 0;
    bool operator==(const Part&) const = default;
};

/// Reads an index part by part.
class Index {
 public:
    Index(std::string_view all, std::size_t hash) : hash_(hash), bytes_(without_end(all, hash)) {
        understood_ = bytes_.take(4) == "DIRC";
        version_ = bytes_.number(4);
        entries_ = bytes_.number(4);
        understood_ = understood_ && bytes_.ok() && version_ >= 2 && version_ <= 4;
    }

    /// The next part that means something; nothing at the end, and when it is not understood.
    const Part* next() {
        while (understood_ && (entries_ > 0 || bytes_.left() > 0)) {
            const bool is_entry = entries_ > 0;
            if (is_entry) --entries_;
            understood_ = is_entry ? read_entry() : read_extension();
            const bool is_cache = !is_entry && is_one_of(kCaches, part_.name);
            if (understood_ && !is_cache) return &part_;
        }
        return nullptr;
    }
    bool understood() const { return understood_; }

 private:
    // A checksum ends it.
    static std::string_view without_end(std::string_view all, std::size_t hash) {
        return all.substr(0, all.size() - std::min(all.size(), hash));
    }

    bool read_entry() {
        const std::size_t before = bytes_.left();
        part_.is_entry = true;
        bytes_.take(kStatBeforeMode);
        part_.mode = bytes_.take(kMode);
        bytes_.take(kStatBehindMode);
        part_.object = bytes_.take(hash_);
        const std::uint32_t flags = bytes_.number(2);
        const bool extended = (flags & kExtended) != 0;
        part_.flags = flags & ~(kExtended | kNameLength);
        part_.more_flags = extended ? bytes_.number(2) : 0;
        if (extended && (version_ < 3 || (part_.more_flags & ~kKnownExtendedFlags) != 0))
            return false;
        const bool named = version_ == 4 ? read_end_of_name() : read_padded_name(before);
        const std::size_t length = part_.name.size();
        return named && bytes_.ok() && length > 0 && length <= kMostOfName &&
               (flags & kNameLength) == std::min<std::size_t>(length, kNameLength);
    }

    // It begins like the name before it.
    bool read_end_of_name() {
        const std::uint64_t dropped = bytes_.offset();
        if (!bytes_.ok() || dropped > part_.name.size()) return false;
        part_.name.resize(part_.name.size() - static_cast<std::size_t>(dropped));
        part_.name += bytes_.text();
        return true;
    }

    // At least one NUL ends it, and more fill the entry up to a multiple of eight bytes.
    bool read_padded_name(std::size_t before) {
        part_.name = bytes_.text();
        while (bytes_.ok() && (before - bytes_.left()) % 8 != 0)
            if (bytes_.number(1) != 0) return false;
        return true;
    }

    bool read_extension() {
        part_ = Part{};
        part_.name = bytes_.take(4);
        part_.mode = bytes_.take(bytes_.number(4));
        return bytes_.ok() && (is_one_of(kCaches, part_.name) || is_one_of(kMeanings, part_.name));
    }

    std::size_t hash_;
    Bytes bytes_;
    bool understood_ = false;
    std::uint32_t version_ = 0;
    std::uint32_t entries_ = 0;
    Part part_;
};

bool is_understood(std::string_view all, std::size_t hash) {
    Index index(all, hash);
    while (index.next() != nullptr) {
    }
    return index.understood();
}

bool has_same_parts(std::string_view a, std::string_view b, std::size_t hash) {
    Index first(a, hash);
    Index second(b, hash);
    for (;;) {
        const Part* one = first.next();
        const Part* two = second.next();
        if (one == nullptr || two == nullptr)
            return one == two && first.understood() && second.understood();
        if (*one != *two) return false;
    }
}

/// The path below the innermost directory `.git`; empty when there is none.
std::string_view below_git(std::string_view path) {
    static constexpr std::string_view kGit = ".git/";
    std::size_t at = path.rfind(kGit);
    while (at != std::string_view::npos && at > 0 && path[at - 1] != '/')
        at = path.rfind(kGit, at - 1);
    if (at != std::string_view::npos) return path.substr(at + kGit.size());
    return {};
}

}  // namespace

bool is_git_index(std::string_view path) {
    const std::string_view below = below_git(path);
    return below == "index" || below.ends_with("/index");
}

std::string path_of_git_index(std::string_view git_file) {
    constexpr std::string_view kTrees = "/worktrees/";
    const std::string_view line = git_file.substr(0, git_file.find('\n'));
    const std::size_t at = line.rfind(kTrees);
    if (at == std::string_view::npos) return ".git/index";
    const std::string_view name = line.substr(at + kTrees.size());
    return ".git/worktrees/" + std::string(name) + "/index";
}

bool is_git_lock(std::string_view path) {
    const std::string_view below = below_git(path);
    const bool is_hook =
        below.starts_with("hooks/") || below.find("/hooks/") != std::string_view::npos;
    return below.ends_with(".lock") && !is_hook;
}

bool same_git_entries(std::string_view a, std::string_view b) {
    if (a == b) return true;
    if (a.size() > kMaxGitIndex || b.size() > kMaxGitIndex) return false;
    // The file does not say how long its hashes are: one length fits, or it is not understood.
    if (has_same_parts(a, b, kSha1)) return !is_understood(a, kSha256);
    return has_same_parts(a, b, kSha256) && !is_understood(a, kSha1);
}

namespace {

/// Calls `visit` for each entry; what it made of an index that is not understood is thrown away.
template <typename Made, typename Visit>
std::vector<Made> each_entry(std::string_view index, const Visit& visit) {
    for (const std::size_t hash : {kSha1, kSha256}) {
        std::vector<Made> made;
        Index read(index, hash);
        while (const Part* part = read.next()) {
            if (part->is_entry) visit(*part, made);
        }
        if (read.understood()) return made;
    }
    return {};
}

bool is_regular_file(std::string_view mode) {
    return mode.size() == kMode && (static_cast<unsigned char>(mode[2]) & 0xf0U) == 0x80U;
}

}  // namespace

std::vector<std::string> git_index_names(std::string_view index) {
    return each_entry<std::string>(index,
                                   [](const Part& part, auto& made) { made.push_back(part.name); });
}

std::vector<GitIndexFile> git_index_files(std::string_view index) {
    return each_entry<GitIndexFile>(index, [](const Part& part, auto& made) {
        if ((part.flags & kStage) != 0 || !is_regular_file(part.mode)) return;
        made.push_back({part.name, std::string(part.object)});
    });
}

std::string git_object_like(std::string_view object, std::string_view bytes) {
    std::string whole = "blob " + std::to_string(bytes.size()) + '\0';
    whole += bytes;
    if (object.size() == kSha1) return sha1_of(whole);
    const Digest digest = digest_of(whole);
    return {digest.bytes.begin(), digest.bytes.end()};
}

}  // namespace unwrite::overlay
