// Listing. A reply takes as many entries as fit; the rest is asked for again from the last entry's
// offset.
#include <vector>

#include "fs/request.h"

namespace unwrite::fs {

namespace {

/// A reply in the making.
class Listing {
 public:
    Listing(fuse_req_t request, std::size_t size) : request_(request), buffer_(size) {}

    bool add(const overlay::ListedEntry& entry) {
        struct stat st = {};
        st.st_ino = entry.ino;
        st.st_mode = static_cast<mode_t>(entry.type) << 12U;
        return take(fuse_add_direntry(request_, at(), left(), entry.name.c_str(), &st, entry.next));
    }
    bool add(const overlay::ListedEntry& entry, const fuse_entry_param& parameters) {
        return take(fuse_add_direntry_plus(request_, at(), left(), entry.name.c_str(), &parameters,
                                           entry.next));
    }
    /// Whether the kernel took it.
    bool reply() { return fuse_reply_buf(request_, buffer_.data(), used_) == 0; }
    bool empty() const { return used_ == 0; }

 private:
    char* at() { return buffer_.data() + used_; }
    std::size_t left() const { return buffer_.size() - used_; }
    bool take(std::size_t length) {
        if (length > left()) return false;
        used_ += length;
        return true;
    }

    fuse_req_t request_;
    std::vector<char> buffer_;
    std::size_t used_ = 0;
};

void read_directory(Server& server, fuse_req_t request, fuse_ino_t id, std::size_t size,
                    off_t offset, fuse_file_info* /*info*/) {
    const auto entries = server.tree.read_directory(id, offset, size / tuning::kListedBytes + 1);
    if (!entries) {
        fuse_reply_err(request, entries.error().number());
        return;
    }
    Listing listing(request, size);
    for (const overlay::ListedEntry& entry : *entries) {
        if (!listing.add(entry)) break;
    }
    listing.reply();
}

bool is_dots(const std::string& name) {
    return name == "." || name == "..";
}

/// The parameters of one entry. "." and ".." and what cannot be looked up for another reason than
/// being gone are listed with id 0: a name without attributes, which counts no lookup. Nothing for
/// a name that vanished meanwhile.
std::optional<fuse_entry_param> look_up(Server& server, fuse_req_t request, fuse_ino_t parent,
                                        const overlay::ListedEntry& entry) {
    fuse_entry_param bare = {};
    bare.attr.st_ino = entry.ino;
    bare.attr.st_mode = static_cast<mode_t>(entry.type) << 12U;
    if (is_dots(entry.name)) return bare;
    overlay::Caller by = caller(request);
    by.listing = true;
    const auto found = server.tree.lookup(by, parent, entry.name);
    if (found) return entry_parameters(server, *found);
    if (found.error().number() == ENOENT) return std::nullopt;
    return bare;
}

void read_directory_plus(Server& server, fuse_req_t request, fuse_ino_t id, std::size_t size,
                         off_t offset, fuse_file_info* /*info*/) {
    const std::size_t limit = size / tuning::kListedPlusBytes + 1;
    Listing listing(request, size);
    std::vector<overlay::NodeId> counted;
    // A page of names that all vanished must not look like the end of the directory.
    for (bool full = false; !full && listing.empty();) {
        const auto entries = server.tree.read_directory(id, offset, limit);
        if (!entries) {
            fuse_reply_err(request, entries.error().number());
            return;
        }
        if (entries->empty()) break;
        for (const overlay::ListedEntry& entry : *entries) {
            offset = entry.next;
            const auto parameters = look_up(server, request, id, entry);
            if (!parameters) continue;
            full = !listing.add(entry, *parameters);
            if (parameters->ino != 0) counted.push_back(id_of(parameters->ino));
            if (full) {
                if (parameters->ino != 0) server.tree.forget(id_of(parameters->ino), 1);
                if (parameters->ino != 0) counted.pop_back();
                break;
            }
        }
    }
    if (!listing.reply()) {
        for (const overlay::NodeId lost : counted)
            server.tree.forget(lost, 1);
    }
}

void sync_directory(Server& server, fuse_req_t request, fuse_ino_t id, int /*data_only*/,
                    fuse_file_info* /*info*/) {
    reply(request, server.tree.fsync_directory(id));
}

}  // namespace

void add_directories(fuse_lowlevel_ops& operations) {
    operations.readdir = Door<read_directory>::enter;
    operations.readdirplus = Door<read_directory_plus>::enter;
    operations.fsyncdir = Door<sync_directory>::enter;
}

}  // namespace unwrite::fs
