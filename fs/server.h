// Server: what every callback needs, reached through the session's user data. No callback keeps
// state of its own.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <span>

#include "fs/data_path.h"
#include "fs/library.h"
#include "fs/nudge.h"
#include "overlay/tree.h"

namespace unwrite::fs {

struct RawFlags;

/// The writes that come from mapped pages, as far as the workers took them, and the requests for
/// which the kernel holds such writes back. See Caches::write_back_all() in caches.cpp.
struct WriteBack {
    std::atomic<unsigned> receiving{0};   ///< workers that look for a request right now
    std::atomic<unsigned> in_flight{0};   ///< such writes that were taken and not answered yet
    std::atomic<std::uint64_t> taken{0};  ///< ever
    // Of RawFlags::in_background, ever.
    std::atomic<std::uint64_t> others_taken{0};
    std::atomic<std::uint64_t> others_answered{0};
    // Of RawFlags::resizes.
    std::atomic<unsigned> resizes{0};       ///< taken and not answered yet
    std::atomic<std::uint64_t> resized{0};  ///< answered, ever

    /// Those that were taken and not answered yet, or more.
    std::uint64_t others() const {
        const std::uint64_t answered = others_answered;
        return others_taken - answered;
    }
    void count_taken(const RawFlags& request);
    void count_answered(const RawFlags& request);
};

class Held;

struct Server {
    explicit Server(overlay::Tree& served) : tree(served) {}

    overlay::Tree& tree;
    fuse_session* session = nullptr;
    std::unique_ptr<DataPath> data_path = make_observed();  ///< Set before serving, or by INIT.

    /// INIT was answered: notifications make sense.
    std::atomic<bool> ready{false};
    /// The kernel drops all names at one call (FUSE_NOTIFY_INC_EPOCH).
    std::atomic<bool> epochs{false};
    /// What the tree's notice_behind() returned; -1: it was not asked, or cannot. Set before
    /// serving.
    int behind = -1;
    /// What the tree says may be kept long is (Tree::keeps_names): changes behind the mount are
    /// noticed.
    std::atomic<bool> keeps{false};
    /// The kernel drops all names it knows, at once and without a lock; nothing where it has not
    /// that call.
    void drop_names() const;
    /// The kernel drops the object's attributes, without a lock; its pages go when size or time
    /// turn out to be others.
    void drop_attributes(overlay::NodeId id) const;
    /// Its pages as well, which waits for requests about them.
    void drop_pages(overlay::NodeId id) const;
    /// The kernel marks the writes that must clear setuid/setgid (HANDLE_KILLPRIV_V2); else every
    /// write of a user does.
    std::atomic<bool> marks_kill{false};

    /// Whether the kernel gets several inodes of one file (audiences.h). Where it writes to the
    /// real file by itself, opening is judged instead. Set before serving.
    bool apart = true;
    std::atomic<bool> any_apart{false};  ///< the kernel got one

    /// The helper threads that call through the mount; see guest.h.
    std::atomic<pid_t> syncer{0};
    std::atomic<pid_t> announcer{0};
    Nudges nudges;
    WriteBack write_back;
    Held* held = nullptr;  ///< null: no request waits for an answer. Set before serving.
};

/// Whose request it is.
enum class Who {
    kOther,   ///< a process like any other (or the kernel itself)
    kSelf,    ///< a thread of this process: an answer might need the very thread that waits for it
    kSyncer,  ///< the helper that has dirty pages written back
    kAnnouncer,  ///< the helper that makes events for watchers; its changes are never carried out
};
Who who(const Server& server, pid_t thread);

/// What the request at hand carries beyond what libfuse hands on; set by whoever has it processed
/// before the callback runs.
struct RawFlags {
    bool kill_privileges = false;
    bool writes_back = false;    ///< a write of mapped pages
    bool in_background = false;  ///< perhaps one of those of which so many run at a time
    bool resizes = false;        ///< no mapped page of the file is written meanwhile
    bool interrupts = false;     ///< it is about another request
    std::uint64_t unique = 0;    ///< the kernel's number of it
    overlay::Audience audience = overlay::Audience::kEveryone;  ///< by which inode it is asked
    std::span<const char> bytes;           ///< the request as the kernel wrote it
    int answer = 0;                        ///< the errno to answer with instead of asking the tree
    overlay::QuestionNumber question = 0;  ///< which it must wait for, as the tree says
    bool clears_privileges = false;        ///< as the tree says: the kernel remembers another mode
};
RawFlags& raw_flags();
/// Reads them from the request as the kernel wrote it.
RawFlags decode_raw_flags(const void* request, std::size_t size);

/// The callbacks.
const fuse_lowlevel_ops& operations();

}  // namespace unwrite::fs
