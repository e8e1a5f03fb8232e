// revert_to_state over the tree of checkpoints.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "overlay/reverts.h"
#include "overlay/state_tags.h"
#include "tests/overlay/looking.h"

namespace unwrite::tests {
namespace {

using Json = nlohmann::json;

class States : public Looking {
 protected:
    void SetUp() override {
        before("file", "zero");
        begin();
    }
    /// As the agent of a run: what it writes is its own.
    void begin_agent() {
        begin_run();
        as_agent();
    }
    overlay::Reverts& reverts() { return *overlay::reverts_of(operations()); }
    std::vector<std::string> notes() {
        std::vector<std::string> lines;
        for (const auto& [node, list] : notes_of(*operations().log("", true, false)).notes) {
            for (const std::string& note : list)
                lines.push_back("n" + std::to_string(node) + " " + note);
        }
        return lines;
    }
    static overlay::Asker agent() {
        overlay::Asker asker = World::asker();
        asker.pid = kAgent;
        return asker;
    }
    std::string step(const std::string& text) {
        replace("file", text);
        const auto node = operations().checkpoint(agent(), overlay::NodeKind::kStep, "", "step");
        EXPECT_TRUE(node) << node.error().message();
        return node ? "n" + std::to_string(node->number) : "";
    }
    Result<std::string> request(const std::string& category, const std::string& node,
                                const std::string& summary = "", bool for_agent = true) {
        Json json{{"category", category}, {"step", node}};
        if (!summary.empty()) json["summary"] = summary;
        return reverts().request_revert(agent(), json.dump(), for_agent);
    }
    std::vector<Json> apply() {
        const auto events = reverts().apply_reverts(World::asker());
        EXPECT_TRUE(events) << events.error().message();
        std::vector<Json> list;
        if (!events) return list;
        for (const std::string& event : *events)
            list.push_back(Json::parse(event));
        return list;
    }
    Json revert(const std::string& category, const std::string& node,
                const std::string& summary = "") {
        const auto noted = request(category, node, summary);
        EXPECT_TRUE(noted) << noted.error().message();
        const auto events = apply();
        EXPECT_EQ(events.size(), 1U);
        return events.empty() ? Json() : events[0];
    }
    /// What is noted of who asked: "n3 {...}".
    std::vector<std::string> causes() {
        std::vector<std::string> lines;
        const auto log = operations().log("", true, false);
        for (const overlay::LogEntry& entry : log->entries) {
            const auto by = entry.node.tags.find(overlay::kCauseTag);
            if (by != entry.node.tags.end()) lines.push_back(entry.node.text + " " + by->second);
        }
        return lines;
    }
    std::string text() const { return scratch_.read("work/file"); }
    std::string current() {
        return "n" + std::to_string(operations().log("", true, false)->current);
    }
    std::uint64_t nodes() { return operations().log("", true, false)->entries.size(); }
};

TEST_F(States, S69_what_the_asker_calls_a_request_stays_with_the_nodes_that_it_makes) {
    begin_agent();
    overlay::Asker asker = agent();
    asker.cause = R"({"turn":1})";
    const auto node = operations().checkpoint(asker, overlay::NodeKind::kCheckpoint, "one", "t");
    ASSERT_TRUE(node);
    replace("file", "two");
    asker.cause = R"({"turn":2})";
    ASSERT_TRUE(operations().rollback(asker, "one", false, overlay::Consent::kAll));
    const std::string one = "n" + std::to_string(node->number);
    asker.cause = R"({"turn":3})";
    replace("file", "three");
    const Json wanted{{"category", "failure"}, {"step", one}};
    ASSERT_TRUE(reverts().request_revert(asker, wanted.dump(), true));
    apply();
    replace("file", "four");
    asker.cause = R"({"turn":4})";
    const Json squashed{{"category", "completion"}, {"step", one}};
    ASSERT_TRUE(reverts().request_revert(asker, squashed.dump(), true));
    apply();
    EXPECT_EQ(causes(), (std::vector<std::string>{R"(completion {"turn":4})",
                                                  R"(handoff {"turn":4})", R"(handoff {"turn":3})",
                                                  R"(handoff {"turn":2})", R"(t {"turn":1})"}));
}

TEST_F(States, S94_a_request_changes_nothing_and_outlives_a_restart) {
    begin_agent();
    const std::string one = step("one");
    step("two");
    const auto seen = nodes();
    const auto noted = request("failure", one, "no good");
    ASSERT_TRUE(noted);
    EXPECT_EQ(*noted, "Revert request recorded: category=Failure, target=" + one +
                          ", summary=\"no good\". The trunk will be rebuilt from this node before "
                          "the next turn.");
    EXPECT_EQ(text(), "two");
    EXPECT_EQ(nodes(), seen);
    world_->reopen();
    EXPECT_EQ(text(), "two");
    const auto events = apply();
    ASSERT_EQ(events.size(), 1U);
    EXPECT_TRUE(events[0]["applied"]) << events[0];
    EXPECT_EQ(text(), "one");
    EXPECT_TRUE(apply().empty());
}

TEST_F(States, S97_S98_S99_S105_a_failure_restores_the_files_and_says_what_was_abandoned) {
    begin_agent();
    const std::string one = step("one");
    const std::string two = step("two");
    const Json event = revert("failure", one, "no good");
    EXPECT_TRUE(event["applied"]);
    EXPECT_EQ("n" + std::to_string(event["target"].get<int>()), one);
    EXPECT_EQ("n" + std::to_string(event["abandoned_node_ids"][0].get<int>()), two);
    EXPECT_EQ(event["summary"], "no good");
    EXPECT_EQ(text(), "one");
    EXPECT_EQ(current(), one);
    const auto log = operations().log("", true, false);
    bool kept = false;
    for (const auto& entry : log->entries)
        kept = kept || ("n" + std::to_string(entry.node.number) == two && !entry.on_trunk);
    EXPECT_TRUE(kept);
}

TEST_F(States, S98_an_abandoned_node_is_a_target) {
    begin_agent();
    const std::string one = step("one");
    const std::string two = step("two");
    revert("tangent", one);
    EXPECT_EQ(text(), "one");
    const Json event = revert("failure", two);
    EXPECT_TRUE(event["applied"]) << event;
    EXPECT_EQ(text(), "two");
    EXPECT_EQ(current(), two);
}

TEST_F(States, S96_requests_are_applied_in_their_order_each_on_what_the_one_before_left) {
    begin_agent();
    const std::string one = step("one");
    const std::string two = step("two");
    ASSERT_TRUE(request("failure", one));
    ASSERT_TRUE(request("failure", "n999"));
    ASSERT_TRUE(request("tangent", two));
    const auto events = apply();
    ASSERT_EQ(events.size(), 3U);
    EXPECT_TRUE(events[0]["applied"]);
    EXPECT_FALSE(events[1]["applied"]);
    EXPECT_EQ(events[1]["reason"], "revert target n999 not found in message history");
    EXPECT_TRUE(events[1]["target"].is_null());
    EXPECT_TRUE(events[2]["applied"]);
    EXPECT_EQ(text(), "two");
}

TEST_F(States, S100_a_change_by_the_user_in_the_span_is_not_abandoned) {
    begin_agent();
    const std::string one = step("one");
    step("two");
    as_user();
    replace("file", "the user's");
    for (const char* category : {"failure", "completion"}) {
        const Json event = revert(category, one);
        EXPECT_FALSE(event["applied"]);
        EXPECT_NE(event["reason"].get<std::string>().find("a change by the user"),
                  std::string::npos)
            << event;
        EXPECT_EQ(event["abandoned_node_ids"], Json::array());
    }
    EXPECT_EQ(text(), "the user's");
}

TEST_F(States, S100_a_user_who_asks_for_himself_abandons_his_own) {
    const std::string one = checkpoint();
    replace("file", "later");
    const auto noted = reverts().request_revert(
        World::asker(), R"({"category":"failure","step":")" + one + "\"}", false);
    ASSERT_TRUE(noted);
    EXPECT_TRUE(apply().at(0)["applied"]);
    EXPECT_EQ(text(), "zero");
}

TEST_F(States, S100_an_agent_outside_of_a_run_owns_what_it_wrote_itself) {
    const std::string one = checkpoint();
    const auto ask = [&]() -> Json {
        const auto noted = reverts().request_revert(
            World::asker(), R"({"category":"failure","step":")" + one + "\"}", true);
        EXPECT_TRUE(noted);
        const auto events = apply();
        return events.size() == 1 ? events[0] : Json();
    };
    replace("file", "its own");
    EXPECT_TRUE(ask()["applied"]);
    EXPECT_EQ(text(), "zero");
    actor().set_caller({0, 0, 1, 0022});  // another process of the user
    replace("file", "another's");
    EXPECT_FALSE(ask()["applied"]);
    EXPECT_EQ(text(), "another's");
}

