#include "journal/attic.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <mutex>

#include "base/crash_point.h"
#include "base/lend_mode.h"

namespace unwrite::journal {

namespace {

// linux/fs.h; the C library's header has it behind a feature macro.
constexpr unsigned kNoReplace = 1U << 0;

std::optional<std::uint64_t> parse_hex(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

void append_hex(std::string& out, std::uint64_t value) {
    char text[16];
    out.append(text, std::to_chars(text, text + sizeof text, value, 16).ptr);
}

/// Renames to a name that must be absent, also where the filesystem cannot promise that in one
/// step.
Result<> rename_new(int from_dir, const std::string& from, int to_dir, const std::string& to) {
    auto done = sys::rename(from_dir, from, to_dir, to, kNoReplace);
    if (done || done.error().number() != EINVAL) return done;
    const auto there = sys::stat_at(to_dir, to);
    if (there) return Error(EEXIST);
    if (there.error().number() != ENOENT) return there.error();
    return sys::rename(from_dir, from, to_dir, to);
}

/// Moving a directory changes its "..", so without privileges it must be writable itself, although
/// removing it needs no such thing.
Result<> rename_directory(int from_dir, const std::string& from, int to_dir,
                          const std::string& to) {
    auto done = rename_new(from_dir, from, to_dir, to);
    if (done || done.error().number() != EACCES) return done;
    auto directory = sys::open_at(from_dir, from, O_PATH | O_DIRECTORY);
    if (!directory) return done;
    return sys::lend_mode(directory->get(), [&] {
        crash_point("attic.mode-lent");
        return rename_new(from_dir, from, to_dir, to);
    });
}

bool is_aside(std::string_view name) {
    return name.size() > 2 && name.starts_with("x-") &&
           name.find_first_not_of("0123456789", 2) == std::string_view::npos;
}

}  // namespace

std::string Attic::file_name(const ObjectKey& key) {
    std::string name;
    name.reserve(33);
    append_hex(name, key.ino);
    name += '-';
    append_hex(name, key.birth);
    return name;
}

std::optional<ObjectKey> Attic::parse_name(std::string_view name) {
    const std::size_t dash = name.find('-');
    if (dash == std::string_view::npos) return std::nullopt;
    const auto ino = parse_hex(name.substr(0, dash));
    const auto birth = parse_hex(name.substr(dash + 1));
    if (!ino || !birth) return std::nullopt;
    const ObjectKey key{*ino, *birth};
    if (file_name(key) != name) return std::nullopt;  // one spelling only
    return key;
}

Result<std::unique_ptr<Attic>> Attic::open(UniqueFd directory) {
    std::unique_ptr<Attic> attic(new Attic(std::move(directory)));
    TRY_ASSIGN(const auto entries, sys::read_directory(attic->directory()));
    for (const auto& entry : entries) {
        if (const auto key = parse_name(entry.name)) attic->present_.insert(*key);
    }
    return attic;
}

bool Attic::contains(const ObjectKey& key) const {
    const std::shared_lock lock(mutex_);
    return present_.contains(key);
}

void Attic::note_added(const ObjectKey& key) {
    const std::unique_lock lock(mutex_);
    present_.insert(key);
}

void Attic::note_removed(const ObjectKey& key) {
    const std::unique_lock lock(mutex_);
    present_.erase(key);
}

std::vector<ObjectKey> Attic::list() const {
    const std::shared_lock lock(mutex_);
    return {present_.begin(), present_.end()};
}

Result<> Attic::displace(int parent, const std::string& name, const ObjectKey& key,
                         bool is_directory) {
    crash_point("attic.displace.before");
    if (is_directory) {
        TRY(rename_directory(parent, name, directory(), file_name(key)));
    } else if (contains(key)) {
        TRY(sys::unlink(parent, name));
    } else {
        const auto moved = rename_new(parent, name, directory(), file_name(key));
        // An anchor that was made behind our back does as well.
        if (!moved && moved.error().number() == EEXIST) {
            TRY(sys::unlink(parent, name));
        } else if (!moved) {
            return moved;
        }
    }
    crash_point("attic.displace.after");
    note_added(key);
    return {};
}

Result<> Attic::anchor(int parent, const std::string& name, const ObjectKey& key) {
    if (contains(key)) return {};
    crash_point("attic.anchor.before");
    const auto linked = sys::link(parent, name, directory(), file_name(key));
    if (!linked && linked.error().number() != EEXIST) return linked;
    crash_point("attic.anchor.after");
    if (linked) return add_linked(key);
    note_added(key);
    return {};
}

// A file of a lower layer of overlayfs that has several names becomes another one when it is
// linked.
Result<> Attic::add_linked(const ObjectKey& key) {
    if (key.birth == 0) {
        TRY_ASSIGN(const sys::StatX x, sys::statx_at(directory(), file_name(key)));
        if (ObjectKey{x.st.st_ino, x.birth} != key) {
            TRY(sys::unlink(directory(), file_name(key)));
            return Error(ESTALE);
        }
    }
    note_added(key);
    return {};
}

Result<> Attic::move_out(const ObjectKey& key, int parent, const std::string& name) {
    crash_point("attic.move-out.before");
    TRY(rename_directory(directory(), file_name(key), parent, name));
    crash_point("attic.move-out.after");
    note_removed(key);
    return {};
}

Result<> Attic::put_over(const ObjectKey& key, int parent, const std::string& name,
                         bool keeps_anchor) {
    if (!keeps_anchor) {
        TRY(sys::rename(directory(), file_name(key), parent, name));
        note_removed(key);
        return {};
    }
    // The next open removes what a kill leaves of such a name.
    const std::string second = "x-" + std::to_string(next_aside_++);
    TRY(sys::link(directory(), file_name(key), directory(), second));
    crash_point("attic.put-over.linked");
    const auto moved = sys::rename(directory(), second, parent, name);
    if (!moved) ignore(sys::unlink(directory(), second), "the next open removes it");
    return moved;
}

Result<> Attic::link_out(const ObjectKey& key, int parent, const std::string& name) {
    crash_point("attic.link-out.before");
    TRY(sys::link(directory(), file_name(key), parent, name));
    crash_point("attic.link-out.after");
    return {};
}

Result<> Attic::remove(const ObjectKey& key) {
    const std::string name = file_name(key);
    crash_point("attic.remove.before");
    const auto unlinked = sys::unlink(directory(), name);
    if (!unlinked && unlinked.error().number() != ENOENT) {
        const auto st = sys::stat_at(directory(), name);
        if (!st || !S_ISDIR(st->st_mode)) return unlinked;
        // Under its own name it would look whole after a crash half-way.
        TRY_ASSIGN(const std::string aside, set_aside(directory(), name));
        note_removed(key);
        crash_point("attic.remove.aside");
        return remove_tree(aside);
    }
    note_removed(key);
    return {};
}

Result<std::vector<std::string>> Attic::leftovers() const {
    TRY_ASSIGN(const UniqueFd fd, sys::open_at(directory(), ".", O_RDONLY | O_DIRECTORY));
    TRY_ASSIGN(const auto entries, sys::read_directory(fd.get()));
    std::vector<std::string> names;
    for (const auto& entry : entries) {
        if (is_aside(entry.name)) names.push_back(entry.name);
    }
    return names;
}

Result<> Attic::remove_leftovers() {
    TRY_ASSIGN(const auto names, leftovers());
    for (const std::string& name : names) {
        auto removed = sys::unlink(directory(), name);
        if (!removed && removed.error().number() != ENOENT) removed = remove_tree(name);
        TRY(removed);
    }
    return {};
}

Result<> Attic::move_leftover(const std::string& name, int to_dir) {
    return rename_directory(directory(), name, to_dir, name);
}

Result<> Attic::take_leftover(int from_dir, const std::string& name) {
    TRY(set_aside(from_dir, name));
    return {};
}

/// Moves a directory to a fresh "x-<n>" at the top of the attic.
Result<std::string> Attic::set_aside(int from, const std::string& name) {
    for (;;) {
        std::string aside = "x-" + std::to_string(next_aside_++);
        const auto moved = rename_directory(from, name, directory(), aside);
        if (moved) return aside;
        if (moved.error().number() != EEXIST && moved.error().number() != ENOTEMPTY) {
            return moved.error();
        }
    }
}

/// Neither recursive nor deep: nested directories are moved up to the top, so one descriptor and
/// short names do for any depth.
Result<> Attic::remove_tree(const std::string& name) {
    std::vector<std::string> todo{name};
    while (!todo.empty()) {
        const std::string current = std::move(todo.back());
        todo.pop_back();
        TRY(empty_directory(current, todo));
        const auto removed = sys::remove_directory(directory(), current);
        if (!removed && removed.error().number() != ENOENT) return removed;
        crash_point("attic.remove.directory");
    }
    return {};
}

Result<> Attic::empty_directory(const std::string& name, std::vector<std::string>& nested) {
    auto opened = sys::open_listing_unseen(directory(), name);
    if (!opened && opened.error().number() == ENOENT) return {};
    TRY_ASSIGN(const UniqueFd fd, std::move(opened));
    for (;;) {
        // In portions: a directory may have millions of entries.
        TRY_ASSIGN(const auto entries, sys::read_directory(fd.get(), 0, 4096));
        if (entries.empty()) return {};
        for (const auto& entry : entries)
            TRY(remove_entry(fd.get(), entry.name, nested));
    }
}

Result<> Attic::remove_entry(int from, const std::string& name, std::vector<std::string>& nested) {
    auto removed = sys::unlink(from, name);
    if (!removed && removed.error().number() == EACCES) {
        TRY(sys::change_mode(from, S_IRWXU));
        removed = sys::unlink(from, name);
    }
    if (removed || removed.error().number() == ENOENT) return {};
    const auto st = sys::stat_at(from, name);
    if (!st || !S_ISDIR(st->st_mode)) return removed;
    if (sys::remove_directory(from, name)) return {};
    TRY_ASSIGN(std::string aside, set_aside(from, name));
    nested.push_back(std::move(aside));
    return {};
}

}  // namespace unwrite::journal
