// DataPath: how the bytes of open files travel between programs and the real directory.
//
// Observed: OPEN is answered once with "not implemented". The kernel opens and closes by itself
// from then on, keeps what was read, and every write is a request. Needs no right.
//
// Passthrough: the kernel reads the real file by itself. It writes by itself as well where the tree
// has what it must keep (Tree::begin_unseen); other writes stay requests. Costs a request for each
// open, spares one for each read and write, and the second copy in the page cache. Needs
// CAP_SYS_ADMIN and Linux 6.14 (6.9 has passthrough, but nothing to hold writers with).
//
// What the kernel allows for one file at a time (lab: EIO for whatever does not fit):
//
//   cached   reads and mappings through the page cache of the mount, writes are requests
//   backed   every open has the same backing file. With direct I/O besides, reads and writes are
//            requests all the same, and only a mapping goes to the backing file
//
// Thread-safe.
#pragma once

#include <memory>

#include "base/result.h"
#include "fs/library.h"
#include "overlay/tree.h"

namespace unwrite::fs {

class DataPath {
 public:
    virtual ~DataPath() = default;
    /// What it needs of the kernel, at INIT. False when the kernel has it not.
    virtual bool negotiate(fuse_conn_info& connection) = 0;
    /// How the kernel serves an open file, put into `info`. ENOSYS: it opens files by itself from
    /// now on. Each success is given back by close() with the same `info`. `changes` is false for a
    /// helper of ours, which opens for writing and writes nothing.
    virtual Result<> open(fuse_req_t request, const overlay::Caller& caller, overlay::NodeId id,
                          bool changes, fuse_file_info& info) = 0;
    virtual void close(fuse_req_t request, overlay::NodeId id, const fuse_file_info& info) = 0;
};

std::unique_ptr<DataPath> make_observed();
/// Whether this libfuse has it (since 3.17).
bool has_passthrough();
/// Null without it. `tree` outlives it.
std::unique_ptr<DataPath> make_passthrough(overlay::Tree& tree);

}  // namespace unwrite::fs