TEST_F(States, S91_S92_a_wrong_request_is_not_queued) {
    EXPECT_EQ(request("Failure", "n1").error().message(),
              "Invalid arguments: category must be one of failure | tangent | completion | "
              "step-summary; got \"Failure\"");
    EXPECT_EQ(request("failure", " 1").error().message(),
              "Invalid arguments: step must be a node identifier like \"n12\" or \"12\"; got "
              "\" 1\"");
    EXPECT_TRUE(apply().empty());
    ASSERT_TRUE(request("failure", "1"));
    EXPECT_EQ(apply().size(), 1U);
}

TEST_F(States, S105_a_completion_keeps_the_files_and_makes_one_step_of_many) {
    begin_agent();
    const std::string one = step("one");
    const std::string two = step("two");
    step("three");
    const Json event = revert("completion", one, "done");
    EXPECT_TRUE(event["applied"]) << event;
    EXPECT_EQ(text(), "three");
    const auto log = operations().log("", true, false);
    EXPECT_GE(notes_of(*log).squashed.size(), 2U);
    const auto listed = operations().log("", false, false);
    for (const overlay::LogEntry& entry : listed->entries)
        EXPECT_NE("n" + std::to_string(entry.node.number), two) << "part of the completion";
    const auto shown = notes_of(*listed).notes;
    EXPECT_TRUE(std::any_of(shown.begin(), shown.end(), [](const auto& of_node) {
        return of_node.second == std::vector<std::string>{"[outcome] done"};
    })) << "also where only steps are listed";
    const auto undone = operations().undo(agent(), 1, overlay::Consent::kAll);
    ASSERT_TRUE(undone) << undone.error().message();
    EXPECT_EQ("n" + std::to_string(undone->to), one);
    EXPECT_EQ(text(), "one");
    ASSERT_TRUE(operations().rollback(agent(), two, false, overlay::Consent::kAll));
    EXPECT_EQ(text(), "two");
}

