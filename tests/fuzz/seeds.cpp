#include <map>

#include "base/compression.h"
#include "base/crc32c.h"
#include "journal/block_checksums.h"
#include "journal/delta_format.h"
#include "journal/frames.h"
#include "journal/packed_data.h"
#include "tests/fuzz/targets.h"

namespace unwrite::fuzz {

namespace {

std::string record(journal::DeltaRecord type, const std::string& payload) {
    return static_cast<char>(type) + payload;
}

/// One of each kind, as the target takes them.
std::string records() {
    using journal::DeltaRecord;
    const ObjectKey object{12, 34};
    journal::Attributes attributes;
    attributes.mode = 0100644;
    attributes.xattrs.emplace_back("user.a", "b");
    const NameKey name{object, "name"};
    std::string all = record(DeltaRecord::kName, journal::encode_name({name, object, 0100000}, 1));
    for (const std::string& one :
         {record(DeltaRecord::kAttributes, journal::encode_attributes(object, attributes, 1)),
          record(DeltaRecord::kSize, journal::encode_size(object, 100000, 2)),
          record(DeltaRecord::kContent, journal::encode_content(object, {0, 65536, 0})),
          record(DeltaRecord::kContent, journal::encode_content(object, {10, 80000, 65536})),
          record(DeltaRecord::kTouchName, journal::encode_touch_name(name, 3)),
          record(DeltaRecord::kTouchObject, journal::encode_touch_object(object, 3))})
        all += "\n===\n" + one;
    return all;
}

std::string whole_file() {
    const NameKey name{ObjectKey{1, 2}, "name"};
    return journal::encode_delta_header(7) +
           journal::make_frame(static_cast<std::uint8_t>(journal::DeltaRecord::kTouchName),
                               journal::encode_touch_name(name, 3));
}

/// The whole file, and what the target makes one of: size, blocks' lines, blocks.
std::vector<std::string> packed_files() {
    BlockCompressor compressor;
    journal::PackedTable table;
    table.raw_size = 20'000;
    std::string blocks;
    std::string lines;
    for (const std::string& text : {std::string(5000, 'a') + "b", std::string("short")}) {
        const auto bytes = std::as_bytes(std::span(text));
        const auto stored = compressor.compress(bytes);
        if (!stored) continue;
        journal::PackedBlock block;
        block.position = table.blocks.size() * 9000;
        block.at = blocks.size();
        block.length = static_cast<std::uint32_t>(text.size());
        block.stored = static_cast<std::uint32_t>(stored->size());
        block.crc = crc32c(bytes);
        table.blocks.push_back(block);
        blocks.append(reinterpret_cast<const char*>(stored->data()), stored->size());
        lines += " " + std::to_string(block.position) + " " + std::to_string(block.length) + " " +
                 std::to_string(block.stored) + " " + std::to_string(block.crc);
    }
    return {blocks + journal::encode_packed_table(table), "20000" + lines + "\n===\n" + blocks};
}

std::vector<std::string> checksums_of_files() {
    journal::BlockChecksums sums;
    sums.file = {12, 34};
    sums.size = 5 * journal::kChecksumBlock + 7;
    std::vector<std::string> all = {journal::encode_checksums(sums)};
    sums.runs.push_back({0, {1, 2}});
    sums.runs.push_back({3, {4, 5, 6}});
    all.push_back(journal::encode_checksums(sums));
    return all;
}

std::string big_endian(std::uint32_t number, int width) {
    std::string bytes;
    for (int byte = width - 1; byte >= 0; --byte)
        bytes += static_cast<char>((number >> (8U * static_cast<unsigned>(byte))) & 0xffU);
    return bytes;
}

/// Indexes of git with two entries; `seen` is what it remembers of the files.
std::string git_index(std::uint32_t version, std::size_t hash, char seen) {
    std::string all = "DIRC" + big_endian(version, 4) + big_endian(2, 4);
    for (const bool second : {false, true}) {
        const std::string name = second ? "dir/b" : "dir/a";
        const bool more = second && version > 2;
        const std::size_t before = all.size();
        all += std::string(24, seen) + big_endian(0100644, 4) + std::string(12, seen) +
               std::string(hash, 'h') + big_endian((more ? 0x4000U : 0U) | 5U, 2);
        if (more) all += big_endian(0x2000, 2);
        if (version == 4) {
            all += second ? std::string("\1b", 2) + '\0' : '\0' + name + '\0';
            continue;
        }
        all += name + '\0';
        while ((all.size() - before) % 8 != 0)
            all += '\0';
    }
    all += "TREE" + big_endian(3, 4) + std::string(3, seen) + "REUC" + big_endian(2, 4) + "xy";
    return all + std::string(hash, seen);
}

std::vector<std::string> git_indexes() {
    std::vector<std::string> all;
    for (const std::uint32_t version : {2U, 3U, 4U}) {
        for (const std::size_t hash : {std::size_t{20}, std::size_t{32}})
            all.push_back(git_index(version, hash, 'a') + "\n===\n" +
                          git_index(version, hash, 'b') + "\n===\n" +
                          git_index(version == 2 ? 2 : 7 - version, hash, 'c'));
    }
    return all;
}

using Seeds = std::vector<std::string>;

const std::map<std::string, Seeds, std::less<>>& all_seeds() {
    static const std::map<std::string, Seeds, std::less<>> seeds = {
        {"delta", {records(), whole_file()}},
        {"packed", packed_files()},
        {"checksums", checksums_of_files()},
        {"gitindex", git_indexes()},
        {"socket",
         {R"({"id":1,"command":"rollback","arguments":{"node":{"bytes":"Yf8="},"pop":true,"consent":"own","session":"s","cause":"{}"}})",
          R"({"id":1,"command":"decide","arguments":{"keep":["a"],"take_back":[],"parts":[{"path":"c","hunks":[1,3],"seen":""}],"text":"t"}})",
          R"({"id":1,"command":"marks","arguments":{"paths":["a",{"bytes":"Yf8="}]}})",
          R"({"id":1,"ok":true,"result":{"current":3,"entries":[{"node":{"number":3,"parent":1,"kind":"step","tags":{"by":"{}"}},"on_trunk":true,"changes":[{"kind":"renamed","path":"a","old_path":"b"}]}],"open_changes":[],"origins":[{"number":1}]}})",
          R"({"id":1,"ok":false,"error":{"kind":"nothing","number":0,"text":"x","hint":"y"}})"}},
        {"rules",
         {"*.pem\n===\n**/.git/**\n===\n!a/**/b\n===\na/c/b", "[a-z]?\\*{x,y}\n===\nab",
          "**/a*a*a*a*a*b/**\n===\n**/**/**/*.c\n===\naaaaaaaaaaaaaaaa/aaaaaaaaaaaa.c"}},
        {"lp1",
         {"LP1\nF a\nR\n1\n.\nx\n..y\n.\nEND\n\n===\n1\n2\n",
          "# c\nLP1\nF a\nR 2\nx\nx\n.\ny\n.\nI 1\n.\nz\n.\nEND\n\n===\nx\nx\nx\n",
          "LP1\r\nF \"a\"\r\nP 1\r\n2\r\n.\r\nn\r\n.\r\nE\r\n3\r\n.\r\nEND\r\n\n===\n1\r\n2\r\n3",
          "LP1\nF a\nT\nend\n.\nB\nstart\n.\nN -\nF b\nE\n2\n.\nF new\nT\n\n.\nN "
          "+\nEND\n\n===\na\nb\r\n",
          "LP1\nF \"q\\\"\\\\\"\nT\n...\n.\nEND"}},
        {"request",
         {R"({"path":"a","old_snippet":"b\nc","new_snippet":"x"})"
          "\n===\na\r\nb\r\nc\r\n",
          R"({"path":"a","old_snippet":"x","new_snippet":"","match_hint":{"start_line":2,"end_line":3},"region_id":"r"})"
          "\n===\nx\nx\ny\n",
          R"({"path":"a","start_line":1,"end_line":2,"new_content":"\u00e4","file_hash":null})"
          "\n===\n1\r2\r3",
          R"({"patch":"LP1\nEND\n"})", R"({"category":"step-summary","step":"n10","summary":"s"})",
          R"({"path":"a","start_line":1,"end_line":18446744073709551615,"new_content":""})"}},
        {"newlines",
         {"a\r\nb\rc\n\r\r\n\n\n===\nx\r\ny", "\r\n\r\n===\n\n", "one\ntwo\nthree\n\n===\n\r",
          "\xc3\xa4\xe2\x82\xac\xff\x1b[31m\x1b]0;t\x07", "aaaaaaaaa\n===\naa"}},
        {"unified",
         {"--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n 1\n-2\n+x\n\n===\n1\n2\n",
          "diff --git a/b b/c\nsimilarity index 90%\nrename from b\nrename to c\n--- a/b\n+++ b/c\n"
          "@@ -2 +2 @@\n-2\n+two\n\\ No newline at end of file\n",
          "diff --git \"a/n\\303\\244\" \"b/n\\303\\244\"\nnew file mode 100755\n--- "
          "/dev/null\n+++ "
          "\"b/n\\303\\244\"\n@@ -0,0 +1 @@\n+x\n",
          "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\n===\nx\n",
          "1\n2\n3\n4\n5\n6\n7\n8\n9\n\n===\n1\n2\nx\n4\n5\n6\n7\n8\n\n9"}},
        {"rpc",
         {R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}})"
          "\n"
          R"({"jsonrpc":"2.0","id":"a","method":"tools/list"})",
          R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"Edit","arguments":{"patch":"LP1\nEND\n"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})"
          "\n"
          R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}})",
          R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"result":{}},3])",
          R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"a","version":"1"}}})"
          "\n"
          R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"Undo","_meta":{"progressToken":1,"turn":"t"}}})"
          "\n"
          R"({"jsonrpc":"2.0","id":"unwrite-1","result":{"action":"accept","content":{}}})",
          R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"confirm","arguments":{"token":"1-2-3-4"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})",
          R"(edit a {"begun":{"token":"0a","files":[{"path":"a","after":null,"existed":true}],"directories":[]},"by":{"client":"a 1"}})",
          R"(edit a {"begun":{"token":"0a","files":[{"path":"a%20b","after":null,"existed":true}],"directories":["d"]}})"}}};
    return seeds;
}

}  // namespace

const std::vector<std::string>& seeds_of(std::string_view target) {
    static const Seeds none;
    const auto found = all_seeds().find(target);
    return found == all_seeds().end() ? none : found->second;
}

}  // namespace unwrite::fuzz
