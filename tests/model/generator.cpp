#include "tests/model/generator.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/xattr.h>

#include <algorithm>
#include <stdexcept>

#include "base/syscalls.h"

namespace unwrite::tests {

std::vector<Known> list_tree(const std::string& directory) {
    std::vector<Known> found;
    std::vector<std::string> todo{""};
    auto root = sys::open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
    if (!root) throw std::runtime_error("list " + directory);
    while (!todo.empty()) {
        const std::string at = std::move(todo.back());
        todo.pop_back();
        const auto fd = sys::open_at(root->get(), at.empty() ? "." : at, O_RDONLY | O_DIRECTORY);
        if (!fd) continue;  // moved meanwhile
        auto entries = sys::read_directory(fd->get());
        if (!entries) continue;
        for (const auto& entry : *entries) {
            if (at.empty() && entry.name == ".unwrite") continue;
            std::string path = at.empty() ? entry.name : at + "/" + entry.name;
            const bool is_directory = entry.type == DT_DIR;
            if (is_directory) todo.push_back(path);
            const char type = is_directory           ? 'd'
                              : entry.type == DT_REG ? 'f'
                              : entry.type == DT_LNK ? 'l'
                                                     : 'p';
            found.push_back({std::move(path), type});
        }
    }
    std::sort(found.begin(), found.end(),
              [](const Known& a, const Known& b) { return a.path < b.path; });
    return found;
}

std::string Generator::some_name() {
    static const std::string kNames[] = {
        "a", "b", "c", "e f", "g\n\xff", "h", std::string(255, 'n')};
    return kNames[below(chance(10) ? 7 : 6)];
}

std::string Generator::some_path(const std::vector<Known>& known, const std::string& types) {
    std::vector<const Known*> fitting;
    for (const Known& one : known) {
        if (types.find(one.type) != std::string::npos && one.path.starts_with(mix_.below))
            fitting.push_back(&one);
    }
    if (fitting.empty() || chance(2)) return fresh_path(known);
    return fitting[below(fitting.size())]->path;
}

std::string Generator::fresh_path(const std::vector<Known>& known) {
    std::vector<const Known*> parents;
    for (const Known& one : known) {
        const auto depth = std::count(one.path.begin(), one.path.end(), '/');
        if (one.type == 'd' && depth < 4 && one.path.starts_with(mix_.below))
            parents.push_back(&one);
    }
    if (parents.empty() || chance(20))
        return mix_.below.empty() ? some_name() : mix_.below + "/" + some_name();
    return parents[below(parents.size())]->path + "/" + some_name();
}

std::uint64_t Generator::some_offset() {
    switch (below(4)) {
        case 0:
            return 0;
        case 1:
            return below(5) * 65536 + below(5) - (below(2) == 0 ? 0 : 0);
        case 2:
            return below(300'000);
        default:
            return below(5000);
    }
}

std::uint64_t Generator::some_length() {
    switch (below(5)) {
        case 0:
            return below(200'000) + 1;
        case 1:
            return 65536;
        default:
            return below(9000) + 1;
    }
}

mode_t Generator::some_mode() {
    static constexpr mode_t kModes[] = {0644,  0600,  0,    0755,  0444,
                                        04755, 02755, 0111, 01777, 06711};
    return kModes[below(10)];
}

Operation Generator::name_operation(const std::vector<Known>& known) {
    const bool many = known.size() > mix_.most_objects;
    switch (below(many ? 16 : 12)) {
        case 0:
        case 1:
        case 2:
            return {.kind = Kind::kCreate, .a = fresh_path(known), .x = some_mode()};
        case 3:
        case 4:
            return {.kind = Kind::kMkdir, .a = fresh_path(known), .x = chance(20) ? 02775U : 0755U};
        case 5: {
            static constexpr mode_t kTypes[] = {S_IFIFO, S_IFSOCK, S_IFCHR, S_IFREG};
            return {.kind = Kind::kMknod, .a = fresh_path(known), .x = kTypes[below(4)] | 0640U};
        }
        case 6:
            return {.kind = Kind::kSymlink,
                    .a = fresh_path(known),
                    .b = chance(50) ? some_path(known, "dfl") : some_name()};
        case 7:
        case 8:
            return {.kind = Kind::kLink,
                    .a = some_path(known, chance(80) ? "f" : "flp"),
                    .b = fresh_path(known)};
        case 9: {
            const std::string to = fresh_path(known);
            return {.kind = Kind::kTemporary,
                    .a = split_path(to).first,
                    .b = to,
                    .y = some_length(),
                    .z = below(1000)};
        }
        case 10:
            return {.kind = Kind::kRmdir, .a = some_path(known, chance(90) ? "d" : "dflp")};
        default:
            return {.kind = Kind::kUnlink, .a = some_path(known, chance(90) ? "flp" : "dflp")};
    }
}

Operation Generator::rename_operation(const std::vector<Known>& known) {
    const unsigned flags[] = {0, 0, 0, RENAME_NOREPLACE, RENAME_EXCHANGE, RENAME_EXCHANGE};
    const std::string types = chance(50) ? "d" : chance(50) ? "f" : "dflp";
    const std::string from = some_path(known, types);
    const std::string to =
        chance(50) ? fresh_path(known) : some_path(known, chance(70) ? types : "dflp");
    return {.kind = Kind::kRename, .a = from, .b = to, .x = flags[below(6)]};
}

Operation Generator::fallocate_operation(const std::vector<Known>& known) {
    constexpr int kModes[] = {FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                              FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                              FALLOC_FL_ZERO_RANGE,
                              FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE,
                              0,
                              FALLOC_FL_KEEP_SIZE,
                              FALLOC_FL_COLLAPSE_RANGE,
                              FALLOC_FL_INSERT_RANGE};
    Operation op{.kind = Kind::kFallocate,
                 .a = some_path(known, "f"),
                 .x = some_offset(),
                 .y = some_length()};
    op.z = static_cast<std::uint64_t>(kModes[below(8)]);
    if (op.z == FALLOC_FL_COLLAPSE_RANGE || op.z == FALLOC_FL_INSERT_RANGE) {
        op.x = below(30) * 4096;
        op.y = (below(16) + 1) * 4096;
    }
    return op;
}

Operation Generator::content_operation(const std::vector<Known>& known) {
    const std::string path = some_path(known, chance(97) ? "f" : "dflp");
    switch (below(10)) {
        case 0:
        case 1:
        case 2:
        case 3:
            return {.kind = Kind::kWrite,
                    .a = path,
                    .x = some_offset(),
                    .y = some_length(),
                    .z = below(100'000)};
        case 4:
            return {
                .kind = Kind::kAppend, .a = path, .y = some_length() % 40'000, .z = below(100'000)};
        case 5:
        case 6:
            return {.kind = Kind::kTruncate, .a = path, .x = chance(30) ? 0 : some_offset()};
        case 7:
        case 8:
            return fallocate_operation(known);
        default:
            return {.kind = Kind::kCopy,
                    .a = path,
                    .b = some_path(known, "f"),
                    .x = some_offset(),
                    .y = some_offset(),
                    .z = some_length()};
    }
}

Operation Generator::attribute_operation(const std::vector<Known>& known) {
    static const std::string kAttributes[] = {
        "user.a", "user.b", "user.long", "system.posix_acl_access", "system.posix_acl_default"};
    const std::string path = chance(3) ? "" : some_path(known, "dflp");
    switch (below(6)) {
        case 0:
        case 1:
            return {.kind = Kind::kChmod,
                    .a = path.empty() ? some_path(known, "d") : path,
                    .x = some_mode()};
        case 2:
            return {.kind = Kind::kChown, .a = path, .x = below(3) * 500, .y = below(3) * 500};
        case 3:
            return {.kind = Kind::kUtimens, .a = path, .x = below(2'000'000'000'000'000'000)};
        case 4:
            return {.kind = Kind::kSetXattr,
                    .a = path,
                    .b = kAttributes[below(5)],
                    .x = static_cast<std::uint64_t>(chance(70)   ? 0
                                                    : chance(50) ? XATTR_CREATE
                                                                 : XATTR_REPLACE),
                    .y = below(200),
                    .z = below(10'000)};
        default:
            return {.kind = Kind::kRemoveXattr, .a = path, .b = kAttributes[below(5)]};
    }
}

Operation Generator::held_operation(const std::vector<Known>& known) {
    const std::uint64_t slot = below(Actor::kSlots);
    switch (below(8)) {
        case 0:
        case 1:
            return {.kind = Kind::kHold, .a = some_path(known, chance(75) ? "f" : "d"), .x = slot};
        case 2:
            return {.kind = Kind::kDrop, .x = slot};
        case 3:
            return {.kind = Kind::kTruncateHeld, .x = slot, .y = some_offset()};
        case 4:
            return {.kind = Kind::kChmodHeld, .x = slot, .y = some_mode()};
        case 5:
            return {.kind = Kind::kCreateBelowHeld, .a = some_name(), .x = slot};
        default:
            return {.kind = Kind::kWriteHeld, .x = slot, .y = some_offset(), .z = below(100'000)};
    }
}

Operation Generator::move_operation(const std::vector<Known>& known) {
    switch (below(40)) {
        case 0:
            return {.kind = Kind::kDiscard, .x = below(6)};
        case 1:
            return {.kind = Kind::kCommit, .x = below(3)};
        case 2:
            return {.kind = Kind::kGc, .x = below(8)};
        case 3:
        case 4:
            return {.kind = Kind::kReopen};
        case 5:
            return {.kind = Kind::kCheck};
        case 6:
        case 7:
            return {.kind = Kind::kRevert, .x = below(1000)};
        case 8:
            return {.kind = Kind::kRestorePath, .a = some_path(known, "dflp"), .x = below(1000)};
        case 9:
            return {.kind = Kind::kLook, .x = below(1000)};
        case 10:
        case 11:
        case 12:
        case 13:
        case 14:
        case 15:
            return {.kind = Kind::kRollback, .x = below(1000), .y = below(4)};
        case 16:
        case 17:
        case 18:
        case 19:
        case 20:
        case 21:
            return {.kind = Kind::kUndo, .x = below(4)};
        case 22:
        case 23:
        case 24:
        case 25:
            return {.kind = Kind::kRedo, .x = below(4)};
        default:
            return {.kind = Kind::kCheckpoint, .x = below(3)};
    }
}

Operation Generator::next(const std::vector<Known>& known) {
    const std::uint64_t what = below(100);
    if (mix_.moves && what < 12) return move_operation(known);
    Operation op;
    if (what < 40) {
        op = name_operation(known);
    } else if (what < 55) {
        op = rename_operation(known);
    } else if (what < 80) {
        op = content_operation(known);
    } else if (what < 90) {
        op = attribute_operation(known);
    } else {
        op = held_operation(known);
    }
    op.agent = mix_.agents && chance(40);
    return op;
}

}  // namespace unwrite::tests