TEST_F(States, S101_S102_lessons_fade_and_outcomes_stay) {
    begin_agent();
    const std::string one = step("one");
    for (const char* lesson : {"first", "second", "third", "fourth"}) {
        step("later");
        ASSERT_TRUE(revert("failure", one, lesson)["applied"]);
    }
    for (int i = 0; i < 6; ++i)
        step(std::to_string(i));
    EXPECT_EQ(notes(), (std::vector<std::string>{one + " [lesson] second", one + " [lesson] third",
                                                 one + " [lesson] fourth"}));
    ASSERT_TRUE(revert("completion", current(), "kept")["applied"]);
    for (int i = 0; i < 6; ++i)
        step(std::to_string(i));
    EXPECT_EQ(notes().back().substr(notes().back().find('[')), "[outcome] kept");
}

TEST_F(States, S104_numbers_are_not_used_again) {
    begin_agent();
    const std::string one = step("one");
    const std::string two = step("two");
    revert("failure", one);
    world_->reopen();
    const std::string three = step("three");
    EXPECT_GT(std::stoi(three.substr(1)), std::stoi(two.substr(1)));
}

TEST_F(States, S100_nothing_behind_the_last_commit) {
    begin_agent();
    step("one");
    ASSERT_TRUE(operations().commit(World::asker(), "", true));
    ASSERT_TRUE(request("failure", "n1"));
    ASSERT_TRUE(operations().commit(World::asker(), "", true));
    const auto events = apply();
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0]["reason"], "revert refused: n1 is older than the last commit");
    EXPECT_EQ(text(), "one");
}

TEST_F(States, S100_what_changed_behind_the_mount_is_not_overwritten) {
    begin_agent();
    const std::string one = step("one");
    step("two");
    scratch_.write("work/file", "behind the mount");
    const Json event = revert("failure", one);
    EXPECT_FALSE(event["applied"]);
    EXPECT_EQ(event["reason"], "revert refused: file was changed outside the mount since then");
    EXPECT_EQ(text(), "behind the mount");
}

}  // namespace
}  // namespace unwrite::tests
