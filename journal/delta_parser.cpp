// Reading a delta's bytes, which may be anything.
#include <cerrno>
#include <limits>
#include <map>

#include "base/crc32c.h"
#include "journal/codec.h"
#include "journal/delta_format.h"
#include "journal/delta_log.h"
#include "journal/frames.h"

namespace unwrite::journal {

namespace {

constexpr auto kMaxOffset = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

Error corrupt(DeltaNumber number, std::size_t position, std::string_view what) {
    return Error(ErrorKind::kCorrupt, EIO,
                 "read delta " + std::to_string(number) + ": " + std::string(what) + " at byte " +
                     std::to_string(position));
}

/// The parts of an object whose content is known already. First image wins.
class Coverage {
 public:
    /// Appends the parts of `image` that are not covered yet.
    void add(const ContentImage& image, std::vector<ContentImage>& out) {
        std::uint64_t at = image.offset;
        const std::uint64_t end = image.offset + image.length;
        auto next = runs_.upper_bound(at);
        if (next != runs_.begin()) at = std::max(at, std::prev(next)->second);
        while (at < end) {
            const std::uint64_t stop = next == runs_.end() ? end : std::min(end, next->first);
            if (stop > at) out.push_back(part(image, at, stop));
            if (next == runs_.end()) break;
            at = std::max(at, next->second);
            ++next;
        }
        mark(image.offset, end);
    }

 private:
    static ContentImage part(const ContentImage& image, std::uint64_t begin, std::uint64_t end) {
        const bool hole = image.position == ContentImage::kHole;
        return {begin, end - begin,
                hole ? ContentImage::kHole : image.position + (begin - image.offset)};
    }
    void mark(std::uint64_t begin, std::uint64_t end) {
        auto run = runs_.upper_bound(begin);
        if (run != runs_.begin() && std::prev(run)->second >= begin) {
            --run;
            begin = run->first;
        }
        while (run != runs_.end() && run->first <= end) {
            end = std::max(end, run->second);
            run = runs_.erase(run);
        }
        runs_.emplace_hint(run, begin, end);
    }
    std::map<std::uint64_t, std::uint64_t> runs_;  // begin -> end, disjoint
};

class Builder {
 public:
    /// `added` may be null.
    Builder(Delta& delta, DeltaFollower::Added* added) : delta_(delta), added_(added) {}

    /// False when the record makes no sense.
    bool add(const Frame& frame) {
        Decoder in(frame.payload);
        switch (static_cast<DeltaRecord>(frame.type)) {
            case DeltaRecord::kName:
                return add_name(in);
            case DeltaRecord::kAttributes:
                return add_attributes(in);
            case DeltaRecord::kSize:
                return add_size(in);
            case DeltaRecord::kContent:
                return add_content(in);
            case DeltaRecord::kTouchName:
                return touch_name(in);
            case DeltaRecord::kTouchObject:
                return touch_object(in);
        }
        return false;
    }

    /// Restoring content needs the size.
    bool every_content_has_a_size() const {
        for (const auto& [key, image] : delta_.objects) {
            if (!image.content.empty() && !image.size) return false;
        }
        return true;
    }

 private:
    bool add_name(Decoder& in) {
        NameImage image;
        image.at.parent = in.get_key();
        const auto present = in.get<std::uint8_t>();
        const ObjectKey object = in.get_key();
        image.type = in.get<std::uint32_t>();
        const auto origin = in.get<std::uint64_t>();
        image.at.name = in.get_name();
        if (!in.complete() || present > 1 || !is_component(image.at.name)) return false;
        if (present == 1) image.object = object;
        NameKey at = image.at;
        auto [entry, fresh] = delta_.names.try_emplace(std::move(at));
        if (fresh) {
            entry->second.image = std::move(image);
            if (added_ != nullptr) added_->names.push_back(&entry->second);
        }
        entry->second.origins.insert(origin);
        return true;
    }

