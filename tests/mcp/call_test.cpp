// What a client says of a call beside its arguments, and what it hears while the call goes on.
#include "mcp/call.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>

#include "mcp/server.h"

namespace unwrite::mcp {
namespace {

TEST(Cause, IsTheClientsNameAndItsNumbers) {
    const Json meta{{"progressToken", 7},
                    {"turn_id", "t1"},
                    {"io.modelcontextprotocol/protocolVersion", "2026-07-28"}};
    EXPECT_EQ(cause_of(meta, Json{{"name", "agent"}, {"version", "2.1"}}),
              R"({"client":"agent 2.1","progressToken":7,"turn_id":"t1"})");
    EXPECT_EQ(cause_of(Json(), Json()), "");
    EXPECT_EQ(cause_of(Json::array({1}), Json("x")), "");
}

TEST(Cause, WhatDoesNotFitIsLeftOut) {
    const Json meta{{"long", std::string(5000, 'x')}, {"turn", 1}, {std::string(5000, 'k'), 1}};
    EXPECT_EQ(cause_of(meta, Json()), R"({"turn":1})");
}

// A server whose tools wait until `lines` lines were sent.
class ProgressTest : public testing::Test {
 protected:
    void call(const std::string& meta) {
        server_.take(
            R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"status","_meta":{)" +
            meta + R"("io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})");
        server_.step();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Json> sent_;  // guarded by mutex_
    std::size_t wanted_ = 0;
    Server server_{{.enter = [this]() -> Result<std::unique_ptr<Room>> {
                        std::unique_lock lock(mutex_);
                        changed_.wait(lock, [this] { return sent_.size() >= wanted_; });
                        return Error(ErrorKind::kNoWorkspace, ENOENT, "nothing is mounted");
                    },
                    .progress_every = std::chrono::milliseconds(1)},
                   [this](const std::string& line) {
                       const std::scoped_lock lock(mutex_);
                       sent_.push_back(Json::parse(line));
                       changed_.notify_all();
                   }};
};

TEST_F(ProgressTest, IsSentWhileACallGoesOnAndNotAfterItsAnswer) {
    wanted_ = 3;
    call(R"("progressToken":"p1",)");
    ASSERT_GE(sent_.size(), 4u);
    for (std::size_t i = 0; i + 1 < sent_.size(); ++i) {
        EXPECT_EQ(sent_[i]["method"], "notifications/progress");
        EXPECT_EQ(sent_[i]["params"]["progressToken"], "p1");
        EXPECT_EQ(sent_[i]["params"]["progress"], i + 1);
    }
    EXPECT_EQ(sent_.back()["id"], 5);
}

TEST_F(ProgressTest, IsForThoseWhoAskForIt) {
    call("");
    ASSERT_EQ(sent_.size(), 1u);
    EXPECT_EQ(sent_.back()["id"], 5);
}

}  // namespace
}  // namespace unwrite::mcp
