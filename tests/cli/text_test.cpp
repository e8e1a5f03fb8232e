#include "cli/text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace unwrite::cli {
namespace {

TEST(Text, PlainNamesStayAsTheyAre) {
    for (const char* name : {"a", "src/main.c", "with blank", "gr\xc3\xbc\xc3\x9f",
                             "\xf0\x9f\x98\x80", "a'b", "$x", ""}) {
        EXPECT_EQ(quote_name(name), name);
    }
}

TEST(Text, NamesThatATerminalWouldActUponAreQuoted) {
    EXPECT_EQ(quote_name("a\nb"), "\"a\\nb\"");
    EXPECT_EQ(quote_name("a\tb"), "\"a\\tb\"");
    EXPECT_EQ(quote_name("\x1b[2J"), "\"\\033[2J\"");
    EXPECT_EQ(quote_name("say \"x\""), "\"say \\\"x\\\"\"");
    EXPECT_EQ(quote_name("back\\slash"), "\"back\\\\slash\"");
    EXPECT_EQ(quote_name("\x7f"), "\"\\177\"");
    EXPECT_EQ(quote_name(std::string("\0", 1)), "\"\\000\"");
    EXPECT_EQ(quote_name("\xff"), "\"\\377\"");
    EXPECT_EQ(quote_name("\xc3\xbc\xff"), "\"\\303\\274\\377\"");
    EXPECT_EQ(quote_name("a\xc2\x9bz"), "\"a\\302\\233z\"");  // C1: CSI in one character
    EXPECT_EQ(quote_name("a\xe2\x80\xaetxt"), "\"a\\342\\200\\256txt\"");  // right-to-left override
    EXPECT_EQ(quote_name("\xc3\xbc\n"), "\"\xc3\xbc\\n\"");
}

TEST(Text, HarmlessKeepsLinesAndShowsControls) {
    EXPECT_EQ(harmless("a\tb\nc"), "a\tb\nc");
    EXPECT_EQ(harmless("\x1b[31m"), "^[[31m");
    EXPECT_EQ(harmless("\r\a"), "^M^G");
    EXPECT_EQ(harmless("\xc3\xbc"), "\xc3\xbc");
    EXPECT_EQ(harmless("\xc2\x9b"), "<9B>");
    EXPECT_EQ(harmless("\xe2\x80\xae"), "<202E>");
}

TEST(Text, Counts) {
    EXPECT_EQ(counted(0, "file", "files"), "0 files");
    EXPECT_EQ(counted(1, "file", "files"), "1 file");
    EXPECT_EQ(counted(2, "file", "files"), "2 files");
}

TEST(Text, Sizes) {
    EXPECT_EQ(size_words(0), "0 B");
    EXPECT_EQ(size_words(1023), "1023 B");
    EXPECT_EQ(size_words(1024), "1.0 KiB");
    EXPECT_EQ(size_words(1536), "1.5 KiB");
    EXPECT_EQ(size_words(1048575), "1.0 MiB");
    EXPECT_EQ(size_words(~std::uint64_t{0}), "16.0 EiB");
}

TEST(Text, Times) {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
    EXPECT_EQ(time_words(0), "1970-01-01 00:00:00");
    EXPECT_EQ(time_words(1'795'327'403'000'000'000), "2026-11-22 06:03:23");
}

TEST(Text, SizesAndAgesAreRead) {
    EXPECT_EQ(*parse_size("512"), 512u);
    EXPECT_EQ(*parse_size("10K"), 10240u);
    EXPECT_EQ(*parse_size("1.5G"), 1610612736u);
    EXPECT_EQ(*parse_age("30d"), 2592000u);
    EXPECT_EQ(*parse_age("90"), 90u);
    EXPECT_EQ(*parse_age("12h"), 43200u);
    for (const char* text :
         {"", "x", "-1", "1X", "10KB", "1 K", "nan", "inf", "1e30", "99999999999999T"}) {
        EXPECT_FALSE(parse_size(text)) << text;
        EXPECT_FALSE(parse_age(text)) << text;
    }
}

TEST(Text, NumbersAndNodes) {
    EXPECT_EQ(*parse_number("12"), 12u);
    for (const char* text : {"", "n1", "-1", "+1", "1x", " 1", "99999999999999999999"}) {
        EXPECT_FALSE(parse_number(text)) << text;
    }
    EXPECT_TRUE(is_node("n1"));
    EXPECT_TRUE(is_node("n120"));
    for (const char* text : {"", "n", "1", "nn1", "n1x", "N1"})
        EXPECT_FALSE(is_node(text)) << text;
}

}  // namespace
}  // namespace unwrite::cli
