#include "control/server.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "base/progress.h"
#include "control/channel.h"
#include "control/remote.h"
#include "control/rendezvous.h"
#include "tests/control/fake_operations.h"
#include "tests/control/runtime.h"

namespace unwrite::control {
namespace {

using std::chrono::milliseconds;

class ServerTest : public testing::Test {
 protected:
    void start(unsigned most_clients = 64, milliseconds transfer = milliseconds(10000)) {
        Service service;
        service.info.id = "00ff";
        service.info.workspace = "/w\xff";
        service.info.retention.max_age_seconds = 77;
        service.stop = [this]() -> Result<> {
            stopped = true;
            return {};
        };
        ServerOptions options;
        options.id = "00ff";
        options.most_clients = most_clients;
        options.transfer = transfer;
        Result<std::unique_ptr<Server>> started =
            Server::start(operations, std::move(service), options);
        ASSERT_TRUE(started) << started.error().message();
        server = *std::move(started);
    }
    static std::unique_ptr<Remote> connect() {
        MountPoint mount;
        mount.id = "00ff";
        mount.owner = ::geteuid();
        Result<std::unique_ptr<Remote>> remote = Remote::connect(mount);
        EXPECT_TRUE(remote) << remote.error().message();
        return remote ? *std::move(remote) : nullptr;
    }
    static Channel raw() {
        Result<UniqueFd> socket = connect_to("00ff", ::geteuid());
        EXPECT_TRUE(socket);
        return Channel(*std::move(socket));
    }

    TemporaryRuntime runtime;
    FakeOperations operations;
    std::atomic<bool> stopped = false;
    std::unique_ptr<Server> server;
};

TEST_F(ServerTest, TellsAboutItself) {
    start();
    const auto remote = connect();
    EXPECT_EQ(remote->info().id, "00ff");
    EXPECT_EQ(remote->info().workspace, "/w\xff");
}

TEST_F(ServerTest, EveryOperationPasses) {
    start();
    const auto remote = connect();
    overlay::Asker asker;
    asker.session = "mine";
    EXPECT_EQ(remote->checkpoint(asker, overlay::NodeKind::kStep, "A", "why")->kind,
              overlay::NodeKind::kStep);
    EXPECT_TRUE(remote->end_run(5));
    EXPECT_TRUE(remote->rollback(asker, "B\xff", true, overlay::Consent::kAll));
    EXPECT_TRUE(remote->undo(asker, 3, overlay::Consent::kNone));
    EXPECT_TRUE(remote->revert(asker, "n7", false));
    EXPECT_TRUE(remote->redo(asker, 2, overlay::Consent::kAll));
    EXPECT_TRUE(remote->discard(asker, true, overlay::Consent::kAll));
    EXPECT_TRUE(remote->commit(asker, "done", true));
    const auto decided = remote->decide(
        asker,
        {.keep = {"a\n"}, .take_back = {"b\xff"}, .parts = {{"c", {1, 3}, "h"}}, .text = "t"},
        true);
    ASSERT_TRUE(decided);
    EXPECT_EQ(decided->needed.at(0).path, "d\xff");
    EXPECT_EQ(decided->given_up, 2u);
    EXPECT_TRUE(remote->restore_paths(asker, {"a\n", "b\xff"}, "n1", false));
    EXPECT_TRUE(remote->status("A", true));
    EXPECT_TRUE(remote->log("x", true, true));
    EXPECT_EQ(remote->trunk(9, 2)->at(1).text, "n\xff");
    EXPECT_EQ(remote->diff("n1", "n2", {"a", "b", "c"}, true)->size(), 2u);
    EXPECT_EQ(remote->marks({"a", "b\xff"})->at(1), "m\xff");
    EXPECT_EQ(remote->gc({5, 0, 0})->objects, 3u);
    EXPECT_TRUE(remote->check(true));
    EXPECT_TRUE(remote->recover());
    const std::vector<std::string> expected = {"checkpoint A,why",
                                               "end_run 5",
                                               "rollback B\xff pop",
                                               "undo 3 dry",
                                               "revert n7",
                                               "redo 2",
                                               "discard purge",
                                               "commit done keep",
                                               "decide +a\n -b\xff ~c:2 t dry",
                                               "restore_paths a\n,b\xff,n1",
                                               "status A lines",
                                               "log x all changes",
                                               "trunk 9 2",
                                               "diff n1..n2 3 text",
                                               "marks 2",
                                               "gc 5",
                                               "check repair",
                                               "recover"};
    EXPECT_EQ(operations.asked(), expected);
}

TEST_F(ServerTest, AConnectionThatIsKeptServesWhatFollows) {
    start(/*most_clients=*/1);
    const auto remote = connect();
    remote->keep_connection();
    ASSERT_TRUE(remote->end_run(1));
    Channel other = raw();
    const auto refusal = other.read_line(1000, milliseconds(10000), milliseconds(10000));
    ASSERT_TRUE(refusal);
    EXPECT_NE(refusal->find("too many clients"), std::string::npos) << *refusal;
    EXPECT_TRUE(remote->end_run(2));
    EXPECT_EQ(operations.asked(), (std::vector<std::string>{"end_run 1", "end_run 2"}));
}

TEST_F(ServerTest, ADaemonThatBeganAnewIsFoundByWhoKeptAConnection) {
    start();
    const auto remote = connect();
    remote->keep_connection();
    ASSERT_TRUE(remote->end_run(1));
    server.reset();
    const auto gone = remote->end_run(2);
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().kind(), ErrorKind::kNoWorkspace);
    start();
    EXPECT_TRUE(remote->end_run(3));
    server.reset();
    start();
    EXPECT_TRUE(remote->end_run(4));
    EXPECT_EQ(operations.asked(),
              (std::vector<std::string>{"end_run 1", "end_run 3", "end_run 4"}));
}

TEST_F(ServerTest, TheAskerIsWhoTheKernelSays) {
    start();
    overlay::Asker asker;
    asker.session = "s";
    asker.pid = 1;
    asker.uid = 12345;
    asker.cause = R"({"turn":"\u0001"})";
    EXPECT_TRUE(connect()->undo(asker, 1, overlay::Consent::kAll));
    EXPECT_EQ(operations.last_asker().pid, ::getpid());
    EXPECT_EQ(operations.last_asker().uid, ::getuid());
    EXPECT_EQ(operations.last_asker().session, "s");
    EXPECT_EQ(operations.last_asker().cause, asker.cause);
    asker.cause.assign(overlay::kMostOfCause + 1, 'x');
    const auto refused = connect()->undo(asker, 1, overlay::Consent::kAll);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::kUsage);
}

