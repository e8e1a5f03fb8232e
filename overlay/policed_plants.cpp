// Which changes an asking rule is about: of what was there when the task began, of what could be
// executed, and those that bring bytes or settings which were not there.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "base/lend_mode.h"
#include "overlay/databases.h"
#include "overlay/git_config.h"
#include "overlay/policed_tree.h"

namespace unwrite::overlay {

namespace {

constexpr mode_t kExecuteBits = 0111;
constexpr std::size_t kMostTold = 3;
constexpr std::size_t kLongestTold = 100;

/// For one line of a question; what files say may hold anything.
std::string told(const std::set<std::string>& settings) {
    std::string line;
    std::size_t count = 0;
    for (const std::string& setting : settings) {
        if (++count > kMostTold) return line + ", ...";
        std::string one = setting.substr(0, kLongestTold);
        for (char& c : one)
            if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
        line += (line.empty() ? "" : ", ") + one;
    }
    return line;
}

/// Where the first component that is `name` begins.
std::size_t begin_of(std::string_view path, std::string_view name) {
    for (std::size_t begin = 0; begin < path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        if (path.substr(begin, end - begin) == name) return begin;
        begin = end + 1;
    }
    return 0;
}

/// How git tries whether there are links: it leads to nothing that would not be asked about.
bool is_probe(std::string_view path, std::string_view target) {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return name.size() == 7 && name.front() == 't' && target == "testing";
}

/// What husky makes anew, with the same bytes, whenever packages are installed.
bool is_made_again(std::string_view path) {
    return path.starts_with(".husky/_/") || path.find("/.husky/_/") != std::string_view::npos;
}

}  // namespace

bool PolicedTree::stood(const std::string& path) const {
    return beginning_.has(path).value_or(true);
}

// A database and the files beside it are one: these were there when the database was, also where
// none of them is now. The same holds where its directory gave way to another one.
bool PolicedTree::existed(const Spot& spot) const {
    const auto was_there = [&](const std::string& name) {
        const auto x = standing(spot.parent, name);
        return x ? !is_of_this_task(key_of(*x)) : x.error().number() != ENOENT;
    };
    if (was_there(spot.name)) return true;
    const auto database = database_of(spot.name);
    return database && *database != spot.name && was_there(*database);
}

bool PolicedTree::asks_about_execution(const Aim& aim) const {
    const auto spot = spot_of(aim);
    if (!spot) return true;
    const Leaves leaves = aim.outcome.leaves;
    if (leaves == Leaves::kAnything || !is_of_this_task(spot->parent->key())) return true;
    if (leaves == Leaves::kNotExecutable) return false;
    const auto x = standing(spot->parent, spot->name);
    return !x || !S_ISREG(x->st.st_mode) || (x->st.st_mode & kExecuteBits) != 0;
}

// ---- places

bool PolicedTree::is_in_old_place(const Rule& rule, const std::string& path) const {
    const std::size_t begin = begin_of(Glob::fold(path), Glob::fold(rule.pattern));
    return begin == 0 || stood(path.substr(0, begin - 1));
}

// ---- bytes

std::optional<std::string> PolicedTree::bytes_in(int fd) {
    const auto x = sys::statx_at(fd, "");
    if (!x || !S_ISREG(x->st.st_mode)) return std::nullopt;
    const auto size = static_cast<std::uint64_t>(x->st.st_size);
    if (size > Beginning::kMostBytes) return std::nullopt;
    const auto readable = sys::open_unseen(fd, O_RDONLY);
    if (!readable) return std::nullopt;
    std::string bytes(size, '\0');
    const auto count = sys::read_at(readable->get(), std::as_writable_bytes(std::span(bytes)), 0);
    if (!count || *count != size) return std::nullopt;
    return bytes;
}

std::optional<std::string> PolicedTree::bytes_at(const Spot& spot) const {
    const auto directory = objects_.open(spot.parent, Access::kPath);
    if (!directory) return std::nullopt;
    const auto found = sys::open_at((*directory)->fd.get(), spot.name, O_PATH | O_NOFOLLOW);
    if (!found && found.error().number() == ENOENT) return std::string();
    return found ? bytes_in(found->get()) : std::nullopt;
}

std::optional<std::string> PolicedTree::bytes_of(NodeId id) const {
    if (const auto spot = spot_of({.id = id})) return bytes_at(*spot);
    return bytes_of_object(id);  // the new bytes of an edit have no name yet (exchange.h)
}

std::optional<std::string> PolicedTree::bytes_of_object(NodeId id) const {
    const auto object = objects_.get(id);
    if (!object) return std::nullopt;
    const auto handle = objects_.open(*object, Access::kPath);
    return handle ? bytes_in((*handle)->fd.get()) : std::nullopt;
}

PolicedTree::BytesLeft PolicedTree::as_it_is(NodeId id) const {
    return [this, id] { return bytes_of(id); };
}

PolicedTree::BytesLeft PolicedTree::cut(NodeId id, std::uint64_t size) const {
    return [this, id, size]() -> std::optional<std::string> {
        if (size > Beginning::kMostBytes) return std::nullopt;
        auto bytes = size == 0 ? empty() : bytes_of(id);
        if (bytes) bytes->resize(size, '\0');
        return bytes;
    };
}

PolicedTree::BytesLeft PolicedTree::written(NodeId id, sys::ConstBytes data,
                                            std::uint64_t offset) const {
    return [this, id, data, offset]() -> std::optional<std::string> {
        auto bytes = bytes_of(id);
        if (!bytes || offset + data.size() > Beginning::kMostBytes) return std::nullopt;
        if (bytes->size() < offset + data.size()) bytes->resize(offset + data.size(), '\0');
        std::transform(data.begin(), data.end(),
                       bytes->begin() + static_cast<std::ptrdiff_t>(offset),
                       [](std::byte byte) { return static_cast<char>(byte); });
        return bytes;
    };
}

bool PolicedTree::brings_bytes(const Aim& aim, const std::string& path) const {
    const auto after = aim.outcome.bytes ? aim.outcome.bytes() : std::nullopt;
    if (!after || S_ISLNK(aim.type)) return true;
    if (after->empty() && (S_ISDIR(aim.type) || is_made_again(path))) return false;
    const auto spot = spot_of(aim);
    if (!spot || aim.outcome.goes) return true;
    if (standing(spot->parent, spot->name) && bytes_at(*spot) == after) return false;
    const auto before = beginning_.bytes(path);
    return !before || *before != after;
}

std::optional<std::set<std::string>> PolicedTree::brings_settings(const Aim& aim,
                                                                  const std::string& path) const {
    const auto after = aim.outcome.bytes ? aim.outcome.bytes() : std::nullopt;
    if (!after || (S_ISLNK(aim.type) && !aim.outcome.goes)) return std::nullopt;
    std::set<std::string> settings = executing_settings(path, *after);
    const auto spot = spot_of(aim);
    if (!spot) return std::nullopt;
    const auto x = standing(spot->parent, spot->name);
    const auto before = executing_settings(path, bytes_at(*spot).value_or(""));
    const std::lock_guard lock(settings_mutex_);
    // A program that writes a file anew cuts it first.
    if (x && aim.id != 0 && !before.empty())
        settings_[key_of(*x)].insert(before.begin(), before.end());
    if (settings.empty()) return settings;
    const auto drop = [&](const std::set<std::string>& known) {
        for (const std::string& setting : known)
            settings.erase(setting);
    };
    drop(before);
    if (x && settings_.contains(key_of(*x))) drop(settings_.at(key_of(*x)));
    if (settings.empty()) return settings;
    if (const auto began = beginning_.bytes(path); began && *began)
        drop(executing_settings(path, **began));
    return settings;
}

// ---- what is asked

std::optional<PolicedTree::Matter> PolicedTree::matter_of(const Rule& rule, const Aim& aim,
                                                          const std::string& path) const {
    Matter matter{describe(rule)};
    if (rule.existing_only) {
        const auto spot = spot_of(aim);
        const std::string whole = database_of(path).value_or(path);
        if (spot && !existed(*spot) && !stood(whole)) return std::nullopt;
        matter.topic = "database" + std::string(1, '\0') + whole;
        matter.detail = "the answer is for " + whole + " and the files beside it";
    }
    if (rule.executable_only && !asks_about_execution(aim)) return std::nullopt;
    if (rule.old_places_only && !is_in_old_place(rule, path)) return std::nullopt;
    if (rule.asks_about == AsksAbout::kNewBytes && !brings_bytes(aim, path)) return std::nullopt;
    if (rule.asks_about == AsksAbout::kNewLinks) {
        const auto target = aim.outcome.bytes ? aim.outcome.bytes() : std::nullopt;
        if (aim.outcome.goes || (target && is_probe(path, *target))) return std::nullopt;
    }
    if (rule.asks_about == AsksAbout::kNewSettings) {
        const auto settings = brings_settings(aim, path);
        if (!settings) return matter;
        if (settings->empty()) return std::nullopt;
        matter.detail = told(*settings);
        matter.topic = "settings" + std::string(1, '\0') + path;
        for (const std::string& setting : *settings)
            matter.topic += '\0' + setting;
    }
    return matter;
}

}  // namespace unwrite::overlay
