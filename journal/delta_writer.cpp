// Appending to a delta.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <shared_mutex>
#include <utility>

#include "base/crash_point.h"
#include "base/crc32c.h"
#include "journal/data_file.h"
#include "journal/delta_format.h"
#include "journal/delta_log.h"
#include "journal/frames.h"

namespace unwrite::journal {

namespace {

constexpr std::uint64_t kUnit = 4096;
constexpr std::uint64_t kSmall = std::uint64_t{128} << 10;
constexpr std::size_t kMostHeld = std::size_t{256} << 10;

bool all_zero(sys::ConstBytes data) {
    return data[0] == std::byte{0} &&
           std::memcmp(data.data(), data.data() + 1, data.size() - 1) == 0;
}

}  // namespace

struct DeltaWriter::State {
    State(int directory, DeltaNumber delta) : deltas(directory), number(delta) { adopt(); }

    /// Looks at files of an earlier life.
    void adopt();
    Result<> adopt_log();
    Result<> append(DeltaRecord type, const std::string& payload);
    Result<> open_log();
    Result<> write_held();
    Result<std::uint64_t> reserve(std::uint64_t offset, std::uint64_t length);
    void give_back(std::uint64_t position, std::uint64_t length);
    Result<> content_small(const ObjectKey& object, int source, std::uint64_t offset,
                           std::uint64_t length);
    Result<> content_runs(const ObjectKey& object, int source, std::uint64_t offset,
                          std::uint64_t length);
    Result<> content_run(const ObjectKey& object, int source, std::uint64_t offset,
                         std::uint64_t length);

