// Who is an agent, and what agents are refused. The processes are forked before the server has
// threads.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

#include "control/channel.h"
#include "control/protocol.h"
#include "control/remote.h"
#include "control/rendezvous.h"
#include "control/server.h"
#include "tests/control/fake_operations.h"
#include "tests/control/runtime.h"

namespace unwrite::control {
namespace {

/// A process that waits for a go and then answers with one byte, and may be asked to wait for its
/// end.
class Waiting {
 public:
    explicit Waiting(const std::function<char()>& act) {
        int go[2];
        int answer[2];
        EXPECT_EQ(::pipe(go) + ::pipe(answer), 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            // A test that a sanitizer ends leaves nobody who holds its output open.
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            char byte = 0;
            if (::read(go[0], &byte, 1) != 1) ::_exit(1);
            byte = act();
            if (::write(answer[1], &byte, 1) != 1) ::_exit(1);
            ::pause();
        }
        go_ = UniqueFd(go[1]);
        answer_ = UniqueFd(answer[0]);
        const UniqueFd unused_go(go[0]);
        const UniqueFd unused_answer(answer[1]);
    }
    ~Waiting() { end(); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

    char ask() const {
        char byte = 'g';
        EXPECT_EQ(::write(go_.get(), &byte, 1), 1);
        EXPECT_EQ(::read(answer_.get(), &byte, 1), 1);
        return byte;
    }
    void end() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }
    pid_t pid() const { return pid_; }

 private:
    pid_t pid_ = 0;
    UniqueFd go_;
    UniqueFd answer_;
};

std::unique_ptr<Remote> connect() {
    MountPoint mount;
    mount.id = "00ff";
    mount.owner = ::geteuid();
    Result<std::unique_ptr<Remote>> remote = Remote::connect(mount);
    return remote ? *std::move(remote) : nullptr;
}

template <class T>
bool is_refused(const Result<T>& result) {
    return !result && result.error().kind() == ErrorKind::kRefused;
}

/// 'a' when everything is as it must be for an agent, else the letter of what was not.
char act_as_agent() {
    const auto remote = connect();
    if (!remote) return '0';
    if (!remote->status("", false)) return '1';
    if (!remote->checkpoint({}, overlay::NodeKind::kCheckpoint, "x", "")) return '2';
    if (!remote->undo({}, 1, overlay::Consent::kAll) ||
        !remote->redo({}, 1, overlay::Consent::kAll))
        return '3';
    if (!remote->log("", true, true) || !remote->diff("", "", {}, true)) return '4';
    if (!is_refused(remote->commit({}, "", false))) return '5';
    if (!is_refused(remote->decide({}, {.keep = {"a"}}, true))) return 'k';
    if (!is_refused(remote->discard({}, false, overlay::Consent::kAll))) return '6';
    if (!is_refused(remote->discard({}, false, overlay::Consent::kNone))) return '6';
    if (!is_refused(remote->stop())) return '7';
    if (!is_refused(remote->gc({}))) return '8';
    if (!remote->check(false) || !is_refused(remote->check(true))) return '9';
    if (!is_refused(remote->end_run(5))) return 'e';
    if (!is_refused(remote->recover())) return 'r';
    if (!is_refused(remote->note_answered())) return 'q';
    return 'a';
}

char act_as_user() {
    const auto remote = connect();
    return remote && remote->commit({}, "", false) && remote->note_answered() &&
                   remote->discard({}, false, overlay::Consent::kAll)
               ? 'u'
               : 'x';
}

char act_as_orphan_of_agent() {
    // The child is an agent because its parent is.
    const pid_t child = ::fork();
    if (child == 0) ::_exit(act_as_agent());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? static_cast<char>(WEXITSTATUS(status)) : '?';
}

class AgentsTest : public testing::Test {
 protected:
    void start() {
        Service service;
        service.stop = []() -> Result<> { return {}; };
        service.answered = []() -> Result<> { return {}; };
        ServerOptions options;
        options.id = "00ff";
        Result<std::unique_ptr<Server>> started =
            Server::start(operations, std::move(service), options);
        ASSERT_TRUE(started) << started.error().message();
        server = *std::move(started);
    }
    void begin(pid_t guard, overlay::NodeNumber run = 5) {
        operations.next_run = run;
        overlay::Asker asker;
        asker.pid = guard;
        const Result<overlay::Node> node = connect()->begin_run(asker, "cmd");
        ASSERT_TRUE(node) << node.error().message();
        ASSERT_EQ(node->number, run);
    }