TEST_F(ServerTest, ErrorsArriveAsTheyAre) {
    operations.failure =
        Error(ErrorKind::kRecovery, EIO, "commit: wounded", "run `unwrite recover`");
    start();
    const Result<overlay::Node> node = connect()->commit({}, "", false);
    ASSERT_FALSE(node);
    EXPECT_EQ(node.error().kind(), ErrorKind::kRecovery);
    EXPECT_EQ(node.error().text(), "commit: wounded");
    EXPECT_EQ(node.error().advice(), "run `unwrite recover`");
}

TEST_F(ServerTest, StopAnswersFirst) {
    start();
    EXPECT_TRUE(connect()->stop());
    EXPECT_TRUE(stopped);
}

TEST_F(ServerTest, GcWithoutLimitsUsesTheConfiguredOnes) {
    start();
    Channel channel = raw();
    ASSERT_TRUE(channel.write_line(R"({"id":1,"command":"gc"})", milliseconds(1000)));
    ASSERT_TRUE(channel.read_line(kMaxAnswer, milliseconds(5000), milliseconds(5000)));
    EXPECT_EQ(operations.asked().back(), "gc 77");
}

TEST_F(ServerTest, SeveralRequestsOnOneConnection) {
    start();
    Channel channel = raw();
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(channel.write_line(R"({"id":3,"command":"status"})", milliseconds(1000)));
        const Result<std::string> line =
            channel.read_line(kMaxAnswer, milliseconds(5000), milliseconds(5000));
        ASSERT_TRUE(line);
        EXPECT_TRUE(parse_answer(*line, 3));
    }
}

TEST_F(ServerTest, NonsenseIsAnsweredAndDoesNotEndTheConnection) {
    start();
    Channel channel = raw();
    for (const char* text : {"nonsense", "{}", R"({"command":"explode"})",
                             R"({"command":"undo","arguments":{"count":"x"}})"}) {
        ASSERT_TRUE(channel.write_line(text, milliseconds(1000)));
        const Result<std::string> line =
            channel.read_line(kMaxAnswer, milliseconds(5000), milliseconds(5000));
        ASSERT_TRUE(line) << text;
        EXPECT_EQ(parse_answer(*line, 0).error().kind(), ErrorKind::kUsage) << text;
    }
    EXPECT_TRUE(operations.asked().empty());
}

