#include "journal/delta_format.h"

#include "base/crc32c.h"
#include "journal/codec.h"

namespace unwrite::journal {

namespace {

constexpr std::string_view kMagic = "UNWRDLT\n";
constexpr std::uint32_t kVersion = 1;

}  // namespace

std::string delta_log_name(DeltaNumber number) {
    return std::to_string(number) + ".log";
}
std::string delta_data_name(DeltaNumber number) {
    return std::to_string(number) + ".dat";
}
std::string packed_data_name(DeltaNumber number) {
    return std::to_string(number) + ".dat.zst";
}
std::string unfinished_pack_name(DeltaNumber number) {
    return std::to_string(number) + ".dat.zst.new";
}

std::string encode_delta_header(DeltaNumber number) {
    Encoder out;
    out.put_bytes(kMagic);
    out.put(kVersion);
    out.put(std::uint32_t{0});
    out.put(number);
    out.put(crc32c(std::as_bytes(std::span(out.text()))));
    return out.text();
}

std::string encode_name(const NameImage& image, OriginNumber origin) {
    Encoder out;
    out.put(image.at.parent);
    out.put(static_cast<std::uint8_t>(image.object ? 1 : 0));
    out.put(image.object.value_or(ObjectKey{}));
    out.put(image.type);
    out.put(origin);
    out.put_name(image.at.name);
    return out.text();
}

std::string encode_attributes(const ObjectKey& object, const Attributes& image,
                              OriginNumber origin) {
    Encoder out;
    out.put(object);
    out.put(origin);
    out.put(image.mode);
    out.put(image.uid);
    out.put(image.gid);
    out.put(static_cast<std::uint64_t>(image.mtime_s));
    out.put(image.mtime_ns);
    out.put(static_cast<std::uint32_t>(image.xattrs.size()));
    for (const auto& [name, value] : image.xattrs) {
        out.put_name(name);
        out.put(static_cast<std::uint32_t>(value.size()));
        out.put_bytes(value);
    }
    return out.text();
}

std::string encode_size(const ObjectKey& object, std::uint64_t size, OriginNumber origin) {
    Encoder out;
    out.put(object);
    out.put(origin);
    out.put(size);
    return out.text();
}

std::string encode_content(const ObjectKey& object, const ContentImage& image) {
    Encoder out;
    out.put(object);
    out.put(image.offset);
    out.put(image.length);
    out.put(image.position);
    return out.text();
}

std::string encode_touch_name(const NameKey& name, OriginNumber origin) {
    Encoder out;
    out.put(name.parent);
    out.put(origin);
    out.put_name(name.name);
    return out.text();
}

std::string encode_touch_object(const ObjectKey& object, OriginNumber origin) {
    Encoder out;
    out.put(object);
    out.put(origin);
    return out.text();
}

}  // namespace unwrite::journal
