#include "journal/places.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "base/crash_point.h"
#include "base/log.h"
#include "journal/codec.h"
#include "journal/frames.h"

namespace unwrite::journal {

namespace {

constexpr const char* kFile = "places.log";
constexpr const char* kNewFile = "places.log.new";
constexpr std::string_view kMagic = "UNWRPLC\n";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint8_t kPlace = 1;
constexpr std::uint8_t kNoPlace = 2;
constexpr std::uint8_t kSuccessor = 3;
constexpr std::size_t kMostHeld = std::size_t{256} << 10;

std::string make_record(const ObjectKey& key, const NameKey& at) {
    Encoder out;
    out.put(key);
    out.put(at.parent);
    out.put_name(at.name);
    return make_frame(kPlace, out.text());
}

std::string make_end(const ObjectKey& key) {
    Encoder out;
    out.put(key);
    return make_frame(kNoPlace, out.text());
}

std::optional<ObjectKey> parse_end(const Frame& frame) {
    Decoder in(frame.payload);
    const ObjectKey key = in.get_key();
    if (frame.type != kNoPlace || !in.complete()) return std::nullopt;
    return key;
}

std::string make_successor(const ObjectKey& old, const ObjectKey& anew) {
    Encoder out;
    out.put(old);
    out.put(anew);
    return make_frame(kSuccessor, out.text());
}

std::optional<std::pair<ObjectKey, ObjectKey>> parse_successor(const Frame& frame) {
    Decoder in(frame.payload);
    const ObjectKey old = in.get_key();
    const ObjectKey anew = in.get_key();
    if (frame.type != kSuccessor || !in.complete()) return std::nullopt;
    return std::pair{old, anew};
}

std::optional<std::pair<ObjectKey, NameKey>> parse_record(const Frame& frame) {
    Decoder in(frame.payload);
    const ObjectKey key = in.get_key();
    NameKey at;
    at.parent = in.get_key();
    at.name = in.get_name();
    if (frame.type != kPlace || !in.complete() || !is_component(at.name)) return std::nullopt;
    return std::pair{key, std::move(at)};
}

}  // namespace

Result<std::unique_ptr<Places>> Places::open(int state) {
    std::unique_ptr<Places> places(new Places(state));
    TRY(places->load());
    return places;
}

Result<> Places::load() {
    TRY_ASSIGN(const std::string text, read_whole(state_, kFile));
    const auto version = parse_file_header(kMagic, text);
    if (version && *version > kVersion) {
        return Error(ErrorKind::kRecovery, EIO,
                     "read places.log: its format is version " + std::to_string(*version) +
                         ", this program knows version 1");
    }
    damaged_ = !version && text.size() >= kFileHeader;
    FrameReader reader(std::as_bytes(std::span(text)), version ? kFileHeader : 0);
    for (;;) {
        const FrameReader::Status status = reader.next();
        if (status == FrameReader::Status::kDamaged) {
            log::warning("places.log: skipped a damaged record at byte " +
                         std::to_string(reader.position()));
            damaged_ = true;
            reader.skip_damage();
            continue;
        }
        if (status != FrameReader::Status::kFrame) break;
        ++records_;
        if (auto place = parse_record(reader.frame())) {
            remember(place->first, std::move(place->second));
        } else if (const auto ended = parse_end(reader.frame())) {
            places_.erase(*ended);
            successors_.erase(*ended);
        } else if (const auto pair = parse_successor(reader.frame())) {
            successors_.insert_or_assign(pair->first, pair->second);
        }
    }
    end_ = version ? reader.position() : 0;
    return {};
}

void Places::remember(const ObjectKey& key, NameKey at) {
    auto [entry, fresh] = places_.try_emplace(key);
    if (!fresh) entry->second.before = std::move(entry->second.newest);
    entry->second.newest = std::move(at);
}

std::optional<Places::Place> Places::find(const ObjectKey& key) const {
    const std::lock_guard lock(mutex_);
    const auto entry = places_.find(key);
    if (entry == places_.end()) return std::nullopt;
    return entry->second;
}

bool Places::contains(const ObjectKey& key) const {
    const std::lock_guard lock(mutex_);
    return places_.contains(key);
}

Result<> Places::set(const ObjectKey& key, const NameKey& at) {
    const std::lock_guard lock(mutex_);
    return set_locked(key, at);
}

Result<> Places::set_locked(const ObjectKey& key, const NameKey& at) {
    if (!is_component(at.name)) return Error(EINVAL);
    const auto entry = places_.find(key);
    if (entry != places_.end() && entry->second.newest == at) return {};
    if (damaged_ || records_ > 4 * places_.size() + 1024) TRY(compact());
    held_ += make_record(key, at);
    ++records_;
    if (!holding_ || held_.size() >= kMostHeld) TRY(write_held());
    remember(key, at);
    return {};
}

void Places::hold() {
    const std::lock_guard lock(mutex_);
    holding_ = true;
}

Result<> Places::flush() {
    const std::lock_guard lock(mutex_);
    Result<> written = write_held();
    holding_ = false;
    return written;
}

Result<> Places::forget(const ObjectKey& key) {
    const std::lock_guard lock(mutex_);
    return forget_locked(key);
}

Result<> Places::begin_replace(const std::unordered_map<ObjectKey, ObjectKey>& replaced) {
    const std::lock_guard lock(mutex_);
    if (damaged_) TRY(compact());
    for (const auto& [old, anew] : replaced) {
        TRY(append(make_successor(old, anew)));
        successors_.insert_or_assign(old, anew);
    }
    return {};
}

std::optional<ObjectKey> Places::successor(const ObjectKey& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = successors_.find(key);
    return found == successors_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<ObjectKey> Places::replacing() const {
    const std::lock_guard lock(mutex_);
    std::vector<ObjectKey> keys;
    for (const auto& [old, anew] : successors_)
        keys.push_back(old);
    return keys;
}

Result<> Places::replace(const std::unordered_map<ObjectKey, ObjectKey>& replaced) {
    const std::lock_guard lock(mutex_);
    std::vector<std::pair<ObjectKey, NameKey>> moved;
    for (const auto& [key, place] : places_) {
        const auto self = replaced.find(key);
        const auto parent = replaced.find(place.newest.parent);
        if (self == replaced.end() && parent == replaced.end()) continue;
        NameKey at = place.newest;
        if (parent != replaced.end()) at.parent = parent->second;
        moved.emplace_back(self == replaced.end() ? key : self->second, std::move(at));
    }
    for (const auto& [key, at] : moved)
        TRY(set_locked(key, at));
    for (const auto& [old, anew] : replaced)
        TRY(forget_locked(old));
    return {};
}

Result<> Places::forget_locked(const ObjectKey& key) {
    if (!places_.contains(key) && !successors_.contains(key)) return {};
    if (damaged_) TRY(compact());
    TRY(append(make_end(key)));
    places_.erase(key);
    successors_.erase(key);
    return {};
}

Result<> Places::open_file() {
    if (file_) return {};
    TRY_ASSIGN(UniqueFd file, sys::open_at(state_, kFile, O_RDWR | O_CREAT, 0600));
    TRY(sys::truncate(file.get(), end_));  // a torn tail
    file_ = std::move(file);
    return {};
}

Result<> Places::append(const std::string& record) {
    held_ += record;
    ++records_;
    return write_held();
}

Result<> Places::write_held() {
    if (held_.empty()) return {};
    const auto written = write(std::exchange(held_, {}));
    // What was held is known in memory: the file is written anew before anything is appended.
    if (!written && holding_) damaged_ = true;
    return written;
}

Result<> Places::write(const std::string& records) {
    TRY(open_file());
    std::string text = end_ == 0 ? make_file_header(kMagic, kVersion) : std::string();
    text += records;
    crash_point("places.append.before");
    const auto written = sys::write_all_at(file_.get(), std::as_bytes(std::span(text)), end_);
    if (!written) {
        ignore(sys::truncate(file_.get(), end_), "what is left is a torn tail, which readers cut");
        return written;
    }
    crash_point("places.append.after");
    end_ += text.size();
    return {};
}

Result<> Places::compact() {
    std::string text = make_file_header(kMagic, kVersion);
    std::uint64_t records = 0;
    for (const auto& [key, place] : places_) {
        if (place.before) {
            text += make_record(key, *place.before);
            ++records;
        }
        text += make_record(key, place.newest);
        ++records;
    }
    for (const auto& [old, anew] : successors_) {
        text += make_successor(old, anew);
        ++records;
    }
    TRY_ASSIGN(UniqueFd file, sys::open_at(state_, kNewFile, O_RDWR | O_CREAT | O_TRUNC, 0600));
    TRY(sys::write_all_at(file.get(), std::as_bytes(std::span(text)), 0));
    // Once in a long while, so it may be safe from a power cut in any case.
    TRY(sys::sync_data(file.get()));
    crash_point("places.compact.written");
    TRY(sys::rename(state_, kNewFile, state_, kFile));
    crash_point("places.compact.renamed");
    file_ = std::move(file);
    end_ = text.size();
    records_ = records;
    held_.clear();
    damaged_ = false;
    return {};
}

Result<Leftovers> Places::clear() {
    const std::lock_guard lock(mutex_);
    TRY(remove_whole(state_, kFile));
    crash_point("places.cleared");
    file_.reset();
    held_.clear();
    successors_.clear();
    end_ = records_ = 0;
    damaged_ = false;
    return take_leftovers(places_);
}

Result<> Places::sync() {
    const std::lock_guard lock(mutex_);
    TRY(write_held());
    if (!file_) return {};
    TRY(sys::sync_data(file_.get()));
    return sys::sync(state_);
}

}  // namespace unwrite::journal