TEST_F(ServerTest, ARequestThatIsTooLongIsAnsweredAndEnds) {
    start();
    Channel channel = raw();
    ASSERT_TRUE(channel.write_line(std::string(kMaxRequest + 10, 'x'), milliseconds(5000)));
    const Result<std::string> line =
        channel.read_line(kMaxAnswer, milliseconds(5000), milliseconds(5000));
    ASSERT_TRUE(line);
    EXPECT_EQ(parse_answer(*line, 0).error().number(), EMSGSIZE);
    EXPECT_FALSE(channel.read_line(kMaxAnswer, milliseconds(5000), milliseconds(5000)));
}

TEST_F(ServerTest, ASlowClientBlocksNobody) {
    start();
    Channel silent = raw();
    Channel half = raw();
    ASSERT_TRUE(half.write_line("", milliseconds(1000)));
    operations.hold_status_ms = 1500;
    std::atomic<bool> answered{false};
    std::thread waiting([&answered] {
        EXPECT_TRUE(connect()->status("", false));
        answered = true;
    });
    EXPECT_TRUE(connect()->check(false));
    EXPECT_FALSE(answered);
    waiting.join();
}

TEST_F(ServerTest, AClientThatDawdlesIsLetGo) {
    start(64, milliseconds(50));
    const Result<UniqueFd> socket = connect_to("00ff", ::geteuid());
    ASSERT_TRUE(socket);
    ASSERT_EQ(::write(socket->get(), "{", 1), 1);
    char byte = 0;
    EXPECT_EQ(::read(socket->get(), &byte, 1), 0);
}

TEST_F(ServerTest, TooManyClientsAreTold) {
    start(2);
    Channel one = raw();
    Channel two = raw();
    for (Channel* channel : {&one, &two}) {
        ASSERT_TRUE(channel->write_line(R"({"command":"status"})", milliseconds(1000)));
        ASSERT_TRUE(channel->read_line(kMaxAnswer, milliseconds(5000), milliseconds(5000)));
    }
    Channel three = raw();
    const Result<std::string> line =
        three.read_line(kMaxAnswer, milliseconds(5000), milliseconds(5000));
    ASSERT_TRUE(line);
    EXPECT_EQ(parse_answer(*line, 0).error().number(), EAGAIN);
}

TEST_F(ServerTest, EndsWhileClientsAreConnectedAndFinishesTheirCalls) {
    start();
    Channel silent = raw();
    operations.hold_status_ms = 200;
    std::thread waiting([] {
        const Result<overlay::Status> status = connect()->status("", false);
        EXPECT_TRUE(status) << status.error().message();
    });
    while (operations.asked().empty())
        ::usleep(1000);
    const std::string path = server->path();
    server.reset();
    waiting.join();
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ServerTest, WhoWaitsLongHearsHowFarItIs) {
    start();
    const auto remote = connect();
    ASSERT_TRUE(remote);
    MountPoint mount;
    mount.id = "00ff";
    mount.owner = ::geteuid();
    EXPECT_FALSE(ask_progress(mount));
    Progress work("restoring", 8);
    work.step();
    int waited = 0;
    int over = 0;
    std::optional<Busy> busy;
    remote->be_patient([&](std::optional<milliseconds> so_long) {
        ++(so_long ? waited : over);
        if (so_long) busy = ask_progress(mount);
    });
    operations.hold_status_ms = 1000;
    ASSERT_TRUE(remote->status("", false));
    EXPECT_GE(waited, 1);
    EXPECT_EQ(over, 1);
    ASSERT_TRUE(busy);
    EXPECT_EQ(busy->what, "restoring");
    EXPECT_EQ(busy->done, 1U);
    EXPECT_EQ(busy->total, 8U);
}

TEST_F(ServerTest, ManyClientsAtOnce) {
    start();
    std::vector<std::thread> clients;
    std::atomic<int> answered = 0;
    for (int i = 0; i < 8; ++i) {
        clients.emplace_back([&answered] {
            const auto remote = connect();
            for (int k = 0; remote && k < 20; ++k)
                answered += remote->status("", false) ? 1 : 0;
        });
    }
    for (std::thread& client : clients)
        client.join();
    EXPECT_EQ(answered, 160);
}

}  // namespace
}  // namespace unwrite::control
