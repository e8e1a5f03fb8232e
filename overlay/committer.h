// Committer: durability "ordered". A thread brings what was captured to the disk, in order, behind
// the back of whoever changes files: first the captured bytes, then the records, the names of both,
// the attic, the database, and at last the watermark (journal/watermark.h), which says how far that
// is. Nobody waits for it, and it looks at nothing that the hot path would have to keep.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "journal/watermark.h"
#include "overlay/capture.h"
#include "overlay/gate.h"

namespace unwrite::overlay {

class Committer {
 public:
    /// Nothing happens before start(). All outlive it.
    Committer(journal::Journal& journal, Capture& capture, Gate& gate)
        : journal_(journal), capture_(capture), gate_(gate) {}
    ~Committer() { stop(); }
    Committer(const Committer&) = delete;
    Committer& operator=(const Committer&) = delete;

    /// From here on the last watermark counts after a power cut, and new ones are made.
    Result<> start();
    bool is_on() const { return on_; }
    void stop();

    /// What was recorded until now, at once: with the gate closed. New states, which are made of
    /// the files as they are, follow with the thread's next round. Does nothing before start().
    Result<> commit();
    /// All of it, new states too, and nothing follows. Only when stopped.
    Result<> end();

 private:
    struct Seen {
        journal::DeltaNumber delta = 0;
        std::uint64_t log_end = 0;
        std::uint64_t data_end = 0;
        std::uint64_t passes = 0;  ///< of the gate, without our own
        bool operator==(const Seen&) const = default;
    };
    void work();
    Result<> commit_open();
    struct Taken {
        journal::DeltaWriter::Files files;
        Seen seen;
        std::int64_t time_ns = 0;
    };
    Result<Taken> take();
    Result<> look_for_states();
    Result<> sync_records(const Taken& taken);
    Result<> bring(const Taken& taken);
    Result<> bring_states(bool ended);
    Result<> write_mark();
    Result<> sync_sealed(journal::DeltaNumber from, journal::DeltaNumber to);

    journal::Journal& journal_;
    Capture& capture_;
    Gate& gate_;
    bool on_ = false;
    std::mutex committing_;           // one at a time
    std::uint64_t own_passes_ = 0;    // guarded by committing_
    bool settled_ = false;            // likewise
    Seen last_{};                     // guarded by committing_
    journal::NodeNumber newest_ = 0;  // likewise: the newest state that there is
    journal::Watermark mark_{};       // guarded by committing_
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stop_ = false;  // guarded by mutex_
    std::thread thread_;
};

}  // namespace unwrite::overlay
