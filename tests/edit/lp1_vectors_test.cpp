// LP1 cases with the answers of the first implementation of the format. Each is either answered
// alike here or listed below with the answer that is given instead, and why.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "edit/lp1.h"

namespace unwrite::edit {
namespace {

using Json = nlohmann::json;

struct Refusal {
    const char* answer;
    const char* why;
};

const std::map<std::string, Refusal>& refusals() {
    static const std::map<std::string, Refusal> listed = {
        {"trailing junk after END",
         {"PARSE-ERR Unexpected text after END",
          "the grammar ends at the footer; more is a patch "
          "that was cut wrongly"}},
        {"Foo line as F",
         {"PARSE-ERR Expected file section (F <path>)", "a word that begins with F is no section"}},
        {"F glued path",
         {"PARSE-ERR Expected file section (F <path>)", "the grammar wants a blank behind F"}},
        {"bare path trailing junk",
         {"PARSE-ERR Expected file section (F <path>)",
          "a path with blanks needs quotes; half of "
          "it names another file"}},
        {"bare path with inner quote",
         {"PARSE-ERR Invalid quoted path", "a bare path has no quote by the grammar"}},
        {"stray 'For' starts new section",
         {"PARSE-ERR Unknown LP1 operation", "text outside blocks is a mistake, not a section"}},
        {"R2 glued occ",
         {"PARSE-ERR Unknown LP1 operation", "the grammar wants a blank before an occurrence"}},
        {"R 02", {"PARSE-ERR Invalid occurrence", "the grammar has no leading zero"}},
        {"N+ glued",
         {"PARSE-ERR Invalid N flag; expected + or -",
          "the grammar wants a blank before the flag"}},
        {"ENDX in section",
         {"PARSE-ERR Unknown LP1 operation", "refused there too, but ENDX is no E"}},
        {"double CR in patch line",
         {"PARSE-ERR Bare CR in patch", "the file could never be patched again"}},
        {"inner CR in patch line",
         {"PARSE-ERR Bare CR in patch", "the file could never be patched again"}},
        {"unicode ws header (NBSP)",
         {"PARSE-ERR Invalid LP1 header", "only blanks and tabs are trimmed by the grammar"}},
    };
    return listed;
}

std::filesystem::path vectors_file() {
    const char* root = std::getenv("UNWRITE_SOURCE_DIR");
    return (root != nullptr ? std::filesystem::path(root) / "tests" / "edit"
                            : std::filesystem::path(__FILE__).parent_path()) /
           "lp1-vectors.json";
}

std::string unhex(const std::string& hex) {
    std::string bytes;
    for (std::size_t at = 0; at + 1 < hex.size(); at += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
    return bytes;
}

std::string debug_text(std::string_view bytes) {
    static const std::map<char, std::string> kEscapes = {
        {'\n', "\\n"}, {'\r', "\\r"}, {'\t', "\\t"}, {'"', "\\\""}, {'\\', "\\\\"}, {'\0', "\\0"}};
    std::string text = "\"";
    for (const char byte : bytes) {
        const auto escape = kEscapes.find(byte);
        text += escape != kEscapes.end() ? escape->second : std::string(1, byte);
    }
    return text + '"';
}

// The answer in the form of the vectors; only the first section is applied.
std::string answer(const std::string& patch, const std::string& bytes, MixedEndings mode) {
    const auto sections = parse_lp1(patch);
    if (!sections) return "PARSE-ERR " + sections.error().message();
    if (sections->empty()) return "OK nofiles";
    std::string paths;
    for (const Lp1Section& section : *sections)
        paths += (paths.empty() ? "" : ", ") + debug_text(section.path);
    auto file = read_text(bytes, mode);
    if (!file) return "FILE-ERR " + file.error().message();
    const auto applied = apply_lp1(sections->front(), *file);
    if (!applied) return "APPLY-ERR " + applied.error().message();
    return "OK paths=[" + paths + "] out=" + debug_text(written(*file));
}

Json vectors() {
    std::ifstream file(vectors_file());
    return Json::parse(file, nullptr, /*allow_exceptions=*/false);
}

TEST(Lp1Vectors, S155_EachIsAnsweredAlikeOrRefusedForAReason) {
    const Json cases = vectors();
    ASSERT_TRUE(cases.is_array());
    ASSERT_EQ(cases.size(), 63U);
    std::size_t refused = 0;
    for (const Json& one : cases) {
        const std::string name = one["name"];
        SCOPED_TRACE(name);
        const std::string ours =
            answer(one["patch"], unhex(one["file_hex"]), MixedEndings::kNormalize);
        const auto listed = refusals().find(name);
        if (listed == refusals().end()) {
            EXPECT_EQ(ours, one["ref"].get<std::string>());
            continue;
        }
        ++refused;
        EXPECT_EQ(ours, listed->second.answer) << listed->second.why;
        EXPECT_NE(ours, one["ref"].get<std::string>()) << "no longer a difference";
    }
    EXPECT_EQ(refused, refusals().size());
}

// How mixed endings are treated changes the answer to one case alone.
TEST(Lp1Vectors, S156_ModesOfMixedEndings) {
    for (const Json& one : vectors()) {
        const std::string name = one["name"];
        SCOPED_TRACE(name);
        const std::string bytes = unhex(one["file_hex"]);
        const std::string patch = one["patch"];
        const std::string normalized = answer(patch, bytes, MixedEndings::kNormalize);
        const bool mixed = name == "mixed eol tie -> LF";
        EXPECT_EQ(answer(patch, bytes, MixedEndings::kPreserve),
                  mixed ? "OK paths=[\"a.txt\"] out=\"a\\nb\\r\\nz\\n\"" : normalized);
        EXPECT_EQ(answer(patch, bytes, MixedEndings::kStrict),
                  mixed ? "FILE-ERR Mixed EOL detected" : normalized);
    }
}

}  // namespace
}  // namespace unwrite::edit
