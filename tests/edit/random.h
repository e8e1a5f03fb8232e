// Random texts for property tests. The seed is the same in every run unless UNWRITE_SEED names
// another; SCOPED_TRACE(random.trace()) puts it into a failure.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace unwrite::edit {

class Random {
 public:
    explicit Random(std::uint64_t seed) : seed_(chosen(seed)), engine_(seed_) {}

    std::string trace() const { return "UNWRITE_SEED=" + std::to_string(seed_); }

    /// From 0 to `limit` - 1; `limit` is at least 1.
    std::size_t below(std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(engine_);
    }
    bool chance(std::size_t one_in) { return below(one_in) == 0; }

    template <class T>
    const T& one_of(const std::vector<T>& values) {
        return values[below(values.size())];
    }

    /// Lines of few different texts, so that they repeat, with endings out of `endings`.
    std::string text(std::size_t lines, const std::vector<std::string>& endings) {
        static const std::vector<std::string> kLines = {
            "", "a", "b", "ab", "a b", " a", "ccc", "..", ".", "\xc3\xa4\xe2\x82\xac"};
        std::string text;
        for (std::size_t i = below(lines + 1); i > 0; --i)
            text += one_of(kLines) + one_of(endings);
        return chance(3) ? text + one_of(kLines) : text;
    }

    std::string bytes(std::size_t most) {
        std::string text;
        for (std::size_t i = below(most + 1); i > 0; --i)
            text += static_cast<char>(below(256));
        return text;
    }

 private:
    static std::uint64_t chosen(std::uint64_t seed) {
        const char* given = std::getenv("UNWRITE_SEED");
        return given != nullptr ? std::strtoull(given, nullptr, 10) : seed;
    }

    std::uint64_t seed_;
    std::mt19937_64 engine_;
};

}  // namespace unwrite::edit
