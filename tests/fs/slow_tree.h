// SlowTree: a tree that hands everything on, holds removals or writes up as long as it is told to,
// and counts what it is asked about names and attributes.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "overlay/tree.h"

namespace unwrite::tests {

class SlowTree final : public overlay::Tree {
    using NodeId = overlay::NodeId;
    using Caller = overlay::Caller;
    using Entry = overlay::Entry;
    using View = std::string_view;

 public:
    explicit SlowTree(overlay::Tree& tree) : tree_(tree) {}
    std::atomic<bool> holds{false};         ///< no removal is handed on meanwhile
    std::atomic<bool> holds_writes{false};  ///< no write is
    std::atomic<bool> holds_reads{false};   ///< no read is
    std::atomic<bool> holds_sizes{false};   ///< no change of attributes is
    std::atomic<int> held{0};               ///< so many wait for that
    std::atomic<int> asked{0};

    void set_caches(overlay::KernelCaches* caches) override { tree_.set_caches(caches); }
    Result<Entry> lookup(const Caller& caller, NodeId parent, View name) override {
        ++asked;
        return tree_.lookup(caller, parent, name);
    }
    void forget(NodeId id, std::uint64_t lookups) override { tree_.forget(id, lookups); }
    Result<struct stat> getattr(NodeId id) override {
        ++asked;
        return tree_.getattr(id);
    }
    Result<struct stat> setattr(const Caller& caller, NodeId id,
                                const overlay::AttributeChange& change) override {
        wait_while(holds_sizes);
        return tree_.setattr(caller, id, change);
    }
    Result<std::string> readlink(NodeId id) override { return tree_.readlink(id); }
    Result<Entry> mknod(const Caller& caller, NodeId parent, View name, mode_t mode,
                        dev_t device) override {
        return tree_.mknod(caller, parent, name, mode, device);
    }
    Result<Entry> mkdir(const Caller& caller, NodeId parent, View name, mode_t mode) override {
        return tree_.mkdir(caller, parent, name, mode);
    }
    Result<Entry> symlink(const Caller& caller, NodeId parent, View name, View target) override {
        return tree_.symlink(caller, parent, name, target);
    }
    Result<Entry> create(const Caller& caller, NodeId parent, View name, mode_t mode) override {
        return tree_.create(caller, parent, name, mode);
    }
    Result<Entry> tmpfile(const Caller& caller, NodeId parent, mode_t mode) override {
        return tree_.tmpfile(caller, parent, mode);
    }
    Result<int> notice_behind() override { return tree_.notice_behind(); }
    overlay::ChangedBehind changed_behind() override { return tree_.changed_behind(); }
    std::vector<NodeId> files() const override { return tree_.files(); }
    bool keeps_names(overlay::NodeId directory) override { return tree_.keeps_names(directory); }
    bool keeps_absence(overlay::NodeId directory) override {
        return tree_.keeps_absence(directory);
    }
    bool keeps_attributes(overlay::NodeId id) override { return tree_.keeps_attributes(id); }
    Result<> allow_unseen() override { return tree_.allow_unseen(); }
    Result<overlay::HandlePtr> backing(const Caller& caller, NodeId id, bool writes) override {
        return tree_.backing(caller, id, writes);
    }
    Result<> begin_unseen(const Caller& caller, NodeId id) override {
        return tree_.begin_unseen(caller, id);
    }
    void end_unseen(NodeId id, bool may_be_mapped) override { tree_.end_unseen(id, may_be_mapped); }
    bool costs_little_unseen(NodeId id) override { return tree_.costs_little_unseen(id); }
    Result<> unlink(const Caller& caller, NodeId parent, View name) override {
        wait_while(holds);
        return tree_.unlink(caller, parent, name);
    }
    Result<> rmdir(const Caller& caller, NodeId parent, View name) override {
        return tree_.rmdir(caller, parent, name);
    }
    Result<> rename(const Caller& caller, NodeId parent, View name, NodeId to, View to_name,
                    unsigned flags) override {
        return tree_.rename(caller, parent, name, to, to_name, flags);
    }
    Result<Entry> link(const Caller& caller, NodeId id, NodeId to, View to_name) override {
        return tree_.link(caller, id, to, to_name);
    }
    Result<NodeId> made_in(NodeId nameless) override { return tree_.made_in(nameless); }
    Result<NodeId> exchange(const Caller& caller, NodeId made, View name,
                            const overlay::ExpectedBytes& expected,
                            std::optional<mode_t> mode) override {
        return tree_.exchange(caller, made, name, expected, mode);
    }
    Result<> remove_expected(const Caller& caller, NodeId made, View name,
                             const overlay::ExpectedBytes& expected) override {
        return tree_.remove_expected(caller, made, name, expected);
    }
    Result<std::size_t> read(NodeId id, sys::Bytes out, std::uint64_t offset,
                             overlay::AccessTime time) override {
        wait_while(holds_reads);
        return tree_.read(id, out, offset, time);
    }
    Result<std::size_t> write(const Caller& caller, NodeId id, sys::ConstBytes data,
                              std::uint64_t offset, bool kill) override {
        wait_while(holds_writes);
        return tree_.write(caller, id, data, offset, kill);
    }
    Result<> fsync(NodeId id, bool data_only) override { return tree_.fsync(id, data_only); }
    Result<> fallocate(const Caller& caller, NodeId id, int mode, std::uint64_t offset,
                       std::uint64_t length) override {
        return tree_.fallocate(caller, id, mode, offset, length);
    }
    Result<std::size_t> copy_file_range(const Caller& caller, NodeId from,
                                        std::uint64_t from_offset, NodeId to,
                                        std::uint64_t to_offset, std::size_t length) override {
        return tree_.copy_file_range(caller, from, from_offset, to, to_offset, length);
    }
    Result<std::uint64_t> lseek(NodeId id, std::uint64_t offset, int whence) override {
        return tree_.lseek(id, offset, whence);
    }
    Result<std::vector<overlay::ListedEntry>> read_directory(NodeId id, std::int64_t offset,
                                                             std::size_t limit) override {
        return tree_.read_directory(id, offset, limit);
    }
    Result<> fsync_directory(NodeId id) override { return tree_.fsync_directory(id); }
    Result<struct statvfs> statfs(NodeId id) override { return tree_.statfs(id); }
    Result<std::string> get_xattr(NodeId id, const std::string& name) override {
        return tree_.get_xattr(id, name);
    }
    Result<std::vector<std::string>> list_xattrs(NodeId id) override {
        return tree_.list_xattrs(id);
    }
    Result<> set_xattr(const Caller& caller, NodeId id, const std::string& name, View value,
                       int flags) override {
        return tree_.set_xattr(caller, id, name, value, flags);
    }
    Result<> remove_xattr(const Caller& caller, NodeId id, const std::string& name) override {
        return tree_.remove_xattr(caller, id, name);
    }

 private:
    void wait_while(const std::atomic<bool>& holding) {
        ++held;
        while (holding)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        --held;
    }

    overlay::Tree& tree_;
};

}  // namespace unwrite::tests