    TemporaryRuntime runtime;
    FakeOperations operations;
    std::unique_ptr<Server> server;
};

TEST_F(AgentsTest, TheProcessOfARunIsAnAgentS40) {
    const Waiting agent(act_as_agent);
    const Waiting user(act_as_user);
    start();
    begin(agent.pid());
    EXPECT_EQ(operations.last_asker().pid, agent.pid());
    EXPECT_EQ(agent.ask(), 'a');
    EXPECT_EQ(user.ask(), 'u');
    EXPECT_EQ(act_as_user(), 'u');
}

TEST_F(AgentsTest, AChildOfTheProcessIsAnAgent) {
    const Waiting agent(act_as_orphan_of_agent);
    start();
    begin(agent.pid());
    EXPECT_EQ(agent.ask(), 'a');
}

TEST_F(AgentsTest, WithoutARunEverybodyIsTheUser) {
    const Waiting process(act_as_user);
    start();
    EXPECT_EQ(process.ask(), 'u');
}

TEST_F(AgentsTest, AfterTheRunTheProcessIsNoAgent) {
    const Waiting process(act_as_user);
    start();
    begin(process.pid());
    ASSERT_TRUE(connect()->end_run(5));
    EXPECT_EQ(process.ask(), 'u');
}

TEST_F(AgentsTest, RestoresThatTakeOthersWorkAreRefusedToAgents) {
    operations.moved.others.emplace_back().session = "user";
    const Waiting agent([] {
        const auto remote = connect();
        if (!is_refused(remote->undo({}, 1, overlay::Consent::kAll))) return 'u';
        if (!is_refused(remote->rollback({}, "", false, overlay::Consent::kAll))) return 'r';
        if (!is_refused(remote->restore_paths({}, {"a"}, "", false))) return 'p';
        if (!is_refused(remote->redo({}, 1, overlay::Consent::kAll))) return 'd';
        if (!is_refused(remote->revert({}, "n3", false))) return 'v';
        return remote->undo({}, 1, overlay::Consent::kNone) ? 'a' : 'y';
    });
    start();
    begin(agent.pid());
    EXPECT_EQ(agent.ask(), 'a');
    for (const std::string& asked : operations.asked()) {
        EXPECT_TRUE(asked.starts_with("begin_run") || asked.ends_with(" dry") ||
                    asked.ends_with(" own"))
            << asked;
    }
    EXPECT_TRUE(connect()->undo({}, 1, overlay::Consent::kAll));
}

TEST_F(AgentsTest, OnlyAChildCanBeMadeAnAgent) {
    start();
    overlay::Asker asker;
    for (const std::int64_t pid :
         {std::int64_t{1}, std::int64_t{::getpid()}, std::int64_t{0}, std::int64_t{-4}}) {
        asker.pid = pid;
        EXPECT_FALSE(connect()->begin_run(asker, "x")) << pid;
    }
}

TEST_F(AgentsTest, S40_S167_WhatOutlivesTheProcessOfARunIsAnAgentUntilItIsEnded) {
    Waiting agent(act_as_agent);
    // Where what a killed guard leaves goes to: below the process that began the run.
    const Waiting left(act_as_agent);
    start();
    begin(agent.pid());
    agent.end();
    EXPECT_EQ(left.ask(), 'a');
    EXPECT_EQ(act_as_user(), 'u');
}

TEST_F(AgentsTest, ARunWhoseProcessDiedAndThatWasEndedIsForgotten) {
    Waiting agent(act_as_agent);
    const Waiting other(act_as_user);
    start();
    begin(agent.pid());
    agent.end();
    ASSERT_TRUE(connect()->end_run(5));
    EXPECT_EQ(other.ask(), 'u');
}

/// A connection whose process has ended, in the hands of another one.
TEST_F(AgentsTest, S40_S167_WhoseConnectingProcessHasEndedIsAnAgent) {
    const Waiting agent(act_as_agent);
    start();
    begin(agent.pid());
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    const UniqueFd mine(ends[0]);
    const UniqueFd theirs(ends[1]);
    EXPECT_FALSE(has_peer_ended(mine.get()));
    const std::string path = server->path();
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const pid_t child = ::fork();
    if (child == 0) {
        struct sockaddr_un address = {};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        ::_exit(::connect(fd, reinterpret_cast<struct sockaddr*>(&address), sizeof address) == 0
                    ? 0
                    : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    ASSERT_EQ(status, 0);
    const UniqueFd held(fd);
    Channel channel{UniqueFd(::dup(fd))};
    Request request;
    request.id = 1;
    request.command = "commit";
    ASSERT_TRUE(channel.write_line(format_request(request), std::chrono::seconds(5)));
    const auto line =
        channel.read_line(kMaxAnswer, std::chrono::seconds(5), std::chrono::seconds(5));
    ASSERT_TRUE(line);
    const auto answer = parse_answer(*line, 1);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind(), ErrorKind::kRefused);
}

/// 'r': the last of many connections that are held open at the same time was sent away; 'x': not.
char hold_many() {
    static std::vector<std::unique_ptr<Channel>> held;
    char last = 'x';
    for (int i = 0; i < 80; ++i) {
        Result<UniqueFd> fd = connect_to("00ff", ::geteuid());
        if (!fd) return 'c';
        held.push_back(std::make_unique<Channel>(*std::move(fd)));
        Request request;
        request.id = 1;
        request.command = "info";
        // The one that is sent away may be gone already.
        ignore(held.back()->write_line(format_request(request), std::chrono::seconds(5)), "");
        const auto line =
            held.back()->read_line(kMaxAnswer, std::chrono::seconds(5), std::chrono::seconds(5));
        last = line && line->find("too many clients") != std::string::npos ? 'r' : 'x';
    }
    return last;
}

TEST_F(AgentsTest, S40_S167_AnAgentThatHoldsConnectionsKeepsNobodyOut) {
    const Waiting agent(hold_many);
    const Waiting other(act_as_agent);
    start();
    begin(agent.pid());
    begin(other.pid(), 6);
    EXPECT_EQ(agent.ask(), 'r');
    EXPECT_EQ(act_as_user(), 'u');
    EXPECT_EQ(other.ask(), 'a');
}

TEST_F(AgentsTest, S40_S167_AnAgentGivesItsRunsNoName) {
    const Waiting agent([] {
        // A run in the run, under the name of another session.
        const pid_t child = ::fork();
        if (child == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                ::pause();
        }
        overlay::Asker asker;
        asker.pid = child;
        asker.session = "victim";
        const auto node = connect()->begin_run(asker, "cmd");
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        return node ? 'b' : 'x';
    });
    start();
    begin(agent.pid());
    EXPECT_EQ(agent.ask(), 'b');
    EXPECT_EQ(operations.last_asker().session, "");
}

Result<overlay::Node> adopt(pid_t pid, const std::string& session = "claude") {
    overlay::Asker asker;
    asker.pid = pid;
    asker.session = session;
    return connect()->adopt(asker, "at work");
}

TEST_F(AgentsTest, S40_TheUserMakesARunningProcessAnAgent) {
    Waiting agent(act_as_agent);
    const Waiting other(act_as_user);
    start();
    ASSERT_TRUE(adopt(agent.pid()));
    EXPECT_EQ(operations.last_asker().pid, agent.pid());
    EXPECT_EQ(operations.last_asker().session, "claude");
    EXPECT_EQ(agent.ask(), 'a');
    EXPECT_EQ(other.ask(), 'u');
    EXPECT_TRUE(adopt(agent.pid())) << "its next step";
    agent.end();
    for (int i = 0; i < 500; ++i) {
        const auto asked = operations.asked();
        if (asked.back() == "end_run 5") return;
        ::usleep(10'000);
    }
    FAIL() << "it has ended, and its run has not";
}

TEST_F(AgentsTest, S40_AChildOfAnAdoptedProcessIsAnAgent) {
    const Waiting agent(act_as_orphan_of_agent);
    start();
    ASSERT_TRUE(adopt(agent.pid()));
    EXPECT_EQ(agent.ask(), 'a');
}

TEST_F(AgentsTest, S40_AnAgentAdoptsNobodyElse) {
    const Waiting other([] { return 'x'; });
    const Waiting agent([&other] {
        if (!is_refused(adopt(other.pid()))) return 'o';
        const auto again = adopt(::getpid(), "another");
        return again ? 'a' : 'n';
    });
    const Waiting child([&other] { return is_refused(adopt(other.pid())) ? 'a' : 'x'; });
    start();
    ASSERT_TRUE(adopt(agent.pid()));
    EXPECT_EQ(agent.ask(), 'a');
    EXPECT_EQ(operations.last_asker().session, "") << "the name is the user's choice";
    begin(child.pid());
    EXPECT_EQ(child.ask(), 'a');
}

TEST_F(AgentsTest, S40_InARunNothingIsAdopted) {
    const Waiting agent([] {
        const auto own = adopt(::getpid());
        return !own && own.error().kind() == ErrorKind::kNothing ? 'a' : 'x';
    });
    start();
    begin(agent.pid());
    EXPECT_EQ(agent.ask(), 'a');
    const auto again = adopt(agent.pid());
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().kind(), ErrorKind::kNothing);
}

TEST_F(AgentsTest, S40_WhatCannotBeAdopted) {
    Waiting ended([] { return 'x'; });
    const pid_t gone = ended.pid();
    ended.end();
    start();
    EXPECT_TRUE(is_refused(adopt(1)));
    EXPECT_TRUE(is_refused(adopt(::getpid()))) << "the daemon itself";
    EXPECT_FALSE(adopt(0));
    EXPECT_FALSE(adopt(-4));
    const auto result = adopt(gone);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind(), ErrorKind::kNotFound);
}

TEST(Agents, UnknownProcessesCountAsAgentsWhileARunIsOn) {
    const Waiting process([] { return 'x'; });
    Agents agents;
    EXPECT_FALSE(agents.is_agent(0));
    ASSERT_TRUE(agents.add(1, process.pid(), ::getpid()));
    EXPECT_TRUE(agents.is_agent(0));
    EXPECT_TRUE(agents.is_agent(process.pid()));
    EXPECT_FALSE(agents.is_agent(::getpid()));
    EXPECT_FALSE(agents.is_agent(1));
}

TEST(Processes, AreRead) {
    const Result<Process> self = read_process(::getpid());
    ASSERT_TRUE(self);
    EXPECT_EQ(self->parent, ::getppid());
    EXPECT_GT(self->start, 0u);
    EXPECT_FALSE(read_process(0));
    EXPECT_FALSE(read_process(-1));
}

}  // namespace
}  // namespace unwrite::control
