#include "base/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace unwrite {

namespace {

using Table = std::array<std::uint32_t, 256>;

constexpr std::array<Table, 8> make_tables() {
    std::array<Table, 8> tables{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit)
            value = (value >> 1) ^ ((value & 1U) * 0x82F63B78U);
        tables[0][i] = value;
    }
    for (std::size_t slice = 1; slice < 8; ++slice) {
        for (std::size_t i = 0; i < 256; ++i) {
            const std::uint32_t before = tables[slice - 1][i];
            tables[slice][i] = (before >> 8) ^ tables[0][before & 0xFFU];
        }
    }
    return tables;
}

constexpr std::array<Table, 8> kTables = make_tables();

constexpr std::uint32_t byte_at(std::span<const std::byte> data, std::size_t at) {
    return std::to_integer<std::uint32_t>(data[at]);
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_hardware(std::span<const std::byte> data,
                                                            std::uint32_t crc) {
    std::uint64_t state = ~crc;
    while (data.size() >= 8) {
        std::uint64_t word;
        std::memcpy(&word, data.data(), sizeof word);
        state = _mm_crc32_u64(state, word);
        data = data.subspan(8);
    }
    auto rest = static_cast<std::uint32_t>(state);
    for (const std::byte byte : data)
        rest = _mm_crc32_u8(rest, std::to_integer<std::uint8_t>(byte));
    return ~rest;
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(std::span<const std::byte> data, std::uint32_t crc) {
    std::uint32_t state = ~crc;
    while (data.size() >= 8) {
        const std::uint32_t low = state ^ (byte_at(data, 0) | byte_at(data, 1) << 8 |
                                           byte_at(data, 2) << 16 | byte_at(data, 3) << 24);
        state = kTables[7][low & 0xFFU] ^ kTables[6][(low >> 8) & 0xFFU] ^
                kTables[5][(low >> 16) & 0xFFU] ^ kTables[4][low >> 24] ^
                kTables[3][byte_at(data, 4)] ^ kTables[2][byte_at(data, 5)] ^
                kTables[1][byte_at(data, 6)] ^ kTables[0][byte_at(data, 7)];
        data = data.subspan(8);
    }
    for (const std::byte byte : data) {
        state = (state >> 8) ^ kTables[0][(state ^ std::to_integer<std::uint32_t>(byte)) & 0xFFU];
    }
    return ~state;
}

std::uint32_t crc32c(std::span<const std::byte> data, std::uint32_t crc) {
#if defined(__x86_64__)
    static const bool hardware = __builtin_cpu_supports("sse4.2") != 0;
    if (hardware) return by_hardware(data, crc);
#endif
    return crc32c_by_table(data, crc);
}

}  // namespace unwrite
