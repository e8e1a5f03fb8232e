// Hostile bytes: random ones, and requests that are right but for some of their bytes. The seeds
// are fixed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <random>

#include "control/channel.h"
#include "control/dispatch.h"
#include "control/remote.h"
#include "control/rendezvous.h"
#include "control/server.h"
#include "tests/control/fake_operations.h"
#include "tests/control/runtime.h"

namespace unwrite::control {
namespace {

const std::vector<std::string>& good_requests() {
    static const std::vector<std::string> requests = {
        R"({"id":1,"command":"status","arguments":{"since":"n3","count_lines":true}})",
        R"({"id":2,"command":"rollback","arguments":{"node":{"bytes":"Yf8="},"pop":true,"consent":"own"}})",
        R"({"id":3,"command":"restore_paths","arguments":{"paths":["a",{"bytes":"Yf8="},"c"],"node":""}})",
        R"({"id":18446744073709551615,"command":"undo","arguments":{"count":3,"session":"x"}})",
        R"({"id":4,"command":"checkpoint","arguments":{"name":"\u00e4\ud83d\ude00","kind":"step"}})",
        R"({"id":5,"command":"begin_run","arguments":{"pid":4711,"text":"make"}})",
        R"({"id":6,"command":"gc","arguments":{"max_age_seconds":1,"max_abandoned":2,"max_bytes":3}})",
        R"({"id":7,"command":"diff","arguments":{"from":"n1","to":"","paths":[],"text":false}})"};
    return requests;
}

class Random {
 public:
    explicit Random(unsigned seed) : engine_(seed) {}
    std::size_t below(std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(engine_);
    }
    char byte() { return static_cast<char>(below(256)); }
    std::string bytes(std::size_t length) {
        std::string text;
        for (std::size_t i = 0; i < length; ++i)
            text += byte();
        return text;
    }
    std::string mutated(std::string text) {
        static const std::string kTokens = "{}[]\",:\\0-1e.tfn\xff";
        for (std::size_t i = below(6) + 1; i > 0 && !text.empty(); --i) {
            const std::size_t at = below(text.size());
            switch (below(5)) {
                case 0:
                    text[at] = byte();
                    break;
                case 1:
                    text.erase(at, below(8) + 1);
                    break;
                case 2:
                    text.insert(at, 1, kTokens[below(kTokens.size())]);
                    break;
                case 3:
                    text.insert(at, text.substr(below(text.size()), below(30)));
                    break;
                default:
                    text[at] = kTokens[below(kTokens.size())];
                    break;
            }
        }
        return text;
    }

 private:
    std::mt19937 engine_;
};

TEST(Fuzz, RequestsOfAnyBytes) {
    FakeOperations operations;
    Agents agents;
    Service service;
    service.stop = []() -> Result<> { return {}; };
    Dispatch dispatch(operations, service, agents);
    const Client client{Peer{::getpid(), ::getuid()}, false};
    std::size_t understood = 0;
    for (unsigned seed = 1; seed <= 20000; ++seed) {
        Random random(seed);
        const std::string text =
            seed % 4 == 0 ? random.bytes(random.below(200))
                          : random.mutated(good_requests()[seed % good_requests().size()]);
        const Result<Request> request = parse_request(text);
        if (!request) continue;
        ++understood;
        const std::string answer = format_answer(request->id, dispatch.call(client, *request));
        EXPECT_EQ(answer.find('\n'), std::string::npos);
    }
    EXPECT_GT(understood, 500u);
}

TEST(Fuzz, AnswersOfAnyBytes) {
    FakeOperations operations;
    overlay::Change change;
    change.path = "a\xff";
    overlay::Log log;
    log.entries.resize(2);
    log.open_changes = {change};
    log.origins.resize(1);
    const std::string good = format_answer(1, encode(log));
    for (unsigned seed = 1; seed <= 20000; ++seed) {
        const Result<Json> answer = parse_answer(Random(seed).mutated(good), 1);
        if (!answer) continue;
        overlay::Log back;
        ignore(decode(*answer, back), "only that it returns");
        overlay::Status status;
        ignore(decode(*answer, status), "only that it returns");
    }
}

TEST(Fuzz, TheServerOutlivesThemAll) {
    const TemporaryRuntime runtime;
    FakeOperations operations;
    Service service;
    service.stop = []() -> Result<> { return {}; };
    ServerOptions options;
    options.id = "00ff";
    Result<std::unique_ptr<Server>> server = Server::start(operations, std::move(service), options);
    ASSERT_TRUE(server);
    const std::chrono::milliseconds limit(10000);
    for (unsigned seed = 1; seed <= 400; ++seed) {
        Random random(seed);
        Result<UniqueFd> socket = connect_to("00ff", ::geteuid());
        ASSERT_TRUE(socket);
        Channel channel(*std::move(socket));
        const std::string text =
            seed % 2 == 0 ? random.bytes(random.below(3000))
                          : random.mutated(good_requests()[seed % good_requests().size()]);
        ignore(channel.write_line(text, limit), "the server may have hung up");
        if (seed % 3 != 0)
            ignore(channel.read_line(kMaxAnswer, limit, limit), "any answer will do");
    }
    MountPoint mount;
    mount.id = "00ff";
    mount.owner = ::geteuid();
    EXPECT_TRUE(Remote::connect(mount));
}

}  // namespace
}  // namespace unwrite::control
