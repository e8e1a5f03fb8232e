// Changes of content. Beside the rules there is a cap on what must be copied to take them back.
#include <cerrno>

#include "overlay/policed_tree.h"

namespace unwrite::overlay {

namespace {

std::string mebibytes(std::uint64_t bytes) {
    return std::to_string((bytes + (std::uint64_t{1} << 20) - 1) >> 20) + " MiB";
}

}  // namespace

// Whose stores come through a mapping is not known; they are captured whatever it costs.
Result<> PolicedTree::within_cap(const Caller& caller, const char* operation, NodeId id,
                                 std::uint64_t offset, std::uint64_t length) const {
    if (cap_.bytes == 0 || caller.pid == 0) return {};
    const auto object = objects_.get(id);
    if (!object || !S_ISREG((*object)->type())) return {};
    const auto copied = capture_.copied_with(*object, offset, length);
    if (!copied || *copied <= cap_.bytes) return {};
    const bool agent = origins_.is_agent(caller.pid);
    if (cap_.subjects == Subjects::kAgents && !agent) return {};
    Matter matter;
    matter.rule = "policy.size_cap, " + mebibytes(cap_.bytes);
    matter.detail = "to take it back " + mebibytes(*copied) + " would have to be copied";
    matter.error = EDQUOT;
    matter.topic = matter.rule;
    const auto path = path_of(id);
    if (!path) return refuse(caller, operation, path, matter);
    matter.topic += '\0' + *path;
    return ask(caller, operation, *path, matter);
}

Result<struct stat> PolicedTree::setattr(const Caller& caller, NodeId id,
                                         const AttributeChange& change) {
    TRY(may_change(caller, "setattr", id));
    if (change.size)
        TRY(within_cap(caller, "truncate", id, *change.size, UINT64_MAX - *change.size));
    const std::uint64_t from = change.size.value_or(0);
    TRY(may_overwrite(caller, "setattr", id, from, change.size ? UINT64_MAX - from : 0));
    return tree_.setattr(caller, id, change);
}

Result<std::size_t> PolicedTree::write(const Caller& caller, NodeId id, sys::ConstBytes data,
                                       std::uint64_t offset, bool kill_privileges) {
    TRY(may_change(caller, "write", id));
    TRY(within_cap(caller, "write", id, offset, data.size()));
    TRY(may_overwrite(caller, "write", id, offset, data.size()));
    return tree_.write(caller, id, data, offset, kill_privileges);
}

Result<> PolicedTree::fallocate(const Caller& caller, NodeId id, int mode, std::uint64_t offset,
                                std::uint64_t length) {
    TRY(may_change(caller, "fallocate", id));
    // Any mode but plain allocation, as if all behind it changed: what moves is captured.
    constexpr int kPlain = 1;  // FALLOC_FL_KEEP_SIZE
    if ((mode & ~kPlain) != 0)
        TRY(within_cap(caller, "fallocate", id, offset, UINT64_MAX - offset));
    TRY(may_overwrite(caller, "fallocate", id, offset, (mode & ~kPlain) != 0 ? length : 0));
    return tree_.fallocate(caller, id, mode, offset, length);
}

Result<std::size_t> PolicedTree::copy_file_range(const Caller& caller, NodeId from,
                                                 std::uint64_t from_offset, NodeId to,
                                                 std::uint64_t to_offset, std::size_t length) {
    TRY(may_change(caller, "copy_file_range", to));
    const Mark mark = mark_of(from);
    if (mark.protects() && refusals(mark, caller).read)
        return refuse(caller, "copy_file_range", path_of(from), S_IFREG);
    TRY(within_cap(caller, "copy_file_range", to, to_offset, length));
    TRY(may_overwrite(caller, "copy_file_range", to, to_offset, length));
    return tree_.copy_file_range(caller, from, from_offset, to, to_offset, length);
}

}  // namespace unwrite::overlay
