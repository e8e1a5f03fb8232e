#include "journal/checksums.h"

#include <fcntl.h>

#include <utility>

#include "base/crash_point.h"
#include "journal/codec.h"
#include "journal/frames.h"

namespace unwrite::journal {

namespace {

constexpr const char* kFile = "checksums.log";
constexpr std::string_view kMagic = "UNWRSUM\n";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint8_t kOfDelta = 1;
// Of the records, as many may be of deltas that are gone.
constexpr std::uint64_t kMostStale = 64;

std::string make_record(DeltaNumber delta, const BlockChecksums& sums) {
    Encoder out;
    out.put(delta);
    out.put_bytes(encode_checksums(sums));
    return make_frame(kOfDelta, out.text());
}

std::optional<std::pair<DeltaNumber, ChecksumsPtr>> parse_record(const Frame& frame) {
    constexpr std::size_t kNumber = sizeof(DeltaNumber);
    if (frame.type != kOfDelta || frame.payload.size() < kNumber) return std::nullopt;
    Decoder in(frame.payload.first(kNumber));
    const auto delta = in.get<DeltaNumber>();
    auto sums = decode_checksums(frame.payload.subspan(kNumber));
    if (!sums || delta == 0) return std::nullopt;
    return std::pair{delta, std::make_shared<const BlockChecksums>(*std::move(sums))};
}

std::string damaged_at(std::size_t position) {
    return "checksums.log: the record at byte " + std::to_string(position) +
           " is damaged; the bytes it speaks of are still there, but not proved by it any more";
}

}  // namespace

Result<std::unique_ptr<Checksums>> Checksums::open(int state) {
    std::unique_ptr<Checksums> sums(new Checksums(state));
    TRY(sums->load());
    return sums;
}

Result<> Checksums::load() {
    TRY_ASSIGN(const std::string text, read_whole(state_, kFile));
    const auto version = parse_file_header(kMagic, text);
    if (version && *version > kVersion) {
        return Error(ErrorKind::kRecovery, EIO,
                     "read checksums.log: its format is version " + std::to_string(*version) +
                         ", this program knows version 1",
                     "use the program that wrote it");
    }
    if (!version && text.size() >= kFileHeader)
        problems_.push_back("checksums.log: it does not begin as it should");
    FrameReader reader(std::as_bytes(std::span(text)), version ? kFileHeader : 0);
    for (;;) {
        const FrameReader::Status status = reader.next();
        if (status == FrameReader::Status::kDamaged) {
            problems_.push_back(damaged_at(reader.position()));
            reader.skip_damage();
            continue;
        }
        if (status != FrameReader::Status::kFrame) break;
        ++records_;
        if (auto record = parse_record(reader.frame())) {
            by_file_[record->second->file] = record->second;
            by_delta_[record->first] = std::move(record->second);
        } else {
            problems_.push_back(damaged_at(reader.frame().position));
        }
    }
    end_ = version ? reader.position() : 0;
    return {};
}

ChecksumsPtr Checksums::find(DeltaNumber delta) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_delta_.find(delta);
    return found == by_delta_.end() ? nullptr : found->second;
}

ChecksumsPtr Checksums::of_file(const ObjectKey& file) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_file_.find(file);
    return found == by_file_.end() ? nullptr : found->second.lock();
}

Result<> Checksums::add(DeltaNumber delta, ChecksumsPtr sums) {
    const std::string record = make_record(delta, *sums);
    if (record.size() > kMaxFrame) return {};
    const std::lock_guard lock(mutex_);
    if (!problems_.empty()) TRY(write_anew());
    if (!file_) {
        TRY_ASSIGN(file_, sys::open_at(state_, kFile, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600));
        TRY(sys::truncate(file_.get(), end_));  // an append that a kill cut short
    }
    crash_point("checksums.append.before");
    const std::string text =
        (end_ == 0 ? make_file_header(kMagic, kVersion) : std::string()) + record;
    TRY(sys::write_all_at(file_.get(), std::as_bytes(std::span(text)), end_));
    end_ += text.size();
    crash_point("checksums.append.after");
    ++records_;
    by_file_[sums->file] = sums;
    by_delta_[delta] = std::move(sums);
    return {};
}

Result<> Checksums::keep_only(const std::set<DeltaNumber>& deltas, DeltaNumber from) {
    const std::lock_guard lock(mutex_);
    bool must = false;
    std::erase_if(by_delta_, [&](const auto& entry) {
        const bool is_late = entry.first >= from;
        must = must || is_late;
        return is_late || !deltas.contains(entry.first);
    });
    std::erase_if(by_file_, [](const auto& entry) { return entry.second.expired(); });
    if (must || records_ > 2 * by_delta_.size() + kMostStale) return write_anew();
    return {};
}

// After this no damage is left to be named: whoever opens the journal as its writer has seen it.
Result<> Checksums::write_anew() {
    std::string text = make_file_header(kMagic, kVersion);
    for (const auto& [delta, sums] : by_delta_)
        text += make_record(delta, *sums);
    TRY(sys::replace_file_at(state_, kFile, text, 0600));
    file_.reset();
    end_ = text.size();
    records_ = by_delta_.size();
    problems_.clear();
    return {};
}

std::vector<std::string> Checksums::problems() const {
    const std::lock_guard lock(mutex_);
    return problems_;
}

}  // namespace unwrite::journal
