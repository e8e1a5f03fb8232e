#include "tests/model/operation.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstring>

#include "tests/support/snapshot.h"

namespace unwrite::tests {

namespace {

constexpr const char* kNames[] = {"create",
                                  "mkdir",
                                  "mknod",
                                  "symlink",
                                  "link",
                                  "rename",
                                  "unlink",
                                  "rmdir",
                                  "temporary",
                                  "write",
                                  "append",
                                  "truncate",
                                  "fallocate",
                                  "copy",
                                  "chmod",
                                  "chown",
                                  "utimens",
                                  "setxattr",
                                  "rmxattr",
                                  "hold",
                                  "drop",
                                  "write-held",
                                  "truncate-held",
                                  "chmod-held",
                                  "create-below-held",
                                  "checkpoint",
                                  "rollback",
                                  "undo",
                                  "redo",
                                  "discard",
                                  "commit",
                                  "gc",
                                  "check",
                                  "reopen",
                                  "revert",
                                  "restore-path",
                                  "look",
                                  "decide",
                                  "revert-to-state",
                                  "pack"};

unsigned slot_of(std::uint64_t x) {
    return static_cast<unsigned>(x % Actor::kSlots);
}

bool is_acl(const std::string& name) {
    return name.starts_with("system.posix_acl");
}

int apply_name(Actor& actor, const Operation& op) {
    const auto mode = static_cast<mode_t>(op.x);
    switch (op.kind) {
        case Kind::kCreate:
            return actor.create(op.a, mode);
        case Kind::kMkdir:
            return actor.mkdir(op.a, mode);
        case Kind::kMknod:
            return actor.mknod(op.a, mode, S_ISCHR(mode) ? makedev(1, 3) : 0);
        case Kind::kSymlink:
            return actor.symlink(op.a, op.b);
        case Kind::kLink:
            return actor.link(op.a, op.b);
        case Kind::kRename:
            return actor.rename(op.a, op.b, static_cast<unsigned>(op.x));
        case Kind::kUnlink:
            return actor.unlink(op.a);
        case Kind::kRmdir:
            return actor.rmdir(op.a);
        case Kind::kTemporary:
            return actor.temporary(op.a, random_bytes(op.z, op.y), op.b);
        default:
            return ENOSYS;
    }
}

int apply_content(Actor& actor, const Operation& op) {
    switch (op.kind) {
        case Kind::kWrite:
            return actor.write(op.a, op.x, random_bytes(op.z, op.y));
        case Kind::kAppend:
            return actor.append(op.a, random_bytes(op.z, op.y));
        case Kind::kTruncate:
            return actor.truncate(op.a, op.x);
        case Kind::kFallocate:
            return actor.fallocate(op.a, static_cast<int>(op.z), op.x, op.y);
        case Kind::kCopy:
            return actor.copy(op.a, op.x, op.b, op.y, op.z);
        default:
            return ENOSYS;
    }
}

int apply_attributes(Actor& actor, const Operation& op) {
    switch (op.kind) {
        case Kind::kChmod:
            return actor.chmod(op.a, static_cast<mode_t>(op.x));
        case Kind::kChown:
            return actor.chown(op.a, static_cast<uid_t>(op.x), static_cast<gid_t>(op.y));
        case Kind::kUtimens:
            return actor.utimens(op.a, static_cast<std::int64_t>(op.x));
        case Kind::kSetXattr:
            return actor.set_xattr(op.a, op.b,
                                   is_acl(op.b) ? some_acl(op.z) : random_bytes(op.z, op.y),
                                   static_cast<int>(op.x));
        case Kind::kRemoveXattr:
            return actor.remove_xattr(op.a, op.b);
        default:
            return ENOSYS;
    }
}

int apply_held(Actor& actor, const Operation& op) {
    const unsigned slot = slot_of(op.x);
    switch (op.kind) {
        case Kind::kHold:
            return actor.hold(slot, op.a);
        case Kind::kDrop:
            actor.drop(slot);
            return 0;
        case Kind::kWriteHeld:
            return actor.write_held(slot, op.y, random_bytes(op.z, op.z % 70'000 + 1));
        case Kind::kTruncateHeld:
            return actor.truncate_held(slot, op.y);
        case Kind::kChmodHeld:
            return actor.chmod_held(slot, static_cast<mode_t>(op.y));
        case Kind::kCreateBelowHeld:
            return actor.create_below_held(slot, op.a);
        default:
            return ENOSYS;
    }
}

}  // namespace

int apply(Actor& actor, const Operation& operation) {
    if (operation.kind < Kind::kWrite) return apply_name(actor, operation);
    if (operation.kind < Kind::kChmod) return apply_content(actor, operation);
    if (operation.kind < Kind::kHold) return apply_attributes(actor, operation);
    return apply_held(actor, operation);
}

std::string text_of(const Operation& op) {
    std::string text = kNames[static_cast<std::size_t>(op.kind)];
    const auto quoted = [&](const std::string& path) { text += " \"" + printable(path) + '"'; };
    if (!op.a.empty() || !op.b.empty()) quoted(op.a);
    if (!op.b.empty()) quoted(op.b);
    for (const std::uint64_t number : {op.x, op.y, op.z})
        text += " " + std::to_string(number);
    if (op.agent) text += " agent";
    return text;
}

std::string text_of(const Operations& operations) {
    std::string text;
    for (const Operation& operation : operations)
        text += "    " + text_of(operation) + "\n";
    return text;
}

std::string random_bytes(std::uint64_t seed, std::size_t size) {
    std::string text(size, '\0');
    std::uint64_t state = seed * 0x9E3779B97F4A7C15ULL + 1;
    for (std::size_t at = 0; at < size; at += 8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        std::memcpy(text.data() + at, &state, std::min<std::size_t>(8, size - at));
    }
    return text;
}

std::string some_acl(std::uint64_t n) {
    // Version 2, then entries of (tag, permissions, id), as in linux/posix_acl_xattr.h.
    std::string text("\x02\0\0\0", 4);
    const auto entry = [&](std::uint16_t tag, std::uint16_t permissions, std::uint32_t id) {
        char bytes[8];
        std::memcpy(bytes, &tag, 2);
        std::memcpy(bytes + 2, &permissions, 2);
        std::memcpy(bytes + 4, &id, 4);
        text.append(bytes, sizeof bytes);
    };
    constexpr std::uint32_t kNone = ~0U;
    entry(0x01, 7, kNone);
    entry(0x02, static_cast<std::uint16_t>(n % 8), 1234);
    entry(0x04, 5, kNone);
    entry(0x10, 7, kNone);
    entry(0x20, static_cast<std::uint16_t>(n % 5), kNone);
    return text;
}

}  // namespace unwrite::tests
