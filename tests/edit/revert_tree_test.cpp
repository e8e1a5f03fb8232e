#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "edit/revert_drain.h"

namespace unwrite::edit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TreeNode node(NodeId id, std::optional<NodeId> parent) {
    TreeNode made;
    made.id = id;
    made.parent = parent;
    return made;
}

class FakeTree final : public RevertTree {
 public:
    std::vector<TreeNode> nodes;
    std::optional<NodeId> active;
    std::optional<NodeId> last_commit;
    std::uint64_t now = 7;
    std::vector<Revert> applied;
    std::string failure;

    explicit FakeTree(NodeId count) {
        for (NodeId id = 0; id < count; ++id)
            nodes.push_back(node(id, id > 0 ? std::optional<NodeId>(id - 1) : std::nullopt));
        active = count - 1;
    }
    std::vector<TreeNode> log() override { return nodes; }
    std::optional<NodeId> committed() override { return last_commit; }
    std::uint64_t turn() override { return now; }
    Result<> apply(const Revert& revert) override {
        if (!failure.empty()) return Error(ErrorKind::kSystem, EIO, failure);
        applied.push_back(revert);
        active = revert.target;
        nodes[revert.target].tags.push_back(revert.tag);
        return {};
    }
};

RevertRequest request(NodeId target, RevertCategory category = RevertCategory::kFailure,
                      std::optional<std::string> summary = "why") {
    return {category, target, std::move(summary)};
}

TEST(RevertTree, S97_MovesTagsAndTellsOnce) {
    FakeTree tree(5);
    const auto events = drain({request(2)}, tree, 1234);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_TRUE(events[0].applied);
    EXPECT_EQ(events[0].target, 2U);
    EXPECT_THAT(events[0].abandoned, ElementsAre(3U, 4U));
    EXPECT_FALSE(events[0].reason);
    EXPECT_EQ(tree.active, 2U);
    ASSERT_EQ(tree.nodes[2].tags.size(), 1U);
    EXPECT_EQ(tree.nodes[2].tags[0], (NodeTag{TagKind::kLesson, "why", 7, {3, 4}}));
    EXPECT_TRUE(tree.applied[0].restores_files);
}

TEST(RevertTree, S105_CompletionKeepsTheFiles) {
    FakeTree tree(5);
    EXPECT_TRUE(drain({request(2, RevertCategory::kCompletion)}, tree, 0)[0].applied);
    EXPECT_FALSE(tree.applied[0].restores_files);
    EXPECT_EQ(tree.applied[0].tag.kind, TagKind::kOutcome);
}

TEST(RevertTree, S93_NoSummaryIsAnEmptyTag) {
    FakeTree tree(3);
    EXPECT_FALSE(drain({request(1, RevertCategory::kTangent, {})}, tree, 0)[0].summary);
    EXPECT_EQ(tree.nodes[1].tags[0].text, "");
}

TEST(RevertTree, S98_EverythingAfterTheTargetIsAbandonedAlsoWhatWasBefore) {
    FakeTree tree(4);
    tree.nodes.push_back(node(4, 1));  // after an earlier revert to n1
    tree.active = 4;
    const auto events = drain({request(1)}, tree, 0);
    EXPECT_THAT(events[0].abandoned, ElementsAre(2U, 3U, 4U));
}

TEST(RevertTree, S97_AbandonedNodesAndTheNewestAreTargets) {
    FakeTree tree(4);
    tree.nodes.push_back(node(4, 1));
    tree.active = 4;
    EXPECT_TRUE(drain({request(3)}, tree, 0)[0].applied);
    const auto events = drain({request(4)}, tree, 0);
    EXPECT_TRUE(events[0].applied);
    EXPECT_THAT(events[0].abandoned, IsEmpty());
}

TEST(RevertTree, S96_InTheOrderOfSubmissionEachOnTheTreeOfTheOneBefore) {
    FakeTree tree(6);
    const auto events = drain({request(4), request(99), request(2)}, tree, 0);
    ASSERT_EQ(events.size(), 3U);
    EXPECT_TRUE(events[0].applied);
    EXPECT_FALSE(events[1].applied);
    EXPECT_TRUE(events[2].applied);
    ASSERT_EQ(tree.applied.size(), 2U);
    EXPECT_EQ(tree.applied[0].target, 4U);
    EXPECT_EQ(tree.applied[1].target, 2U);
    EXPECT_EQ(tree.active, 2U);
}

