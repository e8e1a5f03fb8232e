// The file of one delta: deltas/<N>.log, append-only records, each with a CRC-32C, and
// deltas/<N>.dat, the bytes of content images (delta_data.h reads them; pack.h compresses them when
// they are cold). docs/journal-format.md has the layout.
//
// Durability: a record is complete for every crash of the process once append returns (one
// write(2)); after kill -9 in the middle of an append the torn tail is cut off on reading, and the
// change it announced has not happened (invariant 1). sync() makes everything appended so far
// survive a power cut.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <unordered_set>

#include "base/unique_fd.h"
#include "journal/seals.h"

namespace unwrite::journal {

/// Appends to one delta. Thread-safe. The files are made at the first append, so an empty interval
/// has none.
class DeltaWriter {
 public:
    /// `deltas` is the open directory that holds the files and outlives the writer. Files of that
    /// number that exist are continued (a torn tail is cut first).
    DeltaWriter(int deltas, DeltaNumber number);
    ~DeltaWriter();

    DeltaNumber number() const { return number_; }
    /// True as long as nothing was appended (also in an earlier life of the same files).
    bool empty() const;

    Result<> name(const NameImage& image, OriginNumber origin);
    Result<> attributes(const ObjectKey& object, const Attributes& image, OriginNumber origin);
    /// The size before the first change of content. Comes before content() of the same object.
    Result<> size(const ObjectKey& object, std::uint64_t size, OriginNumber origin);
    /// Copies [offset, offset+length) of `source` into the data file (holes stay holes, reflink
    /// where possible) and then appends the records for it. `source` must be open for reading.
    Result<> content(const ObjectKey& object, int source, std::uint64_t offset,
                     std::uint64_t length);
    /// `origin` changed again what another origin had captured.
    Result<> touch_name(const NameKey& name, OriginNumber origin);
    Result<> touch_object(const ObjectKey& object, OriginNumber origin);

    /// From here until flush() records may stay in memory, for a delta that nothing depends on yet.
    /// When flush() or an append fails, the delta is useless.
    void hold();
    Result<> flush();

    /// Flushes, too.
    Result<> sync();

    /// The files as they are, for whoever syncs them: descriptors of their own (none where there is
    /// no file), and how much of them has whole records. Flushes.
    struct Files {
        DeltaNumber number = 0;
        UniqueFd data{};
        UniqueFd log{};
        std::uint64_t log_end = 0;
        std::uint64_t data_end = 0;
        /// In order: no record before its bytes, and their names.
        Result<> sync(int deltas) const;
    };
    Result<Files> files();

    /// Flushes, too: what the files are now. For when nothing more is appended.
    Result<DeltaSeal> seal();

 private:
    struct State;
    std::unique_ptr<State> state_;
    DeltaNumber number_;
};

/// Reads a delta whole; a missing file is an empty delta. kCorrupt with the byte position when a
/// record in the middle is damaged (a torn tail is not damage).
Result<Delta> read_delta(int deltas, DeltaNumber number);
/// Reads a delta that is still written to: what was appended since the last call, each time. Not
/// thread-safe.
class DeltaFollower {
 public:
    /// `delta` is empty, and gets all that is read; both outlive the follower.
    DeltaFollower(int deltas, DeltaNumber number, Delta& delta);
    ~DeltaFollower();

    /// What a call added.
    struct Added {
        std::vector<const NameState*> names{};  ///< in `delta`
        std::vector<ObjectKey> content{};       ///< objects with more ranges now
    };
    /// Errors as read_delta().
    Result<Added> read_on();

 private:
    struct State;
    std::unique_ptr<State> state_;
};

/// False for a delta without files or records.
bool delta_has_records(int deltas, DeltaNumber number);
/// The size of its files in bytes, holes included.
std::uint64_t delta_bytes(int deltas, DeltaNumber number);
/// Removes its files; missing ones are fine.
Result<> remove_delta(int deltas, DeltaNumber number);
/// Other objects stand for these now, in all that the delta says. Atomic; durable. No writer has
/// the delta open.
using ReplacedObjects = std::unordered_map<ObjectKey, ObjectKey>;
Result<> replace_objects(int deltas, DeltaNumber number, const ReplacedObjects& replaced,
                         const NoteSeal& note);
/// Says of a name what it was before all that the delta says of it, so that this wins. What it said
/// until then stays mentioned. `parent`: attributes of the name's directory, for a delta that has
/// none. Atomic; durable. No writer has the delta open.
Result<> put_first(int deltas, DeltaNumber number, const NameImage& image,
                   const std::optional<Attributes>& parent, const NoteSeal& note);
/// What a delta is not to say any more: the images of these names, the aspects of these objects.
struct LeftOut {
    std::unordered_set<NameKey> names{};
    std::unordered_set<ObjectKey> objects{};
};
/// Makes the delta `to`, to which nothing refers yet, of all that `from` says but for what is left
/// out, and of the names `absent`, of which `from` says nothing, that nothing stood there. The
/// captured bytes are shared, not copied. `from` is sealed: nobody writes it any more. Atomic;
/// durable.
Result<> derive_delta(int deltas, DeltaNumber from, DeltaNumber to, const LeftOut& left_out,
                      const std::vector<NameKey>& absent);
/// Cuts the log off at the first thing that is no record, if that is at `from` or behind it: after
/// a power cut, what was written last may be there in pieces.
Result<> trim_delta(int deltas, DeltaNumber number, std::uint64_t from);
/// The numbers of all deltas that have files.
Result<std::vector<DeltaNumber>> list_deltas(int deltas);

}  // namespace unwrite::journal
