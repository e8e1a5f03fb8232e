#include "base/log.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/base/scratch.h"

namespace unwrite {
namespace {

class Log : public ::testing::Test {
 protected:
    void SetUp() override {
        log::set_output(scratch_.open("log", O_WRONLY | O_CREAT | O_APPEND));
        log::set_level(log::Level::kWarning);
    }
    void TearDown() override { log::set_output(UniqueFd()); }
    tests::Scratch scratch_;
};

TEST_F(Log, DropsWhatIsAboveItsLevel) {
    log::error("one");
    log::info("two");
    log::set_level(log::Level::kInfo);
    log::info("three");
    const std::string text = scratch_.read("log");
    EXPECT_NE(text.find(" error: one\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("two"), std::string::npos);
    EXPECT_NE(text.find(" info: three\n"), std::string::npos);
}

TEST_F(Log, KeepsANameFromForgingALine) {
    log::error("a\nb\x1b[31m\x7f");
    const std::string text = scratch_.read("log");
    EXPECT_NE(text.find("a\\x0ab\\x1b[31m\\x7f\n"), std::string::npos) << text;
}

TEST_F(Log, WritesWholeLinesFromManyThreads) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([] {
            for (int line = 0; line < 100; ++line)
                log::error("0123456789");
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    std::istringstream text(scratch_.read("log"));
    int lines = 0;
    for (std::string line; std::getline(text, line); ++lines) {
        EXPECT_TRUE(line.ends_with(" error: 0123456789")) << line;
    }
    EXPECT_EQ(lines, 400);
}

}  // namespace
}  // namespace unwrite