void expect_refused(FakeTree tree, const RevertRequest& asked, const std::string& reason) {
    const auto active = tree.active;
    const auto events = drain({asked}, tree, 0);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_FALSE(events[0].applied);
    EXPECT_EQ(events[0].reason, reason);
    EXPECT_FALSE(events[0].target);
    EXPECT_THAT(events[0].abandoned, IsEmpty());
    EXPECT_EQ(events[0].summary, asked.summary);
    EXPECT_EQ(tree.active, active);
    for (const TreeNode& one : tree.nodes)
        EXPECT_THAT(one.tags, IsEmpty());
}

TEST(RevertTree, S100_AnUnknownTargetIsRefused) {
    expect_refused(FakeTree(3), request(99), "revert target n99 not found in message history");
}

TEST(RevertTree, S100_AUsersWorkIsNeverAbandoned) {
    FakeTree tree(5);
    tree.nodes[3].maker = NodeMaker::kUserMessage;
    expect_refused(tree, request(1),
                   "revert refused: abandoned span contains a user message; auto-rebase is not "
                   "implemented in 0.8.0");
    tree.nodes[3].maker = NodeMaker::kUserChange;
    for (const auto category : {RevertCategory::kFailure, RevertCategory::kCompletion})
        expect_refused(tree, request(1, category),
                       "revert refused: abandoned span contains a change by the user (n3)");
    EXPECT_TRUE(drain({request(3)}, tree, 0)[0].applied);
}

TEST(RevertTree, S100_ObstaclesRefuseOnlyWhatRestoresFiles) {
    FakeTree tree(5);
    tree.nodes[4].obstacle = "its content is damaged";
    expect_refused(tree, request(2), "revert refused: n4: its content is damaged");
    EXPECT_TRUE(drain({request(2, RevertCategory::kStepSummary)}, tree, 0)[0].applied);
    EXPECT_TRUE(drain({request(4)}, tree, 0)[0].applied);
}

TEST(RevertTree, S100_WhatIsOlderThanTheLastCommitIsRefused) {
    FakeTree tree(5);
    tree.last_commit = 2;
    expect_refused(tree, request(1), "revert refused: n1 is older than the last commit");
    EXPECT_TRUE(drain({request(2)}, tree, 0)[0].applied);
}

TEST(RevertTree, S100_ATreeThatCannotApplyIsAReason) {
    FakeTree tree(5);
    tree.failure = "no space left";
    expect_refused(tree, request(1), "no space left");
}

TEST(RevertTree, S99_EventsAndRecordsAsJson) {
    using Json = nlohmann::json;
    FakeTree tree(4);
    const auto events =
        drain({request(2, RevertCategory::kStepSummary), request(9, RevertCategory::kTangent, {})},
              tree, 1234);
    EXPECT_EQ(Json::parse(encode_event(events[0])),
              Json::parse(R"({"category":"step-summary","target":2,"abandoned_node_ids":[3],
                              "summary":"why","applied":true,"reason":null,"timestamp":1234})"));
    EXPECT_EQ(Json::parse(encode_event(events[1])),
              Json::parse(R"({"category":"tangent","target":null,"abandoned_node_ids":[],
                              "summary":null,"applied":false,"timestamp":1234,
                              "reason":"revert target n9 not found in message history"})"));
    EXPECT_EQ(Json::parse(encode_record(events[0])),
              Json::parse(R"({"category":"step-summary","target":2,"abandoned_node_ids":[3],
                              "summary":"why"})"));
}

TEST(NodeNumbers, S104_NeverUsedTwice) {
    NodeNumbers numbers;
    EXPECT_EQ(numbers.next(), 0U);
    EXPECT_EQ(numbers.next(), 1U);
    numbers.resume(7);
    numbers.resume(7);
    EXPECT_EQ(numbers.next(), 8U);
    numbers.resume(3);
    EXPECT_EQ(numbers.next(), 9U);
}

