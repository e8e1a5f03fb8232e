#include "journal/seals.h"

#include <algorithm>
#include <cerrno>

#include "base/crc32c.h"
#include "journal/codec.h"
#include "journal/data_file.h"
#include "journal/delta_format.h"
#include "journal/frames.h"

namespace unwrite::journal {

namespace {

Error damaged(DeltaNumber number, const std::string& what) {
    return Error(ErrorKind::kCorrupt, EIO, "read delta " + std::to_string(number) + ": " + what,
                 "`unwrite check` lists what is damaged");
}

}  // namespace

std::uint32_t checksum_of(const DeltaSeal& seal) {
    Encoder out;
    out.put(seal.delta);
    out.put(seal.log_size);
    out.put(seal.log_crc);
    out.put(seal.data_size);
    return crc32c(std::as_bytes(std::span(out.text())));
}

Result<DeltaSeal> measure_delta(int deltas, DeltaNumber number) {
    TRY_ASSIGN(const std::string log, read_whole(deltas, delta_log_name(number)));
    const auto bytes = std::as_bytes(std::span(log));
    TRY_ASSIGN(const ParsedDelta parsed, parse_delta(bytes, number));
    if (parsed.records == 0) return DeltaSeal{number, 0, 0, 0};
    TRY_ASSIGN(const std::uint64_t data, delta_data_size(deltas, number));
    return DeltaSeal{number, parsed.end, crc32c(bytes.first(parsed.end)), data};
}

Result<> check_seal(int deltas, DeltaNumber number, const std::string& log,
                    const std::vector<DeltaSeal>& seals) {
    const auto bytes = std::as_bytes(std::span(log));
    const auto fits = [&](const DeltaSeal& seal) {
        // What a kill left behind the last record is cut by the next writer, not here.
        return seal.log_size == 0
                   ? log.size() <= kDeltaHeader
                   : log.size() >= seal.log_size &&
                         crc32c(bytes.first(static_cast<std::size_t>(seal.log_size))) ==
                             seal.log_crc;
    };
    const auto seal = std::find_if(seals.begin(), seals.end(), fits);
    if (seal == seals.end()) {
        if (seals.empty()) return damaged(number, "nothing says what its log was");
        if (log.empty()) return damaged(number, "its log is missing or empty");
        return damaged(number, "its log is not what was sealed");
    }
    if (seal->data_size == 0) return {};
    TRY_ASSIGN(const std::uint64_t data, delta_data_size(deltas, number));
    if (data < seal->data_size) return damaged(number, "captured bytes are missing");
    return {};
}

}  // namespace unwrite::journal
