// What is read back from the disk, what arrives at the daemon's socket, and names under rules.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "control/dispatch.h"
#include "journal/checksums.h"
#include "journal/delta_format.h"
#include "journal/frames.h"
#include "journal/packed_data.h"
#include "overlay/git_index.h"
#include "overlay/policy.h"
#include "tests/control/fake_operations.h"
#include "tests/fuzz/targets.h"

namespace unwrite::fuzz {

namespace {

constexpr std::string_view kDivider = "\n===\n";

void expected(bool truth, const char* words) {
    if (truth) return;
    static_cast<void>(std::fprintf(stderr, "not so: %s\n", words));
    std::abort();
}

std::vector<std::string_view> pieces_of(std::string_view input) {
    std::vector<std::string_view> pieces;
    for (std::size_t at = 0;;) {
        const std::size_t end = input.find(kDivider, at);
        pieces.push_back(input.substr(at, end - at));
        if (end == std::string_view::npos) return pieces;
        at = end + kDivider.size();
    }
}

void check_delta(std::string_view bytes) {
    const auto parsed = journal::parse_delta(std::as_bytes(std::span(bytes)), 7);
    if (!parsed) {
        expected(!parsed.error().message().empty(), "damage is told in words");
        return;
    }
    expected(parsed->end <= bytes.size(), "the records end within the file");
    for (const auto& [key, image] : parsed->delta.objects) {
        expected(image.content.empty() || image.size.has_value(), "content has a size");
        auto ranges = image.content;
        std::sort(ranges.begin(), ranges.end(),
                  [](const auto& a, const auto& b) { return a.offset < b.offset; });
        std::uint64_t end = 0;
        for (const auto& range : ranges) {
            expected(range.offset >= end && range.length > 0, "ranges are apart");
            expected(range.offset + range.length > range.offset, "ranges do not wrap");
            end = range.offset + range.length;
        }
    }
    for (const auto& [at, state] : parsed->delta.names) {
        expected(!at.name.empty() && at.name != "." && at.name != ".." &&
                     at.name.find('/') == std::string::npos,
                 "a name is one");
    }
}

void check_packed(std::string_view bytes) {
    UniqueFd file(::memfd_create("packed", MFD_CLOEXEC));
    expected(sys::write_all_at(file.get(), std::as_bytes(std::span(bytes)), 0).ok(),
             "it is written");
    const auto opened = journal::PackedData::open(std::move(file), "it");
    if (!opened) {
        expected(!opened.error().message().empty(), "damage is told in words");
        return;
    }
    const journal::PackedTable& table = (*opened)->table();
    std::uint64_t end = 0;
    std::vector<std::byte> out(journal::kPackedBlock + 100);
    for (const auto& block : table.blocks) {
        expected(block.position >= end && block.length > 0 && block.length <= journal::kPackedBlock,
                 "blocks are apart, and not large");
        end = block.position + block.length;
        expected(end <= table.raw_size, "and within the whole");
        const std::uint64_t from = block.position - std::min<std::uint64_t>(block.position, 10);
        const auto got = (*opened)->read(out, from);
        expected(!got || *got == std::min<std::uint64_t>(out.size(), table.raw_size - from),
                 "all that there is is read");
    }
    const auto behind = (*opened)->read(out, table.raw_size);
    expected(behind.ok() && *behind == 0, "there is nothing behind the end");
}

/// A directory that is removed afterwards.
class Folder {
 public:
    Folder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "unwrite-XXXXXX").string();
        expected(::mkdtemp(pattern.data()) != nullptr, "there is a directory");
        path_ = pattern;
        auto fd = sys::open_at(AT_FDCWD, pattern, O_RDONLY | O_DIRECTORY);
        expected(fd.ok(), "which can be opened");
        fd_ = *std::move(fd);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    int fd() const { return fd_.get(); }
    void write(const std::string& name, std::string_view text) const {
        expected(sys::replace_file_at(fd(), name, text, 0600).ok(), "it is written");
    }

 private:
    std::filesystem::path path_;
    UniqueFd fd_;
};

/// A table of what the line says: the size, then four numbers for each block.
std::string table_of(std::string_view line) {
    journal::PackedTable table;
    std::istringstream numbers{std::string(line)};
    numbers >> table.raw_size;
    journal::PackedBlock block;
    while (numbers >> block.position >> block.length >> block.stored >> block.crc)
        table.blocks.push_back(block);
    return journal::encode_packed_table(table);
}

}  // namespace

// Here, too, the checksum of the table is right.
void packed(std::string_view input) {
    check_packed(input);
    const auto pieces = pieces_of(input);
    std::string file;
    for (std::size_t i = 1; i < pieces.size(); ++i)
        file += pieces[i];
    check_packed(file + table_of(pieces.front()));
}

// The checksums of frames are right here, for no fuzzer finds them.
void delta(std::string_view input) {
    check_delta(input);
    std::string framed = journal::encode_delta_header(7);
    for (const std::string_view piece : pieces_of(input)) {
        if (piece.empty()) continue;
        framed += journal::make_frame(static_cast<std::uint8_t>(piece.front()), piece.substr(1));
    }
    check_delta(framed);
}

