// Little-endian encoding of the journal's own records. The decoder survives any bytes: whatever
// does not fit makes it fail once and for all, and reads as zero.
#pragma once

#include <concepts>
#include <cstring>
#include <string>
#include <string_view>

#include "base/object_key.h"
#include "base/syscalls.h"

namespace unwrite::journal {

class Encoder {
 public:
    template <std::unsigned_integral T>
    void put(T value) {
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            text_ += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
        }
    }
    void put(const ObjectKey& key) {
        put(key.ino);
        put(key.birth);
    }
    void put_bytes(std::string_view bytes) { text_ += bytes; }
    /// A name with its length before it.
    void put_name(std::string_view name) {
        put(static_cast<std::uint16_t>(name.size()));
        put_bytes(name);
    }
    const std::string& text() const { return text_; }

 private:
    std::string text_;
};

class Decoder {
 public:
    explicit Decoder(sys::ConstBytes bytes) : rest_(bytes) {}

    template <std::unsigned_integral T>
    T get() {
        T value = 0;
        const sys::ConstBytes part = take(sizeof(T));
        for (std::size_t i = 0; i < part.size(); ++i) {
            value = static_cast<T>(value | static_cast<T>(std::to_integer<T>(part[i]) << (8 * i)));
        }
        return value;
    }
    ObjectKey get_key() {
        const auto ino = get<std::uint64_t>();
        return {ino, get<std::uint64_t>()};
    }
    std::string get_bytes(std::size_t size) {
        const sys::ConstBytes part = take(size);
        return {reinterpret_cast<const char*>(part.data()), part.size()};
    }
    std::string get_name() { return get_bytes(get<std::uint16_t>()); }

    bool failed() const { return failed_; }
    /// Everything was there, and nothing more.
    bool complete() const { return !failed_ && rest_.empty(); }

 private:
    sys::ConstBytes take(std::size_t size) {
        if (failed_ || size > rest_.size()) {
            failed_ = true;
            return {};
        }
        const sys::ConstBytes part = rest_.first(size);
        rest_ = rest_.subspan(size);
        return part;
    }
    sys::ConstBytes rest_;
    bool failed_ = false;
};

/// Whether bytes can be one component of a path. A damaged record must not lead out of its
/// directory.
inline bool is_component(std::string_view name) {
    return !name.empty() && name.size() <= 4096 && name != "." && name != ".." &&
           name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

}  // namespace unwrite::journal
