// Changes of content. Beside the rules there are limits to what may be copied to take them back.
#include <algorithm>
#include <cerrno>
#include <span>

#include "overlay/policed_tree.h"

namespace unwrite::overlay {

namespace {

// FALLOC_FL_...
constexpr int kKeepSize = 1;
constexpr int kPunchHole = 2;
constexpr int kCollapse = 8;
constexpr int kInsert = 32;

std::string mebibytes(std::uint64_t bytes) {
    return std::to_string((bytes + (std::uint64_t{1} << 20) - 1) >> 20) + " MiB";
}

}  // namespace

// Whose stores come through a mapping is not known; they are captured whatever it costs.
Result<> PolicedTree::may_copy(const Caller& caller, const char* operation, NodeId id,
                               std::uint64_t offset, std::uint64_t length) const {
    if ((cap_.bytes == 0 && reserve_.bytes() == 0) || caller.pid == 0) return {};
    const auto object = objects_.get(id);
    if (!object || !S_ISREG((*object)->type())) return {};
    const auto copied = capture_.copied_with(*object, offset, length);
    if (!copied || *copied == 0) return {};
    // Whole blocks are copied; what the interval holds of the file already is not copied again.
    const std::uint64_t more = std::min(*copied, std::max(length, kBlockSize));
    if (origins_.is_agent(caller.pid) && !reserve_.allows(more)) {
        return refuse_reserved(
            caller, operation, path_of(id),
            "to take it back more would have to be copied than there is room for");
    }
    return within_cap(caller, operation, id, *copied);
}

Error PolicedTree::refuse_reserved(const Caller& caller, const char* operation,
                                   const std::optional<std::string>& path,
                                   const char* detail) const {
    Matter matter;
    matter.rule = "journal.reserve, " + mebibytes(reserve_.bytes());
    matter.detail = detail;
    matter.error = ENOSPC;
    return refuse(caller, operation, path, matter);
}

namespace {

constexpr const char* kKeptForUser = "the last free room of the disk is kept for you";

}  // namespace

// What lies in blocks that the file has takes no room.
std::uint64_t PolicedTree::grows_by(NodeId id, std::uint64_t offset, std::uint64_t length) const {
    const auto object = objects_.get(id);
    const auto st = object ? objects_.stat(*object) : Result<struct stat>(object.error());
    if (!st || !S_ISREG(st->st_mode)) return 0;
    const auto size = static_cast<std::uint64_t>(st->st_size);
    const bool has_holes = static_cast<std::uint64_t>(st->st_blocks) * 512 < size;
    if (has_holes || offset >= size) return length;
    return offset + length > size ? offset + length - size : 0;
}

Result<> PolicedTree::may_grow(const Caller& caller, const char* operation, NodeId id,
                               std::uint64_t offset, std::uint64_t length) const {
    if (reserve_.lasts(length)) return {};
    if (caller.pid == 0 || !origins_.is_agent(caller.pid)) return {};
    const std::uint64_t more = grows_by(id, offset, length);
    if (more == 0 || reserve_.lasts(more)) return {};
    return refuse_reserved(caller, operation, path_of(id), kKeptForUser);
}

Result<> PolicedTree::may_make(const Caller& caller, const char* operation, NodeId parent,
                               std::string_view name, std::uint64_t bytes) const {
    if (reserve_.lasts(bytes)) return {};
    if (caller.pid == 0 || !origins_.is_agent(caller.pid)) return {};
    const auto path = name.empty() ? path_of(parent) : path_below(parent, name);
    return refuse_reserved(caller, operation, path, kKeptForUser);
}

Result<> PolicedTree::within_cap(const Caller& caller, const char* operation, NodeId id,
                                 std::uint64_t copied) const {
    if (cap_.bytes == 0 || copied <= cap_.bytes) return {};
    const bool agent = origins_.is_agent(caller.pid);
    if (cap_.subjects == Subjects::kAgents && !agent) return {};
    Matter matter;
    matter.rule = "policy.size_cap, " + mebibytes(cap_.bytes);
    matter.detail = "to take it back " + mebibytes(copied) + " would have to be copied";
    matter.error = EDQUOT;
    matter.topic = matter.rule;
    const auto path = path_of(id);
    if (!path) return refuse(caller, operation, path, matter);
    matter.topic += '\0' + *path;
    return ask(caller, operation, *path, matter);
}

Result<struct stat> PolicedTree::setattr(const Caller& caller, NodeId id,
                                         const AttributeChange& change) {
    const Leaves leaves = !change.mode                  ? Leaves::kItsMode
                          : (*change.mode & 0111U) != 0 ? Leaves::kAnything
                                                        : Leaves::kNotExecutable;
    TRY(may_change(caller, "setattr", id,
                   {leaves, change.size ? cut(id, *change.size) : as_it_is(id)}));
    if (change.size) TRY(may_copy(caller, "truncate", id, *change.size, UINT64_MAX - *change.size));
    const std::uint64_t from = change.size.value_or(0);
    TRY(may_overwrite(caller, "setattr", id, from, change.size ? UINT64_MAX - from : 0));
    return tree_.setattr(caller, id, change);
}

Result<HandlePtr> PolicedTree::backing(const Caller& caller, NodeId id, bool writes) {
    const Mark mark = mark_of(id);
    if (mark.protects() && refusals(mark, caller).read)
        return refuse(caller, "open", path_of(id), S_IFREG);
    return tree_.backing(caller, id, writes);
}

// What comes will not be seen, so it is judged as if all of the file were overwritten.
Result<> PolicedTree::begin_unseen(const Caller& caller, NodeId id) {
    TRY(may_change(caller, "open", id, {Leaves::kItsMode, {}}));
    TRY(may_make(caller, "open", id, {}, Reserve::kNextWrite));
    TRY(may_copy(caller, "open", id, 0, UINT64_MAX));
    TRY(may_overwrite(caller, "open", id, 0, UINT64_MAX));
    return tree_.begin_unseen(caller, id);
}

Result<std::size_t> PolicedTree::write(const Caller& caller, NodeId id, sys::ConstBytes data,
                                       std::uint64_t offset, bool kill_privileges) {
    TRY(may_change(caller, "write", id, {Leaves::kItsMode, written(id, data, offset)}));
    TRY(may_copy(caller, "write", id, offset, data.size()));
    TRY(may_grow(caller, "write", id, offset, data.size()));
    TRY(may_overwrite(caller, "write", id, offset, data.size()));
    return tree_.write(caller, id, data, offset, kill_privileges);
}

Result<> PolicedTree::fallocate(const Caller& caller, NodeId id, int mode, std::uint64_t offset,
                                std::uint64_t length) {
    // Allocation alone changes nothing that is read.
    TRY(may_change(caller, "fallocate", id,
                   {Leaves::kItsMode, mode == kKeepSize ? as_it_is(id) : BytesLeft()}));
    // Any mode but plain allocation, as if all behind it changed: what moves is captured.
    if ((mode & ~kKeepSize) != 0)
        TRY(may_copy(caller, "fallocate", id, offset, UINT64_MAX - offset));
    if ((mode & (kPunchHole | kCollapse | kInsert)) == 0)
        TRY(may_grow(caller, "fallocate", id, offset, length));
    TRY(may_overwrite(caller, "fallocate", id, offset, (mode & ~kKeepSize) != 0 ? length : 0));
    return tree_.fallocate(caller, id, mode, offset, length);
}

Result<std::size_t> PolicedTree::copy_file_range(const Caller& caller, NodeId from,
                                                 std::uint64_t from_offset, NodeId to,
                                                 std::uint64_t to_offset, std::size_t length) {
    const BytesLeft copied = [&]() -> std::optional<std::string> {
        std::string bytes(std::min<std::size_t>(length, Beginning::kMostBytes), '\0');
        const auto count = tree_.read(from, std::as_writable_bytes(std::span(bytes)), from_offset,
                                      AccessTime::kStays);
        if (!count || bytes.size() != length) return std::nullopt;
        bytes.resize(*count);
        return written(to, std::as_bytes(std::span(bytes)), to_offset)();
    };
    TRY(may_change(caller, "copy_file_range", to, {Leaves::kItsMode, copied}));
    const Mark mark = mark_of(from);
    if (mark.protects() && refusals(mark, caller).read)
        return refuse(caller, "copy_file_range", path_of(from), S_IFREG);
    TRY(may_copy(caller, "copy_file_range", to, to_offset, length));
    TRY(may_grow(caller, "copy_file_range", to, to_offset, length));
    TRY(may_overwrite(caller, "copy_file_range", to, to_offset, length));
    return tree_.copy_file_range(caller, from, from_offset, to, to_offset, length);
}

}  // namespace unwrite::overlay
