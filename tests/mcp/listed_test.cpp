// The wire of tools/list, which every model pays for with each conversation: a golden file, and a
// limit on the words of each tool. `UNWRITE_GOLDEN=write` writes the file anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "edit/lp1.h"
#include "mcp/server.h"

namespace unwrite::mcp {
namespace {

std::string golden() {
    const char* root = std::getenv("UNWRITE_SOURCE_DIR");
    return std::string(root == nullptr ? "." : root) + "/tests/mcp/tools_list.json";
}

Json listed() {
    Json answer;
    ServerOptions options;
    options.enter = []() -> Result<std::unique_ptr<Room>> { return Error(ENOENT); };
    options.approval = Approval::kElicit;
    options.revert_to_state = true;
    Server server(std::move(options),
                  [&](const std::string& line) { answer = Json::parse(line)["result"]["tools"]; });
    server.take(
        R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})");
    server.step();
    return answer;
}

std::size_t words_of(const std::string& text) {
    std::istringstream words(text);
    std::size_t count = 0;
    for (std::string word; words >> word;)
        ++count;
    return count;
}

// Of what a model reads: the description and those of the arguments.
std::size_t words_in(const Json& json) {
    std::size_t count = 0;
    for (const auto& item : json.items()) {
        if (item.key() == "description" && item.value().is_string())
            count += words_of(item.value().get<std::string>());
        if (item.value().is_structured()) count += words_in(item.value());
    }
    return count;
}

Json with_words(const Json& tools) {
    Json words = Json::object();
    std::size_t all = 0;
    for (Json tool : tools) {
        tool.erase("outputSchema");
        const std::size_t count = words_in(tool);
        words[tool["name"].get<std::string>()] = count;
        all += count;
    }
    words["all"] = all;
    return Json{{"words", words}, {"tools", tools}};
}

TEST(Listed, S2_S90_S129_S130_TheWireIsAsItWasAgreed) {
    const Json now = with_words(listed());
    if (const char* how = std::getenv("UNWRITE_GOLDEN"); how != nullptr && how[0] == 'w')
        std::ofstream(golden()) << now.dump(2) << "\n";
    std::ifstream file(golden());
    ASSERT_TRUE(file.good()) << golden();
    EXPECT_EQ(Json::parse(file), now) << "UNWRITE_GOLDEN=write writes " << golden() << " anew";
}

TEST(Listed, S130_EachToolIsShort) {
    const Json words = with_words(listed())["words"];
    for (const auto& item : words.items()) {
        const std::size_t most = item.key() == "Edit" ? 320 : item.key() == "all" ? 850 : 140;
        EXPECT_LE(item.value().get<std::size_t>(), most) << item.key();
    }
}

TEST(Listed, S155_TheExampleInTheDescriptionIsAPatch) {
    for (const Json& tool : listed()) {
        if (tool["name"] != "Edit") continue;
        const std::string text = tool["description"];
        const std::size_t begin = text.find("LP1\n");
        const std::size_t end = text.find("\nEND\n", begin) + 5;
        const std::string example = text.substr(begin, end - begin);
        EXPECT_EQ(std::count(example.begin(), example.end(), '\n'), 6);
        const auto sections = edit::parse_lp1(example);
        ASSERT_TRUE(sections);
        EXPECT_EQ(sections->front().operations.size(), 1U);
    }
}

}  // namespace
}  // namespace unwrite::mcp
