// The files of deltas as a whole: reading, listing, removing.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <set>

#include "base/crash_point.h"
#include "journal/delta_format.h"
#include "journal/delta_log.h"
#include "journal/frames.h"

namespace unwrite::journal {

namespace {

std::optional<DeltaNumber> parse_file_name(const std::string& name) {
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos || name[0] == '0') return std::nullopt;
    static const std::set<std::string> kKinds = {".log", ".dat", ".dat.zst", ".dat.zst.new"};
    if (!kKinds.contains(name.substr(dot))) return std::nullopt;
    DeltaNumber number = 0;
    const auto [end, problem] = std::from_chars(name.data(), name.data() + dot, number);
    if (problem != std::errc{} || end != name.data() + dot) return std::nullopt;
    return number;
}

}  // namespace

Result<Delta> read_delta(int deltas, DeltaNumber number) {
    TRY_ASSIGN(const std::string text, read_whole(deltas, delta_log_name(number)));
    TRY_ASSIGN(ParsedDelta parsed, parse_delta(std::as_bytes(std::span(text)), number));
    return std::move(parsed.delta);
}

bool delta_has_records(int deltas, DeltaNumber number) {
    const auto log = sys::stat_at(deltas, delta_log_name(number));
    return log && log->st_size > static_cast<off_t>(kDeltaHeader);
}

std::uint64_t delta_bytes(int deltas, DeltaNumber number) {
    std::uint64_t bytes = 0;
    for (const std::string& name :
         {delta_log_name(number), delta_data_name(number), packed_data_name(number)}) {
        if (const auto file = sys::stat_at(deltas, name))
            bytes += static_cast<std::uint64_t>(file->st_size);
    }
    return bytes;
}

Result<> remove_delta(int deltas, DeltaNumber number) {
    // The log first: data without a log is nothing, a log without its data is damage. What is
    // compressed last: who compresses it just now looks for the log when it has that name.
    TRY(remove_whole(deltas, delta_log_name(number)));
    crash_point("delta.removed-log");
    TRY(remove_whole(deltas, delta_data_name(number)));
    return remove_whole(deltas, packed_data_name(number));
}

Result<> trim_delta(int deltas, DeltaNumber number, std::uint64_t from) {
    TRY_ASSIGN(const std::string text, read_whole(deltas, delta_log_name(number)));
    if (text.empty()) return {};
    const std::string header = encode_delta_header(number);
    std::uint64_t end = 0;
    if (text.starts_with(header)) {
        FrameReader reader(std::as_bytes(std::span(text)), header.size());
        while (reader.next() == FrameReader::Status::kFrame) {
        }
        end = reader.position();
    }
    if (end >= text.size() || end < from) return {};
    TRY_ASSIGN(const UniqueFd log, sys::open_at(deltas, delta_log_name(number), O_RDWR));
    TRY(sys::truncate(log.get(), end));
    return sys::sync_data(log.get());
}

Result<std::vector<DeltaNumber>> list_deltas(int deltas) {
    TRY_ASSIGN(const UniqueFd fd, sys::open_at(deltas, ".", O_RDONLY | O_DIRECTORY));
    TRY_ASSIGN(const auto entries, sys::read_directory(fd.get()));
    std::set<DeltaNumber> numbers;
    for (const auto& entry : entries) {
        if (const auto number = parse_file_name(entry.name)) numbers.insert(*number);
    }
    return std::vector<DeltaNumber>(numbers.begin(), numbers.end());
}

}  // namespace unwrite::journal
