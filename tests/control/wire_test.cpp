#include "control/wire.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "control/refusals.h"

namespace unwrite::control {
namespace {

/// Encodes, sends through text, decodes, and encodes again: equal when nothing was lost.
template <class T>
void expect_round_trip(const T& value) {
    const Json first = encode(value);
    const Result<Json> sent = parse_json(dump(first), kMaxAnswer);
    ASSERT_TRUE(sent);
    T back;
    const Result<> read = decode(*sent, back);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(encode(back), first);
}

overlay::Change change() {
    overlay::Change one;
    one.kind = overlay::ChangeKind::kRenamed;
    one.path = "src/\xff\n\"new\"";
    one.old_path = std::string("o\0ld", 4);
    one.type = S_IFREG;
    one.below = 3;
    one.files = 2;
    one.ignored = 1;
    one.bytes = ~std::uint64_t{0};
    one.content = one.attributes = true;
    one.aspects = overlay::kAspectOwner | overlay::kAspectXattrs;
    one.origins = {1, 2};
    return one;
}

overlay::Node node() {
    overlay::Node one;
    one.number = 7;
    one.parent = 3;
    one.kind = overlay::NodeKind::kRun;
    one.name = "before\xff";
    one.text = "make\n-j2";
    one.time_ns = -5;
    one.origin = 4;
    one.open = false;
    one.tags = {{"lesson", "x\xfe"}, {"head", "abc"}};
    return one;
}

overlay::Origin origin() {
    overlay::Origin one;
    one.number = 2;
    one.uid = ~std::uint32_t{0};
    one.pid = 77;
    one.executable = "/usr/bin/\xc3";
    one.session = "run-5";
    one.step = 5;
    one.agent = true;
    one.time_ns = 1'700'000'000'000'000'000;
    return one;
}

TEST(Wire, EveryStructureRoundTrips) {
    expect_round_trip(change());
    expect_round_trip(node());
    expect_round_trip(origin());
    overlay::Status status;
    status.root = 1;
    status.current = 9;
    status.checkpoint = "A";
    status.wounded = status.task_open = true;
    status.changes = {change(), change()};
    status.lines = {142, 38};
    status.steps = 4;
    status.tags = node().tags;
    expect_round_trip(status);
    overlay::Log log;
    log.entries.resize(2);
    log.entries[0].node = node();
    log.entries[0].on_trunk = true;
    log.entries[0].changes = {change()};
    log.current = 7;
    log.open_changes = {change()};
    log.origins = {origin()};
    expect_round_trip(log);
    expect_round_trip(overlay::FileDiff{change(), true, "@@ -1 +1 @@\n-\xff\n", {1, 2}});
    expect_round_trip(
        overlay::Moved{3, 4, {change()}, {origin()}, true, {"a\xff", "b"}, true, {"m\xff"}, {"l"}});
    expect_round_trip(overlay::Collected{1, 2, 3});
    expect_round_trip(overlay::Checked{{"bad"}, {"mended"}, 1, 2, 3, 4, 5});
    expect_round_trip(overlay::Retention{1, 2, 3});
    expect_round_trip(DaemonInfo{"0.1",
                                 "abcd",
                                 "/w\xff",
                                 "/m",
                                 5,
                                 6,
                                 7,
                                 true,
                                 true,
                                 true,
                                 true,
                                 true,
                                 {"k"},
                                 {"u"},
                                 {"x"},
                                 {1, 2, 3}});
}

TEST(Wire, WrongTypesAreRefused) {
    for (const char* text : {"[]", "3", R"({"path":3})", R"({"kind":"other"})", R"({"below":-1})",
                             R"({"content":1})", R"({"origins":[1,-2]})", R"({"origins":{}})",
                             R"({"type":4294967296})", R"({"bytes":1.5})"}) {
        overlay::Change one;
        EXPECT_FALSE(decode(Json::parse(text), one)) << text;
    }
    overlay::Status status;
    EXPECT_FALSE(decode(Json::parse(R"({"changes":[3]})"), status));
    EXPECT_FALSE(decode(Json::parse(R"({"changes":3})"), status));
    EXPECT_FALSE(decode(Json::parse(R"({"lines":3})"), status));
    overlay::Log log;
    EXPECT_FALSE(decode(Json::parse(R"({"entries":3})"), log));
    EXPECT_FALSE(decode(Json::parse(R"({"entries":[{"node":[]}]})"), log));
    overlay::Node one;
    EXPECT_FALSE(decode(Json::parse(R"({"tags":[1]})"), one));
    EXPECT_FALSE(decode(Json::parse(R"({"tags":{"a":1}})"), one));
}

TEST(Wire, UnknownMembersOfANewerProgramAreIgnored) {
    overlay::Collected collected;
    EXPECT_TRUE(decode(Json::parse(R"({"nodes":4,"invented":[1]})"), collected));
    EXPECT_EQ(collected.nodes, 4u);
}

TEST(Wire, OversightComesBackWhole) {
    overlay::AuditTrail trail;
    trail.entries.push_back({-7, "refused", 3, 42, 1000, true, "write", "a\xff\n", "/bin/x\xc3",
                             "run-5", "*.key (profile default)"});
    trail.problems = {"audit.log: line 1 was changed"};
    expect_round_trip(trail);
    expect_round_trip(overlay::RefusedTo{{1, 2, 3, trail.entries}, true});
    overlay::Explained explained;
    explained.user = {true, false, true, false, "a\xfe", "b"};
    explained.agent = {false, true, false, true, "", "c"};
    explained.tracked = true;
    expect_round_trip(explained);
    overlay::Question question;
    question.number = 3;
    question.state = "open";
    question.operation = "write";
    question.path = "a\xff";
    question.reason = "rule\xfe";
    question.agent = true;
    question.session = "run-2";
    question.executable = "/bin/\xc3";
    question.pid = 5;
    question.uid = ~std::uint32_t{0};
    question.asked_ns = 6;
    question.until_ns = 7;
    question.waiting = 8;
    expect_round_trip(overlay::Questioned{9, {question, {}}});
    expect_round_trip(overlay::RuleShown{"/x\xff", "allow", "user", "r\xfe", "s", 5});
}

}  // namespace
}  // namespace unwrite::control