// As records without and with a frame around them; what is understood is written as it was read.
void checksums(std::string_view input) {
    const auto bytes = std::as_bytes(std::span(input));
    const auto sums = journal::decode_checksums(bytes);
    if (sums) {
        expected(journal::encode_checksums(*sums) == input, "it is read as it was written");
        std::uint64_t end = 0;
        for (const auto& run : sums->runs) {
            expected(run.first >= end && !run.checksums.empty(), "runs are apart");
            end = run.end();
            expected(sums->of(run.first) == run.checksums.front(), "a block is found");
            expected(!sums->of(end) || sums->of(end) == sums->of(end), "so is the next one");
        }
        expected(!sums->of(end), "there are none behind the last");
    }
    const Folder state;
    for (const bool framed : {false, true}) {
        state.write("checksums.log",
                    framed ? journal::make_file_header("UNWRSUM\n", 1) +
                                 journal::make_frame(1, std::string(8, '\1') + std::string(input))
                           : std::string(input));
        const auto log = journal::Checksums::open(state.fd());
        if (!log) {
            expected(!log.error().message().empty(), "damage is told in words");
            continue;
        }
        expected(!framed || (*log)->problems().empty() == sums.has_value(), "damage is named");
        const auto found = (*log)->find(0x0101010101010101);
        expected(!framed || (found != nullptr) == sums.has_value(), "what is whole is found");
    }
}

void socket(std::string_view input) {
    control::FakeOperations operations;
    control::Agents agents;
    control::Service service;
    service.stop = []() -> Result<> { return {}; };
    control::Dispatch dispatch(operations, service, agents);
    for (const bool agent : {false, true}) {
        const control::Client client{control::Peer{::getpid(), ::getuid()}, agent};
        const auto request = control::parse_request(input);
        if (!request) break;
        const std::string answer =
            control::format_answer(request->id, dispatch.call(client, *request));
        expected(answer.find('\n') == std::string::npos, "an answer is one line");
        const auto back = control::parse_answer(answer, request->id);
        expected(back.ok() || back.error().kind() != ErrorKind::kCorrupt, "and can be read");
    }
    const auto answer = control::parse_answer(input, 1);
    if (!answer) return;
    overlay::Log log;
    overlay::Status status;
    overlay::Moved moved;
    if (control::decode(*answer, log)) static_cast<void>(control::encode(log));
    if (control::decode(*answer, status)) static_cast<void>(control::encode(status));
    if (control::decode(*answer, moved)) static_cast<void>(control::encode(moved));
}

// The last piece is a path, those before it are patterns.
void rules(std::string_view input) {
    const auto pieces = pieces_of(input);
    std::vector<overlay::Rule> list;
    for (std::size_t i = 0; i + 1 < pieces.size() && i < 8; ++i) {
        list.push_back({.pattern = std::string(pieces[i]),
                        .action = i % 2 == 0 ? overlay::Action::kDeny : overlay::Action::kHide,
                        .style = i % 3 == 0 ? overlay::Glob::Style::kCrossing
                                            : overlay::Glob::Style::kRelative});
    }
    const auto policy = overlay::Policy::compile(list);
    if (!policy) {
        expected(!policy.error().message().empty(), "a wrong pattern is told in words");
        return;
    }
    const std::string_view path = pieces.back();
    const auto agent = (*policy)->judge(path, S_IFREG, true);
    const auto again = (*policy)->judge(path, S_IFREG, true);
    expected(agent.may_read == again.may_read && agent.hidden == again.hidden, "a verdict is one");
    expected(agent.may_read || agent.reading != nullptr, "what is refused is refused by a rule");
}

// Bytes that are understood are known by this: another checksum is no other index.
void gitindex(std::string_view input) {
    using overlay::same_git_entries;
    const auto pieces = pieces_of(input);
    const std::string_view a = pieces.front();
    const std::string_view b = pieces[pieces.size() > 1 ? 1 : 0];
    const std::string_view c = pieces.back();
    expected(same_git_entries(a, a), "what is equal is the same");
    const bool same = same_git_entries(a, b);
    expected(same == same_git_entries(b, a), "it is the same both ways");
    expected(!same || !same_git_entries(b, c) || same_git_entries(a, c), "the same as the same");
    const auto with_other_byte = [&](std::size_t at) {
        std::string other(a);
        if (at < other.size()) other[at] = static_cast<char>(other[at] ^ 0x55);
        return other;
    };
    if (a.size() < 12 || !same_git_entries(a, with_other_byte(a.size() - 1))) return;
    for (std::size_t at = 0; at < 12; ++at)
        expected(!same_git_entries(a, with_other_byte(at)), "the header has a meaning");
    if (a.substr(8, 4) == std::string_view("\0\0\0\0", 4)) return;
    expected(same_git_entries(a, with_other_byte(12)), "when a file was seen has none");
    expected(!same_git_entries(a, with_other_byte(12 + 24 + 3)), "its mode has one");
}

}  // namespace unwrite::fuzz