TEST(Trunk, S98_LeavesOutWhatWasAbandoned) {
    FakeTree tree(4);
    tree.nodes.push_back(node(4, 1));
    EXPECT_THAT(trunk_of(tree.nodes, 4), ElementsAre(0U, 1U, 4U));
    EXPECT_THAT(trunk_of(tree.nodes, 3), ElementsAre(0U, 1U, 2U, 3U));
}

TEST(Trunk, S98_DamagedTreesEnd) {
    const std::vector<TreeNode> cycle = {node(0, 2), node(1, 0), node(2, 1)};
    EXPECT_THAT(trunk_of(cycle, 2), ElementsAre(0U, 1U, 2U));
    const std::vector<TreeNode> dangling = {node(5, 99), node(6, 5)};
    EXPECT_THAT(trunk_of(dangling, 6), ElementsAre(0U, 1U));
    EXPECT_THAT(trunk_of(dangling, 77), ElementsAre(0U, 1U));
    EXPECT_THAT(trunk_of(dangling, std::nullopt), ElementsAre(0U, 1U));
    EXPECT_THAT(trunk_of({}, 1), IsEmpty());
}

std::vector<std::string> shown(const std::vector<NodeTag>& tags, std::uint64_t turn,
                               const TagPolicy& policy = {}) {
    std::vector<TreeNode> log;
    for (const NodeTag& tag : tags) {
        log.push_back(node(log.size(), log.empty() ? std::optional<NodeId>{} : log.size() - 1));
        log.back().tags = {tag};
    }
    std::vector<std::string> texts;
    for (const ShownTag& one : shown_tags(log, trunk_of(log, log.size() - 1), turn, policy))
        texts.push_back(one.tag.text);
    return texts;
}

TEST(ShownTags, S102_OldOnesOfAKindAreTheNewestThree) {
    const std::vector<NodeTag> tags = {{TagKind::kLesson, "a", 1, {}},
                                       {TagKind::kLesson, "b", 2, {}},
                                       {TagKind::kFinding, "f", 1, {}},
                                       {TagKind::kLesson, "c", 3, {}},
                                       {TagKind::kLesson, "d", 4, {}}};
    EXPECT_THAT(shown(tags, 100), ElementsAre("b", "f", "c", "d"));
    EXPECT_THAT(shown(tags, 100, {5, 1}), ElementsAre("f", "d"));
    EXPECT_THAT(shown(tags, 100, {98, 0}), ElementsAre("b", "c", "d"));
}

TEST(ShownTags, S102_InTheWindowAllAreShown) {
    std::vector<NodeTag> tags;
    for (int i = 0; i < 6; ++i)
        tags.push_back({TagKind::kLesson, std::to_string(i), 10, {}});
    EXPECT_EQ(shown(tags, 15).size(), 6U);
    EXPECT_THAT(shown(tags, 16), ElementsAre("3", "4", "5"));
    EXPECT_EQ(shown(tags, 3).size(), 6U);
}

TEST(ShownTags, S102_PinnedOnesAlways) {
    const std::vector<NodeTag> tags = {{TagKind::kOutcome, "o", 1, {}},
                                       {TagKind::kCheckpoint, "c", 1, {}},
                                       {TagKind::kLesson, "l", 1, {}}};
    EXPECT_THAT(shown(tags, 1000, {0, 0}), ElementsAre("o", "c"));
}

TEST(ShownTags, S102_OnlyTheTrunkCounts) {
    FakeTree tree(4);
    tree.nodes.push_back(node(4, 1));
    tree.nodes[3].tags = {{TagKind::kLesson, "off", 90, {}}};
    tree.nodes[1].tags = {{TagKind::kLesson, "on", 1, {}}};
    const auto found = shown_tags(tree.nodes, trunk_of(tree.nodes, 4), 91, {5, 1});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].tag.text, "on");
    EXPECT_EQ(found[0].node, 1U);
}

TEST(ShownTags, S102_AsText) {
    EXPECT_EQ(rendered(10, "User: hi"), "[ID: n10] User: hi");
    EXPECT_EQ(rendered(NodeTag{TagKind::kLesson, "evidence: x", 0, {}}),
              "   -> [lesson] evidence: x");
}

}  // namespace
}  // namespace unwrite::edit