    const int deltas;
    const DeltaNumber number;
    mutable std::mutex mutex;  // guards all that follows but gate
    Result<> broken;           // why files of an earlier life cannot be continued
    UniqueFd log;
    UniqueFd data;
    bool packed = false;        // a sealed one, after all: its positions mean nothing here
    std::uint64_t log_end = 0;  // in the file, without what is held
    std::uint32_t log_crc = 0;  // of these bytes
    std::string held;           // records that are not in the file yet
    bool holding = false;
    std::uint64_t data_end = 0;
    int entries_synced = 0;  // how many of the two files have a durable name
    // Content holds it shared from its data to its record, sync() exclusively: else the record of
    // one could become durable by the other's sync before its data is.
    std::shared_mutex gate;
};

// Nearly all deltas are new ones. Without a log there is no data (remove_delta() removes the log
// first): what a kill left of it is written behind, and not looked for before that.
void DeltaWriter::State::adopt() {
    broken = adopt_log();
    if (!log) return;
    const auto st = sys::stat_at(deltas, delta_data_name(number));
    packed = !st && sys::stat_at(deltas, packed_data_name(number)).ok();
}

Result<> DeltaWriter::State::adopt_log() {
    auto existing = sys::open_at(deltas, delta_log_name(number), O_RDWR);
    if (!existing) {
        if (existing.error().number() == ENOENT) return {};
        return std::move(existing).error();
    }
    TRY_ASSIGN(const std::string text, read_whole(deltas, delta_log_name(number)));
    TRY_ASSIGN(const ParsedDelta parsed, parse_delta(std::as_bytes(std::span(text)), number));
    if (parsed.end < text.size()) TRY(sys::truncate(existing->get(), parsed.end));
    log = *std::move(existing);
    log_end = parsed.end;
    log_crc = crc32c(std::as_bytes(std::span(text)).first(parsed.end));
    return {};
}

Result<> DeltaWriter::State::open_log() {
    if (log) return {};
    TRY_ASSIGN(log, sys::open_at(deltas, delta_log_name(number), O_RDWR | O_CREAT, 0600));
    crash_point("delta.log.created");
    return {};
}

Result<> DeltaWriter::State::append(DeltaRecord type, const std::string& payload) {
    if (payload.size() >= kMaxFrame) return Error(E2BIG);
    const std::string frame = make_frame(static_cast<std::uint8_t>(type), payload);
    const std::lock_guard lock(mutex);
    TRY(broken);
    if (log_end == 0 && held.empty()) held = encode_delta_header(number);
    held += frame;
    if (holding && held.size() < kMostHeld) return {};
    return write_held();
}

/// A record is in the file when it is in no buffer, whatever becomes of the process.
Result<> DeltaWriter::State::write_held() {
    if (held.empty()) return {};
    const std::string text = std::exchange(held, {});
    TRY(open_log());
    crash_point("delta.append.before");
    const auto written = sys::write_all_at(log.get(), std::as_bytes(std::span(text)), log_end);
    if (!written) {
        ignore(sys::truncate(log.get(), log_end), "what is left is a torn tail, which readers cut");
        return written;
    }
    crash_point("delta.append.after");
    log_end += text.size();
    log_crc = crc32c(std::as_bytes(std::span(text)), log_crc);
    return {};
}

/// A place in the data file. From a page on, it lies in its page as the source does, as reflinks
/// need it.
Result<std::uint64_t> DeltaWriter::State::reserve(std::uint64_t offset, std::uint64_t length) {
    const std::lock_guard lock(mutex);
    TRY(broken);
    if (packed) {
        return Error(ErrorKind::kCorrupt, EIO,
                     "write to delta " + std::to_string(number) + ": its data is compressed");
    }
    if (!data) {
        TRY_ASSIGN(UniqueFd file,
                   sys::open_at(deltas, delta_data_name(number), O_RDWR | O_CREAT, 0600));
        crash_point("delta.data.created");
        TRY_ASSIGN(const struct stat st, sys::stat_fd(file.get()));
        data_end = static_cast<std::uint64_t>(st.st_size);
        data = std::move(file);
    }
    std::uint64_t position = data_end;
    if (length >= kUnit) {
        position = (data_end + kUnit - 1) / kUnit * kUnit + offset % kUnit;
    }
    data_end = position + length;
    return position;
}

/// After a failure: a full disk gets its space back when nobody wrote behind.
void DeltaWriter::State::give_back(std::uint64_t position, std::uint64_t length) {
    const std::lock_guard lock(mutex);
    if (data_end != position + length) return;
    data_end = position;
    ignore(sys::truncate(data.get(), position), "only space is lost");
}

Result<> DeltaWriter::State::content_small(const ObjectKey& object, int source,
                                           std::uint64_t offset, std::uint64_t length) {
    const auto size = static_cast<std::size_t>(length);
    const auto memory = std::make_unique_for_overwrite<std::byte[]>(size);
    const sys::Bytes bytes(memory.get(), size);
    TRY(sys::read_exactly_at(source, bytes, offset));
    if (all_zero(bytes)) {
        return append(DeltaRecord::kContent,
                      encode_content(object, {offset, length, ContentImage::kHole}));
    }
    const std::shared_lock shared(gate);
    TRY_ASSIGN(const std::uint64_t position, reserve(offset, length));
    const auto written = sys::write_all_at(data.get(), bytes, position);
    if (!written) {
        give_back(position, length);
        return written;
    }
    crash_point("delta.data.written");
    return append(DeltaRecord::kContent, encode_content(object, {offset, length, position}));
}

Result<> DeltaWriter::State::content_run(const ObjectKey& object, int source, std::uint64_t offset,
                                         std::uint64_t length) {
    const std::shared_lock shared(gate);
    TRY_ASSIGN(const std::uint64_t position, reserve(offset, length));
    const auto copied = sys::copy_bytes(source, offset, data.get(), position, length);
    if (!copied) {
        give_back(position, length);
        return copied;
    }
    crash_point("delta.data.written");
    return append(DeltaRecord::kContent, encode_content(object, {offset, length, position}));
}

Result<> DeltaWriter::State::content_runs(const ObjectKey& object, int source, std::uint64_t offset,
                                          std::uint64_t length) {
    const std::uint64_t end = offset + length;
    TRY_ASSIGN(const struct stat st, sys::stat_fd(source));
    if (static_cast<std::uint64_t>(st.st_size) < end) return Error(EIO);
    while (offset < end) {
        const sys::DataRun run = sys::next_data(source, offset, end);
        if (run.begin > offset) {
            TRY(append(DeltaRecord::kContent,
                       encode_content(object, {offset, run.begin - offset, ContentImage::kHole})));
        }
        if (run.finish > run.begin) {
            TRY(content_run(object, source, run.begin, run.finish - run.begin));
        }
        offset = run.finish;
    }
    return {};
}

DeltaWriter::DeltaWriter(int deltas, DeltaNumber number)
    : state_(std::make_unique<State>(deltas, number)), number_(number) {}

DeltaWriter::~DeltaWriter() = default;

bool DeltaWriter::empty() const {
    const std::lock_guard lock(state_->mutex);
    return state_->log_end <= kDeltaHeader && state_->held.empty() && state_->broken.ok();
}

Result<> DeltaWriter::name(const NameImage& image, OriginNumber origin) {
    return state_->append(DeltaRecord::kName, encode_name(image, origin));
}

Result<> DeltaWriter::attributes(const ObjectKey& object, const Attributes& image,
                                 OriginNumber origin) {
    return state_->append(DeltaRecord::kAttributes, encode_attributes(object, image, origin));
}

Result<> DeltaWriter::size(const ObjectKey& object, std::uint64_t size, OriginNumber origin) {
    return state_->append(DeltaRecord::kSize, encode_size(object, size, origin));
}

Result<> DeltaWriter::content(const ObjectKey& object, int source, std::uint64_t offset,
                              std::uint64_t length) {
    if (length == 0) return {};
    if (length <= kSmall) return state_->content_small(object, source, offset, length);
    return state_->content_runs(object, source, offset, length);
}

Result<> DeltaWriter::touch_name(const NameKey& name, OriginNumber origin) {
    return state_->append(DeltaRecord::kTouchName, encode_touch_name(name, origin));
}

Result<> DeltaWriter::touch_object(const ObjectKey& object, OriginNumber origin) {
    return state_->append(DeltaRecord::kTouchObject, encode_touch_object(object, origin));
}

void DeltaWriter::hold() {
    const std::lock_guard lock(state_->mutex);
    state_->holding = true;
}

Result<> DeltaWriter::flush() {
    const std::lock_guard lock(state_->mutex);
    state_->holding = false;
    return state_->write_held();
}

Result<DeltaWriter::Files> DeltaWriter::files() {
    TRY(flush());
    // Nobody is between bytes and their record.
    const std::unique_lock exclusive(state_->gate);
    const std::lock_guard lock(state_->mutex);
    Files files;
    files.number = number_;
    files.log_end = state_->log_end;
    files.data_end = state_->data_end;
    if (state_->data) {
        TRY_ASSIGN(files.data, sys::duplicate(state_->data.get()));
    } else if (state_->log) {
        // Of an earlier life: nothing was added to it in this one.
        auto data = sys::open_at(state_->deltas, delta_data_name(number_), O_RDONLY);
        if (!data && data.error().number() != ENOENT) return data.error();
        if (data) {
            TRY_ASSIGN(const struct stat st, sys::stat_fd(data->get()));
            files.data_end = static_cast<std::uint64_t>(st.st_size);
            files.data = *std::move(data);
        }
    }
    if (state_->log) {
        TRY_ASSIGN(files.log, sys::duplicate(state_->log.get()));
    }
    return files;
}

Result<> DeltaWriter::Files::sync(int deltas) const {
    if (data) TRY(sys::sync_data(data.get()));
    crash_point("delta.synced-data");
    if (log) TRY(sys::sync_data(log.get()));
    return data || log ? sys::sync(deltas) : Result<>();
}

Result<DeltaSeal> DeltaWriter::seal() {
    TRY(flush());
    const std::lock_guard lock(state_->mutex);
    TRY(state_->broken);
    if (state_->log_end <= kDeltaHeader) return DeltaSeal{number_, 0, 0, 0};
    TRY_ASSIGN(const std::uint64_t data, delta_data_size(state_->deltas, number_));
    return DeltaSeal{number_, state_->log_end, state_->log_crc, data};
}

Result<> DeltaWriter::sync() {
    TRY(flush());
    const std::unique_lock exclusive(state_->gate);
    int data = -1;
    int log = -1;
    int entries_synced = 0;
    {
        const std::lock_guard lock(state_->mutex);
        data = state_->data.get();
        log = state_->log.get();
        entries_synced = state_->entries_synced;
    }
    if (data >= 0) TRY(sys::sync_data(data));
    if (log >= 0) TRY(sys::sync_data(log));
    const int entries = (data >= 0 ? 1 : 0) + (log >= 0 ? 1 : 0);
    if (entries == entries_synced) return {};
    TRY(sys::sync(state_->deltas));
    const std::lock_guard lock(state_->mutex);
    state_->entries_synced = entries;
    return {};
}

}  // namespace unwrite::journal