    bool add_attributes(Decoder& in) {
        const ObjectKey object = in.get_key();
        const auto origin = in.get<std::uint64_t>();
        Attributes image;
        image.mode = in.get<std::uint32_t>();
        image.uid = in.get<std::uint32_t>();
        image.gid = in.get<std::uint32_t>();
        image.mtime_s = static_cast<std::int64_t>(in.get<std::uint64_t>());
        image.mtime_ns = in.get<std::uint32_t>();
        const auto count = in.get<std::uint32_t>();
        for (std::uint32_t i = 0; i < count && !in.failed(); ++i) {
            std::string name = in.get_name();
            const std::size_t size = in.get<std::uint32_t>();
            std::string value = in.get_bytes(size);
            if (name.empty() || name.find('\0') != std::string::npos) return false;
            image.xattrs.emplace_back(std::move(name), std::move(value));
        }
        if (!in.complete() || image.mtime_ns >= 1'000'000'000U) return false;
        ObjectImage& state = delta_.objects[object];
        if (!state.attributes) state.attributes = std::move(image);
        state.origins.insert(origin);
        return true;
    }

    bool add_size(Decoder& in) {
        const ObjectKey object = in.get_key();
        const auto origin = in.get<std::uint64_t>();
        const auto size = in.get<std::uint64_t>();
        if (!in.complete() || size > kMaxOffset) return false;
        ObjectImage& state = delta_.objects[object];
        if (!state.size) state.size = size;
        state.origins.insert(origin);
        return true;
    }

    bool add_content(Decoder& in) {
        const ObjectKey object = in.get_key();
        ContentImage image;
        image.offset = in.get<std::uint64_t>();
        image.length = in.get<std::uint64_t>();
        image.position = in.get<std::uint64_t>();
        if (!in.complete() || image.length == 0 || image.offset > kMaxOffset ||
            image.length > kMaxOffset - image.offset) {
            return false;
        }
        const bool hole = image.position == ContentImage::kHole;
        if (!hole && (image.position > kMaxOffset || image.length > kMaxOffset - image.position)) {
            return false;
        }
        coverage_[object].add(image, delta_.objects[object].content);
        if (added_ != nullptr) added_->content.push_back(object);
        return true;
    }

    bool touch_name(Decoder& in) {
        NameKey at;
        at.parent = in.get_key();
        const auto origin = in.get<std::uint64_t>();
        at.name = in.get_name();
        if (!in.complete() || !is_component(at.name)) return false;
        // Without an image there is nothing that a revert of this origin would have to leave alone.
        if (const auto entry = delta_.names.find(at); entry != delta_.names.end()) {
            entry->second.origins.insert(origin);
        }
        return true;
    }

    bool touch_object(Decoder& in) {
        const ObjectKey object = in.get_key();
        const auto origin = in.get<std::uint64_t>();
        if (!in.complete()) return false;
        delta_.objects[object].origins.insert(origin);
        return true;
    }

    Delta& delta_;
    DeltaFollower::Added* added_;
    std::unordered_map<ObjectKey, Coverage> coverage_;
};

/// True when the header is whole and ours; false when it was cut short, as by a kill at the first
/// append.
Result<bool> check_header(sys::ConstBytes bytes, DeltaNumber number) {
    const std::string expected = encode_delta_header(number);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.size() < expected.size()) {
        if (expected.starts_with(text)) return false;
        return corrupt(number, 0, "no header");
    }
    if (text.starts_with(expected)) return true;
    const std::string_view header = text.substr(0, kDeltaHeader);
    Decoder in(bytes.first(kDeltaHeader));
    const std::string magic = in.get_bytes(8);
    const auto version = in.get<std::uint32_t>();
    in.get<std::uint32_t>();
    in.get<std::uint64_t>();
    const bool whole = in.get<std::uint32_t>() ==
                       crc32c(std::as_bytes(std::span(header.substr(0, kDeltaHeader - 4))));
    if (!whole || !expected.starts_with(magic) || version <= 1) {
        return corrupt(number, 0, "a header that is not this delta's");
    }
    return Error(ErrorKind::kRecovery, EIO,
                 "read delta " + std::to_string(number) + ": its format is version " +
                     std::to_string(version) + ", this program knows version 1");
}

/// Adds the frames to what is built; where they end.
Result<std::size_t> build(Builder& builder, FrameReader& reader, DeltaNumber number,
                          std::uint64_t& records) {
    for (;;) {
        const std::size_t position = reader.position();
        const FrameReader::Status status = reader.next();
        if (status == FrameReader::Status::kDamaged)
            return corrupt(number, position, "a damaged record");
        if (status != FrameReader::Status::kFrame) return reader.position();
        if (!builder.add(reader.frame())) return corrupt(number, position, "a senseless record");
        ++records;
    }
}

}  // namespace

Result<ParsedDelta> parse_delta(sys::ConstBytes bytes, DeltaNumber number) {
    ParsedDelta parsed;
    TRY_ASSIGN(const bool has_header, check_header(bytes, number));
    if (!has_header) return parsed;
    FrameReader reader(bytes, kDeltaHeader);
    Builder builder(parsed.delta, nullptr);
    TRY_ASSIGN(parsed.end, build(builder, reader, number, parsed.records));
    if (!builder.every_content_has_a_size()) {
        return corrupt(number, reader.position(), "content of an object without its size");
    }
    return parsed;
}

struct DeltaFollower::State {
    State(int directory, DeltaNumber the_number, Delta& delta)
        : deltas(directory), number(the_number), builder(delta, &added) {}
    const int deltas;
    const DeltaNumber number;
    std::uint64_t position = 0;  // in the file: all before it is read
    Added added;
    Builder builder;
};

DeltaFollower::DeltaFollower(int deltas, DeltaNumber number, Delta& delta)
    : state_(std::make_unique<State>(deltas, number, delta)) {}

DeltaFollower::~DeltaFollower() = default;

Result<DeltaFollower::Added> DeltaFollower::read_on() {
    State& state = *state_;
    TRY_ASSIGN(const std::string text,
               read_from(state.deltas, delta_log_name(state.number), state.position));
    const auto bytes = std::as_bytes(std::span(text));
    state.added = {};
    std::size_t begin = 0;
    if (state.position == 0) {
        TRY_ASSIGN(const bool has_header, check_header(bytes, state.number));
        if (!has_header) return Added();
        begin = kDeltaHeader;
    }
    FrameReader reader(bytes, begin);
    std::uint64_t records = 0;
    TRY_ASSIGN(const std::size_t end, build(state.builder, reader, state.number, records));
    state.position += end;
    return std::move(state.added);
}

}  // namespace unwrite::journal
